"""Occupied bytes of an allocation over the schedule.

After an edit of a large allocation, they are computed again only for the changed bytes.
"""

from dataclasses import dataclass
from operator import attrgetter

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.byte_ranges import (
    LiveByteRange,
    OccupiedBytes,
    occupied_bytes_by_step,
    union_size,
    updated_occupied_bytes,
)
from hlo_lsp.model.buffer_assignment import AllocationBlock, block_of
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.memory_records import AllocationLine, RangeRow

_key = attrgetter("key")


@dataclass(frozen=True, slots=True)
class AllocationOccupancy:
    """Occupied bytes of an allocation; sizes include padding.

    Attributes:
        used: Bytes that some value occupies at some step. The others only align values.
        live: Occupied bytes at the peak of the allocation.
        step: First step with that many occupied bytes.
    """

    end: int
    used: int
    live: int
    step: int

    @property
    def idle(self) -> int:
        """Bytes that are in use at other steps, but not at the peak."""
        return self.used - self.live


def allocation_occupancy(
    dump: DumpSet, allocation: LocatedRecord[AllocationLine]
) -> AllocationOccupancy | None:
    """Return the occupancy of an allocation, or None if one of its values has no live range.

    Bytes that several values share count once: such values are aliases or have disjoint live
    ranges.
    """
    return _occupancy(block_of(allocation), dump)


@query
def live_byte_ranges(block: AllocationBlock, dump: DumpSet) -> list[LiveByteRange | None]:
    """Return the byte range of each value; None for a value without a live range."""
    rows: list[RangeRow | None] = [None] * len(block.values)
    for file in reversed(dump.files):  # the first one that has a live range provides it
        ranges = file.memory.ranges
        if len(ranges):
            for at, row in enumerate(ranges.first_of_each(map(_key, block.values))):
                checkpoint()
                if row is not None:
                    rows[at] = row
    found: list[LiveByteRange | None] = []
    for value, row in zip(block.values, rows, strict=True):
        checkpoint()
        if row is None or row.start_step > row.end_step:
            found.append(None)
        else:
            found.append(LiveByteRange(value.offset, value.size, row.start_step, row.end_step))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Sweep:
    """The occupied bytes of some values."""

    values: list[LiveByteRange]
    occupied: OccupiedBytes


def occupied_bytes(block: AllocationBlock, dump: DumpSet) -> OccupiedBytes | None:
    """Return the steps at which values of an allocation become live or dead.

    Each has the bytes that are occupied from this step to the next one. Returns None if a value
    with bytes has no live range.
    """
    sweep = _sweep(block, dump)
    return None if sweep is None else sweep.occupied


@query
def _sweep(block: AllocationBlock, dump: DumpSet) -> _Sweep | None:
    values: list[LiveByteRange] = []
    for value, live in zip(block.values, live_byte_ranges(block, dump), strict=True):
        if value.size:
            if live is None:
                return None
            values.append(live)
    checkpoint()
    last = _sweep.last(block)
    if last is None:
        return _Sweep(values, tuple(occupied_bytes_by_step(values)))
    return _Sweep(values, tuple(updated_occupied_bytes(last.values, last.occupied, values)))


@query
def _occupancy(block: AllocationBlock, dump: DumpSet) -> AllocationOccupancy | None:
    steps = occupied_bytes(block, dump)
    if steps is None:
        return None
    peak_step, peak = max(steps, key=lambda each: each[1], default=(0, 0))
    ends: dict[int, int] = {}  # by offset
    for value in block.values:
        checkpoint()
        if value.size:
            ends[value.offset] = max(value.offset + value.size, ends.get(value.offset, 0))
    return AllocationOccupancy(
        max(ends.values(), default=0), union_size(ends.items()), peak, peak_step
    )
