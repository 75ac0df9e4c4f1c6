"""The list of values at the declared peak, computed from live ranges and sizes."""

from itertools import accumulate

from hlo_lsp.memory.logical_sizes import live_bytes
from hlo_lsp.model.compile import Compile
from oracles.compiles import CorpusCompile


def recomputed_peak_list(compile_: CorpusCompile) -> list[tuple[str, int, int]]:
    """Return the values live at the declared peak in XLA's order.

    Returns:
        The name and index of each value, its size, and the sum of the sizes so far, in bytes.
    """
    peak_step = compile_.printed.peak_step or 0
    rows = sorted(
        (-bytes_of(compile_.dump, key), key.partition("{")[0], _numbers(key), key)
        for key, (start, end, _) in compile_.printed.ranges.items()
        if start <= peak_step <= end
    )
    sums = accumulate(-row[0] for row in rows)
    return [(row[3], -row[0], total) for row, total in zip(rows, sums, strict=True)]


def bytes_of(dump: Compile, key: str) -> int:
    """Return the logical size of a value in bytes."""
    (size,) = live_bytes(dump, [key])
    assert size is not None, key
    return size


def _numbers(key: str) -> list[int]:
    return [int(digits) for digits in key.partition("{")[2][:-1].split(",") if digits]
