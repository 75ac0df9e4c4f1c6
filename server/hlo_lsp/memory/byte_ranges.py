"""Occupied bytes: the union of the byte ranges of live values at each step."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.buffer_assignment import AllocationBlock, block_of
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.memory_records import AllocationLine

ByteRange = tuple[int, int]  # first byte, and the exclusive end


class LiveByteRange(NamedTuple):
    """A byte range of a value with its first and last live step, both inclusive."""

    offset: int
    size: int
    start_step: int
    end_step: int


class RangeUnion:
    """The number of bytes that a changing set of byte ranges covers.

    A range can be added several times and remains until it is removed as often. The data structure
    is a segment tree over the pieces between all range bounds: a change costs O(log n).
    """

    def __init__(self, ranges: Iterable[ByteRange]) -> None:
        """Prepare an empty union of ``ranges``, the only ranges that can be added."""
        self._bounds = sorted({bound for both in ranges for bound in both})
        pieces = [end - first for first, end in pairwise(self._bounds)]
        # Node 1 is the root, the children of node n are 2n and 2n + 1. The number of leaves is a
        # power of two, so that all of them are on the last level.
        self._leaves = leaves = 1 << len(pieces).bit_length()
        self._sizes = [0] * leaves + pieces + [0] * (leaves - len(pieces))  # bytes below a node
        for node in range(leaves - 1, 0, -1):
            self._sizes[node] = self._sizes[2 * node] + self._sizes[2 * node + 1]
        self._counts = [0] * (2 * leaves)  # ranges that cover a whole node
        self._covered = [0] * (4 * leaves)  # covered bytes below a node; 0 below the leaves

    @property
    def bytes(self) -> int:
        """Number of covered bytes."""
        return self._covered[1]

    def add(self, byte_range: ByteRange, times: int = 1) -> None:
        """Add a byte range; ``times=-1`` removes one addition."""
        counts, covered, sizes = self._counts, self._covered, self._sizes
        low = bisect_left(self._bounds, byte_range[0]) + self._leaves
        high = bisect_left(self._bounds, byte_range[1]) + self._leaves
        nodes = []  # the largest nodes inside the range, then all ancestors of its ends
        above_low, above_high = low >> 1, (high - 1) >> 1
        while low < high:
            if low & 1:
                nodes.append(low)
                low += 1
            if high & 1:
                high -= 1
                nodes.append(high)
            low >>= 1
            high >>= 1
        for node in nodes:
            counts[node] += times
        while above_low:
            nodes.append(above_low)
            if above_high != above_low:
                nodes.append(above_high)
            above_low >>= 1
            above_high >>= 1
        for node in nodes:
            below = covered[2 * node] + covered[2 * node + 1]
            covered[node] = sizes[node] if counts[node] else below


def occupied_bytes_by_step(values: Iterable[LiveByteRange]) -> Iterator[tuple[int, int]]:
    """Sweep over the steps at which values become live or dead.

    Args:
        values: Live byte ranges of one address space.

    Yields:
        Each of these steps in ascending order, with the bytes that at least one value occupies
        from this step to the next one. Before the first step no byte is occupied.
    """
    changes: list[tuple[int, int, ByteRange]] = []
    for offset, size, start_step, end_step in values:
        checkpoint()
        if size > 0 and start_step <= end_step:
            byte_range = (offset, offset + size)
            changes.append((start_step, 1, byte_range))
            changes.append((end_step + 1, -1, byte_range))
    changes.sort()
    checkpoint()
    union = RangeUnion({byte_range for _, _, byte_range in changes})
    for step, at_step in groupby(changes, itemgetter(0)):
        checkpoint()
        for _, times, byte_range in at_step:
            union.add(byte_range, times)
        yield step, union.bytes


def union_size(ranges: Iterable[ByteRange]) -> int:
    """Return the number of bytes that are in at least one of these ranges."""
    total = covered_to = 0
    for first, end in sorted(ranges):
        total += max(0, end - max(first, covered_to))
        covered_to = max(covered_to, end)
    return total


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
def occupied_bytes(block: AllocationBlock, dump: DumpSet) -> tuple[tuple[int, int], ...] | None:
    """Return the steps at which values of an allocation become live or dead.

    Each has the bytes that are occupied from this step to the next one. Returns None if a value
    with bytes has no live range.
    """
    values: list[LiveByteRange] = []
    for value in block.values:
        checkpoint()
        if value.size:
            live = dump.live(value.key)
            if live is None or live.record.start_step > live.record.end_step:
                return None
            steps = live.record.start_step, live.record.end_step
            values.append(LiveByteRange(value.offset, value.size, *steps))
    return tuple(occupied_bytes_by_step(values))


@query
def _occupancy(block: AllocationBlock, dump: DumpSet) -> AllocationOccupancy | None:
    steps = occupied_bytes(block, dump)
    if steps is None:
        return None
    peak_step, peak = max(steps, key=lambda each: each[1], default=(0, 0))
    ranges = {(value.offset, value.offset + value.size) for value in block.values if value.size}
    return AllocationOccupancy(
        max((end for _, end in ranges), default=0), union_size(ranges), peak, peak_step
    )
