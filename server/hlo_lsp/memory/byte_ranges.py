"""Occupied bytes: the union of the byte ranges of live values at each step."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.text.document import changed_parts

_COMPARED_RANGES = 64  # in one comparison of lists
_NODES_PER_CHECKPOINT = 4096  # about 1 ms

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
        bounds = {bound for both in ranges for bound in both}
        checkpoint()
        self._bounds = sorted(bounds)
        checkpoint()
        pieces = [end - first for first, end in pairwise(self._bounds)]
        # Node 1 is the root, the children of node n are 2n and 2n + 1. The number of leaves is a
        # power of two, so that all of them are on the last level.
        self._leaves = leaves = 1 << len(pieces).bit_length()
        self._sizes = [0] * leaves + pieces + [0] * (leaves - len(pieces))  # bytes below a node
        for node in range(leaves - 1, 0, -1):
            if node % _NODES_PER_CHECKPOINT == 0:
                checkpoint()
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
    changes.sort(key=itemgetter(0))
    checkpoint()
    ranges = {byte_range for _, _, byte_range in changes}
    checkpoint()
    union = RangeUnion(ranges)
    for step, at_step in groupby(changes, itemgetter(0)):
        checkpoint()
        for _, times, byte_range in at_step:
            union.add(byte_range, times)
        yield step, union.bytes


OccupiedBytes = Sequence[tuple[int, int]]  # the result of ``occupied_bytes_by_step``


def updated_occupied_bytes(
    before: Sequence[LiveByteRange], occupied: OccupiedBytes, values: Sequence[LiveByteRange]
) -> Iterator[tuple[int, int]]:
    """Sweep as ``occupied_bytes_by_step`` does, given its result for values most of which remain.

    Only bytes of values that were removed or added change, so a sweep over the values that have
    some of these bytes gives the difference.
    """
    removed, added = changed_ranges(before, values)
    changed = [each for each in (*removed, *added) if each.size]
    low = min((each.offset for each in changed), default=0)
    high = max((each.offset + each.size for each in changed), default=0)
    changes: defaultdict[int, int] = defaultdict(int)
    add_changes(changes, occupied, 1)
    add_changes(changes, occupied_bytes_by_step(_inside(before, low, high)), -1)
    add_changes(changes, occupied_bytes_by_step(_inside(values, low, high)), 1)
    live = [each for each in values if each.size > 0 and each.start_step <= each.end_step]
    checkpoint()
    steps = {each.start_step for each in live} | {each.end_step + 1 for each in live}
    total = 0
    for step in sorted(steps):
        checkpoint()
        total += changes[step]
        yield step, total


def changed_ranges(
    before: Sequence[LiveByteRange], values: Sequence[LiveByteRange]
) -> tuple[Sequence[LiveByteRange], Sequence[LiveByteRange]]:
    """Return the removed and the added ranges; those between two of them are in both."""
    start, old_end, new_end = changed_parts(before, values, _COMPARED_RANGES, 1)
    return before[start:old_end], values[start:new_end]


def _inside(values: Iterable[LiveByteRange], low: int, high: int) -> Iterator[LiveByteRange]:
    """Yield the parts of values that are in a byte range."""
    for offset, size, start_step, end_step in values:
        checkpoint()
        if offset < high and low < offset + size:
            first = max(offset, low)
            last = min(offset + size, high)
            yield LiveByteRange(first, last - first, start_step, end_step)


def add_changes(
    changes: defaultdict[int, int], occupied: Iterable[tuple[int, int]], times: int
) -> None:
    """Add the growth of ``occupied`` at each step in bytes, multiplied by ``times``."""
    before = 0
    for step, now in occupied:
        checkpoint()
        changes[step] += times * (now - before)
        before = now


def union_size(ranges: Iterable[ByteRange]) -> int:
    """Return the number of bytes that are in at least one of these ranges."""
    total = covered_to = 0
    for first, end in sorted(ranges):
        checkpoint()
        total += max(0, end - max(first, covered_to))
        covered_to = max(covered_to, end)
    return total
