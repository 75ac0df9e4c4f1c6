"""Sums and peaks: what the package adds up is what XLA added up."""

from itertools import accumulate
from pathlib import Path

import pytest

from hlo_lsp.analysis.live.liveness import live_bytes, peaks_of
from hlo_lsp.model.dump_set import DumpSet
from oracles.compiles import Compile, compiles_of

pytestmark = pytest.mark.corpus


def test_allocations_add_up_to_the_total(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        dump = compile_.dump
        total = sum(allocation.record.size for allocation in dump.allocations())
        assert total == sum(size for size, _ in compile_.printed.allocations.values())
        assert total == dump.total_bytes or dump.total_bytes is None
        assert dump.total_bytes == compile_.printed.total


def test_the_list_at_the_declared_peak_can_be_recomputed(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        printed = [
            (row.name + row.index, row.bytes, row.cumulative)
            for row in compile_.printed.peak
            if row.index is not None
        ]
        if printed:
            assert _peak_list(compile_) == printed


def test_the_declared_bytes_are_the_last_running_sum(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        peaks = peaks_of(compile_.dump)
        assert (peaks is None) == (not compile_.printed.ranges)
        if peaks is not None and compile_.printed.peak:
            assert peaks.declared_step == compile_.printed.moment
            assert peaks.declared_bytes == _at(compile_, compile_.printed.moment or 0)
            last = compile_.printed.peak[-1].cumulative
            assert last in {peaks.declared_bytes, None}  # None: the form of jax 0.4


def test_the_true_maximum_is_the_largest_sum_of_any_step(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        peaks = peaks_of(compile_.dump)
        if peaks is not None:
            sums = _sums(compile_)
            assert peaks.true_bytes == max(sums)
            assert peaks.true_step == sums.index(max(sums))
            assert peaks.true_bytes >= peaks.declared_bytes


def _peak_list(compile_: Compile) -> list[tuple[str, int, int]]:
    """The values live at the declared peak in XLA's order: bytes, then name, then index."""
    moment = compile_.printed.moment or 0
    rows = sorted(
        (-_bytes(compile_.dump, key), key.partition("{")[0], _numbers(key), key)
        for key, (start, end, _) in compile_.printed.ranges.items()
        if start <= moment <= end
    )
    sums = accumulate(-row[0] for row in rows)
    return [(row[3], -row[0], total) for row, total in zip(rows, sums, strict=True)]


def _numbers(key: str) -> list[int]:
    return [int(digits) for digits in key.partition("{")[2][:-1].split(",") if digits]


def _at(compile_: Compile, step: int) -> int:
    return sum(
        _bytes(compile_.dump, key)
        for key, (start, end, _) in compile_.printed.ranges.items()
        if start <= step <= end
    )


def _sums(compile_: Compile) -> list[int]:
    """The bytes that live at each step, the last one included."""
    changes = [0] * ((compile_.printed.last_step or 0) + 2)
    for key, (start, end, _) in compile_.printed.ranges.items():
        size = _bytes(compile_.dump, key)
        changes[start] += size
        changes[end + 1] -= size
    return list(accumulate(changes))[:-1]


def _bytes(dump: DumpSet, key: str) -> int:
    size = live_bytes(dump, key)
    assert size is not None, key
    return size
