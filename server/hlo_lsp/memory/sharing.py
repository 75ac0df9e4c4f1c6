"""Values that share bytes of an allocation."""

from collections import Counter

from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue


def values_sharing_memory(dump: DumpSet, value: Value) -> list[AssignedValue]:
    """Return the other values whose bytes overlap those of a value, by start step."""
    if value.assigned is None or value.allocation is None:
        return []
    own = value.assigned.record
    end = own.offset + own.size
    found = [
        other
        for other in dump.assigned_to(value.allocation)
        if other.offset < end and own.offset < other.offset + other.size and other is not own
    ]
    return sorted(found, key=lambda other: _live_start(dump, other))


def most_shared_offset(
    dump: DumpSet, allocation: LocatedRecord[AllocationLine]
) -> tuple[int, int] | None:
    """Return the offset in bytes at which most values start, and their number.

    Returns None if no two values start at the same offset.
    """
    offsets = Counter(value.offset for value in dump.assigned_to(allocation) if value.size)
    if not offsets:
        return None
    offset, count = min(offsets.items(), key=lambda item: (-item[1], item[0]))
    return (offset, count) if count > 1 else None


def _live_start(dump: DumpSet, value: AssignedValue) -> tuple[int, int]:
    live = dump.live(value.key)
    return (-1 if live is None else live.record.start_step), value.id
