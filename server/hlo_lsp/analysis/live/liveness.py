"""How much is live when: XLA's declared peak and the true one."""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from hlo_lsp.analysis.shapes.sizes import logical_bytes
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.shape import try_shape


@dataclass(frozen=True, slots=True)
class Peaks:
    """Sums of unpadded bytes of all values live at a step, over all memory spaces.

    ``declared_bytes`` are those at the step that XLA names; ``true_step`` is the first step at
    which the sum is largest.
    """

    declared_step: int | None
    declared_bytes: int
    true_step: int
    true_bytes: int


def peaks_of(dump: DumpSet) -> Peaks | None:
    """The peaks of a dump, or None where nothing says how long values live.

    XLA picks its moment with each value weighed by the shape of its whole instruction, so the
    declared one is often too low (hlo_live_range.cc ``ComputePeakMemoryMoment``).
    """
    holders = [
        file
        for file in dump.files
        if len(file.memory.ranges) or len(file.memory.assigned) or len(file.memory.entries)
    ]
    if any(len(file.memory.assigned) for file in holders):
        # Shapes come from the allocations then: an edit of the uses changes nothing here.
        holders = [file for file in holders if len(file.memory.assigned) or len(file.memory.ranges)]
    return dump.derived(_compute, holders, but_places=True)


def live_bytes(dump: DumpSet, key: str) -> int | None:
    """Unpadded bytes of the value with this name and index, None where its shape is unknown."""
    assigned = dump.find(lambda index: index.assigned_keys, key)
    text = None if assigned is None else assigned.record.shape
    if text is None:
        value = dump.value_of_key(key)
        text = None if value is None else dump.shape_text(value)
    shape = None if text is None else try_shape(text)
    return None if shape is None else logical_bytes(shape)


def _compute(dump: DumpSet) -> Peaks | None:
    changes: Counter[int] = Counter()
    declared = dump.declared_peak
    declared_bytes = 0
    for file in dump.files:
        for row in file.memory.ranges.firsts():
            size = live_bytes(dump, row.key) or 0
            changes[row.start_step] += size
            changes[row.end_step + 1] -= size
            if declared is not None and row.start_step <= declared <= row.end_step:
                declared_bytes += size
    if not changes:
        return None
    steps = sorted(changes)
    totals = list(accumulate(changes[step] for step in steps))
    most = max(totals)
    return Peaks(declared, declared_bytes, steps[totals.index(most)], most)
