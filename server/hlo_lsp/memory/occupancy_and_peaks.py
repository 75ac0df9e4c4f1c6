"""Occupied bytes of allocations and memory spaces over the schedule, and their peaks.

After an edit of a large allocation, they are computed again only for the changed bytes.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.byte_ranges import (
    LiveByteRange,
    OccupiedBytes,
    add_changes,
    occupied_bytes_by_step,
    union_size,
    updated_occupied_bytes,
)
from hlo_lsp.model.backend import HOST_MEMORY_SPACE, Backend, is_on_chip
from hlo_lsp.model.buffer_assignment import AllocationBlock, block_of, buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.memory_records import AllocationLine, RangeRow


@dataclass(frozen=True, slots=True)
class AllocationOccupancy:
    """Occupied bytes of an allocation; sizes include padding.

    Attributes:
        end: The first byte after all values.
        used: Bytes that some value occupies at some step. Other bytes before ``end`` align values.
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
    dump: Compile, allocation: LocatedRecord[AllocationLine]
) -> AllocationOccupancy | None:
    """Return the occupancy of an allocation, or None if one of its values has no live range.

    Bytes that several values share count once: such values are aliases or have disjoint live
    ranges.
    """
    return _occupancy(block_of(allocation), dump)


@query
def live_byte_ranges(block: AllocationBlock, dump: Compile) -> list[LiveByteRange | None]:
    """Return the byte range of each value; None for a value without a live range."""
    rows = dump.live_ranges_of([value.key for value in block.values])
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


def occupied_bytes(block: AllocationBlock, dump: Compile) -> OccupiedBytes | None:
    """Return the steps at which values of an allocation become live or dead.

    Each has the bytes that are occupied from this step to the next one. Returns None if a value
    with bytes has no live range.
    """
    sweep = _sweep(block, dump)
    return None if sweep is None else sweep.occupied


@query
def _sweep(block: AllocationBlock, dump: Compile) -> _Sweep | None:
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
def _occupancy(block: AllocationBlock, dump: Compile) -> AllocationOccupancy | None:
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


@dataclass(frozen=True, slots=True)
class SpaceOccupancy:
    """Occupied bytes of one memory space at each schedule step.

    Fixed allocations (parameters, constants, outputs) occupy their whole size at every step. In
    temp allocations the live values occupy their byte ranges; bytes that several values share
    count once. Thread-local allocations are excluded because they are not scheduled.

    Attributes:
        space: Number of the memory space, XLA's color.
        allocated_bytes: Size of all allocations in the space that are not thread-local.
        fixed_bytes: Size of those that are not temp allocations.
        change_steps: Steps at which the occupied temp bytes change, ascending.
        temp_bytes: Occupied temp bytes from each of these steps on.
        peak_step: First step at which most bytes are occupied.
        thread_local_bytes: Size of the thread-local allocations in the space.
    """

    space: int
    allocated_bytes: int
    fixed_bytes: int
    change_steps: tuple[int, ...]
    temp_bytes: tuple[int, ...]
    peak_step: int
    peak_bytes: int
    thread_local_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        """The size of all allocations in the space, which is the total that XLA reports."""
        return self.allocated_bytes + self.thread_local_bytes

    def bytes_at(self, step: int) -> int:
        """Return the bytes that are occupied at a schedule step."""
        place = bisect_right(self.change_steps, step)
        return self.fixed_bytes + (self.temp_bytes[place - 1] if place else 0)


def largest_off_chip_space(
    spaces: Iterable[SpaceOccupancy], backend: Backend
) -> SpaceOccupancy | None:
    """Return the off-chip memory space with the largest peak, or None if there is none.

    On-chip memory is excluded because XLA moves into it what fits. Host memory counts only if the
    device has none.
    """
    off_chip = [each for each in spaces if not is_on_chip(each.space, backend)]
    device = [each for each in off_chip if each.space != HOST_MEMORY_SPACE]
    return max(device or off_chip, key=lambda each: each.peak_bytes, default=None)


@query
def memory_space_occupancies(dump: Compile) -> tuple[SpaceOccupancy, ...]:
    """Return the occupancy of each memory space by number.

    A memory space is missing if a value in one of its temp allocations has no live range. The
    result is empty for a dump without live ranges or with an incomplete buffer assignment.
    """
    if not any(len(file.memory.ranges) for file in dump.files) or unassigned_ranges(dump):
        return ()
    assignment = buffer_assignment(dump)
    if not assignment.is_complete:
        return ()
    by_space: dict[int, list[AllocationBlock]] = {}
    thread_local: Counter[int] = Counter()
    for block in assignment.blocks:
        color = block.allocation.color
        if block.allocation.thread_local:
            thread_local[color] += block.allocation.size
        else:
            by_space.setdefault(color, []).append(block)
    found = []
    for space in sorted(by_space):
        occupancy = _space_occupancy(dump, space, by_space[space])
        if occupancy is not None:
            found.append(replace(occupancy, thread_local_bytes=thread_local[space]))
    return tuple(found)


@query(ignores_sizes=True)
def unassigned_ranges(dump: Compile) -> tuple[RangeRow, ...]:
    """Return the live ranges of values that no allocation has; XLA prints none.

    If there are some, the buffer assignment is cut off or from another compile.
    """
    if dump.assigned_values_file is None:
        return ()
    assigned = set[str]().union(*(file.memory.assigned_keys.keys for file in dump.files))
    found: list[RangeRow] = []
    for file in dump.files:
        rows = (file.memory.ranges.all(key) for key in file.memory.ranges.keys - assigned)
        found += sorted(chain.from_iterable(rows), key=lambda row: row.line)
    return tuple(found)


def _space_occupancy(
    dump: Compile, space: int, blocks: list[AllocationBlock]
) -> SpaceOccupancy | None:
    allocated = fixed = 0
    changes: defaultdict[int, int] = defaultdict(int)
    for block in blocks:
        allocated += block.allocation.size
        if not block.allocation.preallocated_temp:
            fixed += block.allocation.size
            continue
        occupied = occupied_bytes(block, dump)
        if occupied is None:
            return None
        add_changes(changes, occupied, 1)
    steps = sorted(changes)
    checkpoint()
    temp = [*accumulate(changes[step] for step in steps)]
    checkpoint()
    peak = max(temp, default=0)
    peak_step = steps[temp.index(peak)] if temp else 0
    return SpaceOccupancy(
        space, allocated, fixed, tuple(steps), tuple(temp), peak_step, fixed + peak
    )


def local_peaks(curve: Iterable[tuple[int, int]], rise: int) -> Iterator[tuple[int, int]]:
    """Yield the peaks of a curve that rise far enough above the valleys on both sides.

    Args:
        curve: Steps in ascending order, each with the occupied bytes from this step on.
        rise: Minimum difference to the lowest point between two peaks, in bytes; at least 1.

    Yields:
        The first step of each peak, with its bytes.
    """
    valley = peak = peak_step = 0
    is_rising = True
    for step, size in curve:
        if is_rising:
            if size > peak:
                peak, peak_step = size, step
            elif size <= peak - rise:
                if peak - valley >= rise:
                    yield peak_step, peak
                is_rising, valley = False, size
        elif size < valley:
            valley = size
        elif size >= valley + rise:
            is_rising, peak, peak_step = True, size, step
    if is_rising and peak - valley >= rise:
        yield peak_step, peak
