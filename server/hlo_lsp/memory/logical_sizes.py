"""Logical sizes of the values that are live at a step."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile import Compile, printed_shape
from hlo_lsp.model.padded_sizes import logical_bytes_of_text
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.memory_records import RangeRow


@dataclass(frozen=True, slots=True)
class LogicalPeak:
    """The declared and the logical peak, as sums over all live values and memory spaces.

    Bytes that several values share count once for each value, so a sum can exceed the size of the
    program. For occupied bytes see ``memory_space_occupancies``.

    Attributes:
        declared_step: Step that XLA declares the peak, None if it declares none.
        step: First step at which the sum is largest.
    """

    declared_step: int | None
    declared_bytes: int
    step: int
    bytes: int


@query(ignores_sizes=True)
def logical_peak_of(dump: Compile) -> LogicalPeak | None:
    """Return the logical peak of a dump, or None if it has no live ranges.

    To choose the declared peak, XLA counts each value with the shape of its whole instruction, and
    until one step after its end, so the sum at that step is often smaller
    (``ComputePeakMemoryMoment`` in hlo_live_range.cc).
    """
    changes: Counter[int] = Counter()
    declared = dump.declared_peak
    declared_bytes = 0
    for file in dump.files:
        rows: dict[str, RangeRow] = {}
        for row in file.memory.ranges.firsts():
            checkpoint()
            rows[row.key] = row
        for row, known in zip(rows.values(), live_bytes(dump, [*rows]), strict=True):
            checkpoint()
            size = known or 0
            changes[row.start_step] += size
            changes[row.end_step + 1] -= size
            if declared is not None and row.start_step <= declared <= row.end_step:
                declared_bytes += size
    if not changes:
        return None
    steps = sorted(changes)
    totals = list(accumulate(changes[step] for step in steps))
    peak = max(totals)
    return LogicalPeak(declared, declared_bytes, steps[totals.index(peak)], peak)


def live_bytes(dump: Compile, keys: Sequence[str]) -> list[int | None]:
    """Return the logical sizes of values in bytes, None for a value whose shape is unknown."""
    found: list[int | None] = []
    for header in dump.headers_of(keys):
        checkpoint()
        text = None if header is None else printed_shape(header)
        found.append(None if text is None else logical_bytes_of_text(text))
    return found
