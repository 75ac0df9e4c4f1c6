"""Logical bytes that are live at a step: at XLA's declared peak and at the logical peak."""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.shape import try_shape
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue, RangeRow
from hlo_lsp.text.checkpoint import checkpoint


@dataclass(frozen=True, slots=True)
class LogicalPeak:
    """Sums of the logical sizes of all values that are live at a step, over all memory spaces.

    Bytes that several values share count once for each of them, so such a sum can exceed the size
    of the program. For occupied bytes see ``space_occupancy``.

    Attributes:
        declared_step: step that XLA declares the peak, None if it declares none.
        declared_bytes: sum at that step.
        step: first step at which the sum is largest.
        bytes: sum at that step.
    """

    declared_step: int | None
    declared_bytes: int
    step: int
    bytes: int


def logical_peak_of(dump: DumpSet) -> LogicalPeak | None:
    """Return the logical peak of a dump, or None if it has no live ranges.

    XLA chooses its step with each value weighed by the shape of its whole instruction, so the sum
    there is often smaller (hlo_live_range.cc ``ComputePeakMemoryMoment``).
    """
    holders = [
        file
        for file in dump.files
        if len(file.memory.ranges) or len(file.memory.assigned) or len(file.memory.entries)
    ]
    if any(len(file.memory.assigned) for file in holders):
        # Shapes come from the allocations then: an edit of the uses changes nothing here.
        holders = [file for file in holders if len(file.memory.assigned) or len(file.memory.ranges)]
    return dump.derived(_compute_logical_peak, holders, but_places=True)


def live_bytes(dump: DumpSet, key: str) -> int | None:
    """Unpadded bytes of the value with this name and index, None where its shape is unknown."""
    assigned = dump.find(lambda index: index.assigned_keys, key)
    text = None if assigned is None else assigned.record.shape
    if text is None:
        value = dump.value_of_key(key)
        text = None if value is None else dump.shape_text(value)
    shape = None if text is None else try_shape(text)
    return None if shape is None else logical_bytes(shape)


def _compute_logical_peak(dump: DumpSet) -> LogicalPeak | None:
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
    return LogicalPeak(declared, declared_bytes, steps[totals.index(most)], most)


_VALUES_PER_CHECKPOINT = 1000  # values between two breaths


@dataclass(frozen=True, slots=True)
class BufferLifetime:
    """A value of a temp allocation and the steps that it lives, both ends inclusive."""

    value: AssignedValue
    live: LocatedRecord[RangeRow]

    @property
    def steps(self) -> int:
        """How many steps it lives."""
        return self.live.record.end_step - self.live.record.start_step + 1

    @property
    def weight(self) -> int:
        """Padded bytes times steps."""
        return self.value.size * self.steps


def largest_lifetimes(dump: DumpSet, count: int, least: int) -> list[BufferLifetime]:
    """The ``count`` values of temp allocations with most bytes times steps, one for each slot.

    Smaller ones than ``least`` bytes are left out. Parameters and outputs live as long as the
    caller wants.
    """
    found: dict[tuple[int, int, int], BufferLifetime] = {}
    for allocation in dump.allocations():
        if not allocation.record.preallocated_temp:
            continue
        for done, value in enumerate(dump.assigned_to(allocation), 1):
            if done % _VALUES_PER_CHECKPOINT == 0:
                checkpoint()
            live = dump.live(value.key) if value.size >= least else None
            if live is None:
                continue
            lifetime = BufferLifetime(value, live)
            slot = allocation.record.number, value.offset, value.size
            known = found.get(slot)
            if known is None or known.weight < lifetime.weight:
                found[slot] = lifetime
    ordered = sorted(found.values(), key=lambda one: (-one.weight, one.value.id))
    return ordered[:count]
