"""Values that share bytes of an allocation."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from hlo_lsp.model.buffer_assignment import AllocationBlock, block_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue


def values_sharing_memory(dump: Compile, value: Value) -> list[AssignedValue]:
    """Return the other values whose bytes overlap those of a value, by start step."""
    if value.assigned is None or value.allocation is None:
        return []
    own = value.assigned.record
    end = own.offset + own.size
    found = [
        other
        for other in _candidates(value.allocation, own)
        if other.offset < end and own.offset < other.offset + other.size and other is not own
    ]
    ranges = dump.live_ranges_of([other.key for other in found])
    starts = [-1 if live is None else live.start_step for live in ranges]
    order = sorted(range(len(found)), key=lambda at: (starts[at], found[at].id))
    return [found[at] for at in order]


def _candidates(
    allocation: LocatedRecord[AllocationLine], own: AssignedValue
) -> Sequence[AssignedValue]:
    """Return values that may overlap a value."""
    values, largest_size = _values_by_offset(block_of(allocation))
    first = bisect_right(values, own.offset - largest_size, key=_offset)
    return values[first : bisect_left(values, own.offset + own.size, key=_offset)]


_offset = attrgetter("offset")


@query
def _values_by_offset(block: AllocationBlock) -> tuple[tuple[AssignedValue, ...], int]:
    """Return the values of an allocation by offset, and the size of the largest one in bytes."""
    largest_size = max((value.size for value in block.values), default=0)
    return tuple(sorted(block.values, key=_offset)), largest_size


def most_shared_offset(
    dump: Compile, allocation: LocatedRecord[AllocationLine]
) -> tuple[int, int] | None:
    """Return the offset in bytes at which most values start, and their number.

    Returns None if no two values start at the same offset.
    """
    offsets = Counter(value.offset for value in dump.assigned_to(allocation) if value.size)
    if not offsets:
        return None
    offset, count = min(offsets.items(), key=lambda item: (-item[1], item[0]))
    return (offset, count) if count > 1 else None
