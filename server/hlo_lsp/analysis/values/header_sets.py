"""Values that only one of the two lists of headers has: what is damaged where each is alone.

It has another id in the other list, or its line there is gone, or that list ends too early.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.analysis.assignment.placements import Assignment
from hlo_lsp.analysis.files.ending import ending, last_record
from hlo_lsp.analysis.values.header_faults import Alone, Disagreements, Renumbered, Short
from hlo_lsp.analysis.values.header_list import HeaderList, line_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, TotalLine
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.used_value import UsedValue


@dataclass(frozen=True, slots=True)
class BothLists:
    """The headers of a dump that has entries and allocations."""

    dump: DumpSet
    assignment: Assignment
    entries: HeaderList
    assigned: HeaderList


def tell_alone(
    both: BothLists,
    unassigned: list[UsedValue],
    unused: list[AssignedValue],
    found: Disagreements,
) -> None:
    """Tell what is damaged where an entry is ``unassigned``, or a value ``unused``."""
    found.renumbered += _renumbered(both, unassigned, unused)
    paired = {one.record for pair in found.renumbered for one in (pair.accused, pair.other)}
    _blame_for_unassigned(
        both, sorted((entry for entry in unassigned if entry not in paired), key=line_of), found
    )
    _blame_for_unused(
        both, sorted((value for value in unused if value not in paired), key=line_of), found
    )


def _renumbered(
    both: BothLists, unassigned: list[UsedValue], unused: list[AssignedValue]
) -> Iterator[Renumbered]:
    """Those that are one value with two ids."""
    by_key = {value.key: value for value in unused}
    for entry in unassigned:
        value = by_key.pop(entry.key or "", None)
        if value is None or entry.id is None:
            continue
        here, there = both.entries.located(entry), both.assigned.located(value)
        if _is_wrong_in_allocation(both, entry, entry.id, value):
            yield Renumbered(there, here)
        else:
            yield Renumbered(here, there)


def _is_wrong_in_allocation(
    both: BothLists, entry: UsedValue, id_: int, value: AssignedValue
) -> bool:
    """Of two ids the one is wrong that stands out of order where it stands.

    If neither does it is the one that is further from the id of the entry above.
    """
    entries = both.entries
    if not entries.fits(entry, id_):
        return False
    if not entries.fits(entry, value.id):
        return True
    if not both.assigned.fits(value, value.id):
        return True
    return entries.distance(entry, id_) < entries.distance(entry, value.id)


def _blame_for_unassigned(
    both: BothLists, unassigned: list[UsedValue], found: Disagreements
) -> None:
    """Entries without a line in an allocation: those lines are gone, or the list is cut."""
    file = both.assigned.file
    if not unassigned or ending(file) is not None or _has_broken_lines(file):
        return
    if both.assignment.numbering.gaps:
        return  # they lie in the allocations that are missing
    if _allocations_end_early(both, unassigned):
        last = last_record(file)
        assert last is not None
        found.short.append(Short(file, last[0], len(unassigned), "allocations"))
        return
    found.unassigned += [Alone(both.entries.located(entry)) for entry in unassigned]


def _allocations_end_early(both: BothLists, unassigned: list[UsedValue]) -> bool:
    placements = both.assignment.placements
    found = last_record(both.assigned.file)
    if found is None or not isinstance(found[1], AssignedValue | AllocationLine) or not placements:
        return False
    total = both.dump.label(TotalLine)
    sizes = sum(placement.allocation.size for placement in placements)
    if total is not None and sizes < total.record.total:
        return True
    last = placements[-1]
    end = max((value.offset + value.size for value in last.values), default=0)
    highest = max((value.id for value in last.values), default=-1)
    # One line less would be a smaller damage, several at the end are none by chance.
    is_short = end < last.allocation.size or len(unassigned) > 1
    return is_short and all((entry.id or 0) > highest for entry in unassigned)


def _blame_for_unused(both: BothLists, unused: list[AssignedValue], found: Disagreements) -> None:
    """Values without an entry: the entries are gone, or their list is cut."""
    file = both.entries.file
    if not unused or _has_broken_entries(file):
        return
    last = last_record(file)
    if last is not None and isinstance(last[1], UsedValue):
        highest = max(both.entries.ids)
        behind = [value for value in unused if value.id > highest]
        if behind and ending(file) is None:
            found.short.append(Short(file, last[0], len(behind), "entries"))
        unused = [value for value in unused if value.id < highest]
    elif ending(file) is not None:
        return
    found.unused += [Alone(both.assigned.located(value)) for value in unused]


def _has_broken_lines(file: DumpFile) -> bool:
    """Whether a line cannot be read that may be an allocation or a value in one."""
    return any(
        isinstance(record, BrokenRecord) and not record.text.startswith("  ")
        for record in file.memory.damaged
    )


def _has_broken_entries(file: DumpFile) -> bool:
    return any(
        isinstance(record, UsedValue) and record.id is None for record in file.memory.damaged
    )
