"""The headers of values, ``<ID NAME{INDEX} (phi) @COLOR>``, in allocations and in entries.

Both are printed from one ``HloValue`` (``BufferAssignment::ToString``), in the order of ids. What
does not agree is put down to as few damaged lines as can be, each told once.
"""

from collections.abc import Sequence

from hlo_lsp.analysis.assignment.ordering import misplaced
from hlo_lsp.analysis.assignment.placements import Assignment, assignment_of
from hlo_lsp.analysis.assignment.spaces import layout_space, may_be_recolored
from hlo_lsp.analysis.files.ending import ending, last_record
from hlo_lsp.analysis.files.sections import is_joined
from hlo_lsp.analysis.files.siblings import strangers
from hlo_lsp.analysis.values.header_faults import (
    Alone,
    Disagreements,
    Doubled,
    OutOfOrder,
    Renamed,
    Renumbered,
    Short,
)
from hlo_lsp.analysis.values.header_list import Header, HeaderList, ids_of, key_of, line_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, TotalLine
from hlo_lsp.syntax.records import Broken, Record
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.steps import Steps

_STEP = 1000  # values between two breaths: about 2 ms
_MERGED = frozenset({"parameter", "while", "conditional"})  # whose values data flow merges


def disagreements(dump: DumpSet) -> Steps[Disagreements]:
    """What is wrong with the headers, remembered until one of the lists changes.

    Nothing of files that hold a section twice: their lists are of two dumps. Nothing either where
    a file is of another compile.
    """
    if (yield from strangers(dump)):
        return Disagreements()
    holders = [file for file in dump.files if _holds(file)]
    exact, rough = dump.state(holders), dump.state(holders, but_places=True)
    known: Disagreements | None = dump.remembered(disagreements, exact)
    known = known or dump.remembered(_Comparison, rough)
    if known is None:
        known = yield from _Comparison(dump).run()
        dump.remember(disagreements, exact, known)
        assignment = yield from assignment_of(dump)
        if known == Disagreements() and assignment.complete and not assignment.copies:
            # Sizes and offsets only matter to what is to blame for a disagreement.
            dump.remember(_Comparison, rough, known)
    return known


def _holds(file: DumpFile) -> bool:
    return bool(_holds_allocations(file) or len(file.memory.entries))


def _holds_allocations(file: DumpFile) -> bool:
    return bool(len(file.memory.assigned) or len(file.memory.allocations))


class _Comparison:
    def __init__(self, dump: DumpSet) -> None:
        self._dump = dump
        self._found = Disagreements()
        self._entries: HeaderList | None = None
        self._assigned: HeaderList | None = None
        self._assignment: Assignment | None = None
        self._told: set[Record] = set()

    def run(self) -> Steps[Disagreements]:
        holders = [file for file in self._dump.files if _holds(file)]
        if any(map(is_joined, holders)):
            return self._found
        yield from self._read(holders)
        entries, assigned = self._entries, self._assigned
        for mine, other in ((entries, assigned), (assigned, entries)):
            if mine is not None:
                self._find_doubled(mine, other)
                yield
        if entries is not None and assigned is not None:
            yield from self._compare(entries, assigned)
        for one in (entries, assigned):
            if one is not None:
                yield from self._find_out_of_order(one)
        return self._found

    def _read(self, holders: list[DumpFile]) -> Steps[None]:
        for file in holders:
            if self._entries is None and len(file.memory.entries):
                entries = sorted(file.memory.entries.records(), key=line_of)
                self._entries = HeaderList(
                    file, file.memory.entries, file.memory.entry_keys, [entries]
                )
                yield
        self._assignment = yield from assignment_of(self._dump)
        for file in list(filter(_holds_allocations, holders))[:1]:
            placements = () if self._assignment is None else self._assignment.placements
            self._assigned = HeaderList(
                file,
                file.memory.assigned,
                file.memory.assigned_keys,
                [placement.values for placement in placements if placement.whole],
            )
            yield

    def _find_doubled(self, mine: HeaderList, other: HeaderList | None) -> None:
        if sum(1 for _ in mine.ids.records()) == len(mine.ids):
            return
        several = [records for records in map(mine.ids.all, mine.ids) if len(records) > 1]
        for records in several:
            if self._is_copied(records):
                continue
            id_ = records[0].id
            theirs = None if other is None or id_ is None else other.ids.first(id_)
            twin = max(
                records,
                key=lambda record: (
                    theirs is not None and key_of(theirs) == key_of(record),
                    record not in mine.out_of_order,
                    -record.line,
                ),
            )
            for record in records:
                if record is not twin:
                    self._told.add(record)
                    own = self._own_id(record, mine, other)
                    self._found.doubled.append(
                        Doubled(mine.located(record), mine.located(twin), own)
                    )

    def _is_copied(self, records: Sequence[Header]) -> bool:
        """Whether they are lines of one value under several allocations, which has its own rule."""
        heads = {
            None if self._assigned is None else self._assigned.file.records.head_of(record)
            for record in records
            if isinstance(record, AssignedValue)
        }
        return len(heads) == len(records) and len({key_of(record) for record in records}) == 1

    def _own_id(self, record: Header, mine: HeaderList, other: HeaderList | None) -> int | None:
        """The id that the other list has for what this header names, if nothing here has it."""
        key = record.key
        if other is None or key is None:
            return None
        ids = {found.id for found in other.keys.all(key)}
        free = [id_ for id_ in ids if id_ is not None and id_ not in mine.ids]
        return free[0] if len(free) == 1 else None

    def _compare(self, entries: HeaderList, assigned: HeaderList) -> Steps[None]:
        accounted = {doubled.own for doubled in self._found.doubled}
        unused: list[AssignedValue] = []
        unassigned: list[UsedValue] = []
        for count, id_ in enumerate(entries.ids):
            if count % _STEP == _STEP - 1:
                yield
            entry = self._innocent(entries, id_)
            value = self._innocent(assigned, id_)
            if not isinstance(entry, UsedValue):
                continue
            if isinstance(value, AssignedValue):
                if key_of(entry) != key_of(value):
                    self._rename(entry, value)
            elif id_ not in accounted and id_ not in assigned.ids:
                unassigned.append(entry)
        for id_ in assigned.ids:
            value = self._innocent(assigned, id_)
            if id_ not in entries.ids and id_ not in accounted and isinstance(value, AssignedValue):
                unused.append(value)
        paired = self._pair(unused, unassigned)
        self._blame_for_unassigned(
            sorted((entry for entry in unassigned if entry not in paired), key=line_of)
        )
        self._blame_for_unused(
            sorted((value for value in unused if value not in paired), key=line_of)
        )

    def _innocent(self, side: HeaderList, id_: int) -> Header | None:
        found = side.ids.first(id_)
        if not self._told or found is None or found not in self._told:
            return found
        return next((record for record in side.ids.all(id_) if record not in self._told), None)

    def _pair(self, unused: list[AssignedValue], unassigned: list[UsedValue]) -> set[Header]:
        """Those that are one value with two ids."""
        assert self._entries is not None
        assert self._assigned is not None
        by_key = {value.key: value for value in unused}
        paired: set[Header] = set()
        for entry in unassigned:
            value = by_key.pop(entry.key or "", None)
            if value is None or entry.id is None:
                continue
            paired |= {entry, value}
            accused, other = self._entries.located(entry), self._assigned.located(value)
            if self._is_wrong_in_allocation(entry, entry.id, value):
                accused, other = other, accused
            self._told.add(accused.record)
            self._found.renumbered.append(Renumbered(accused, other))
        return paired

    def _is_wrong_in_allocation(self, entry: UsedValue, id_: int, value: AssignedValue) -> bool:
        """Of two ids the one is wrong that stands out of order where it stands.

        If neither does it is the one that is further from the id of the entry above.
        """
        assert self._entries is not None
        assert self._assigned is not None
        if not self._entries.fits(entry, id_):
            return False
        if not self._entries.fits(entry, value.id):
            return True
        if not self._assigned.fits(value, value.id):
            return True
        distance = self._entries.distance
        return distance(entry, id_) < distance(entry, value.id)

    def _blame_for_unassigned(self, unassigned: list[UsedValue]) -> None:
        """Entries without a line in an allocation: those lines are gone, or the list is cut."""
        assert self._assigned is not None
        assert self._entries is not None
        file = self._assigned.file
        if not unassigned or ending(file) is not None or _has_broken_lines(file):
            return
        if self._assignment is not None and self._assignment.numbering.gaps:
            return  # they lie in the allocations that are missing
        if self._allocations_end_early(unassigned):
            found = last_record(file)
            assert found is not None
            self._found.short.append(Short(file, found[0], len(unassigned), "allocations"))
            return
        self._found.unassigned += [Alone(self._entries.located(entry)) for entry in unassigned]

    def _allocations_end_early(self, unassigned: list[UsedValue]) -> bool:
        assert self._assigned is not None
        file, assignment = self._assigned.file, self._assignment
        found = last_record(file)
        if assignment is None or found is None or not assignment.placements:
            return False
        if not isinstance(found[1], AssignedValue | AllocationLine) or assignment.numbering.gaps:
            return False
        total = self._dump.label(TotalLine)
        sizes = sum(placement.allocation.size for placement in assignment.placements)
        if total is not None and sizes < total.record.total:
            return True
        last = assignment.placements[-1]
        end = max((value.offset + value.size for value in last.values), default=0)
        highest = max((value.id for value in last.values), default=-1)
        # One line less would be a smaller damage, several at the end are none by chance.
        is_short = end < last.allocation.size or len(unassigned) > 1
        return is_short and all((entry.id or 0) > highest for entry in unassigned)

    def _blame_for_unused(self, unused: list[AssignedValue]) -> None:
        """Values without an entry: the entries are gone, or their list is cut."""
        assert self._assigned is not None
        assert self._entries is not None
        file = self._entries.file
        if not unused or _has_broken_entries(file):
            return
        found = last_record(file)
        if found is not None and isinstance(found[1], UsedValue):
            highest = max(self._entries.ids)
            behind = [value for value in unused if value.id > highest]
            if behind and ending(file) is None:
                self._found.short.append(Short(file, found[0], len(behind), "entries"))
            unused = [value for value in unused if value.id < highest]
        elif ending(file) is not None:
            return
        self._found.unused += [Alone(self._assigned.located(value)) for value in unused]

    def _rename(self, entry: UsedValue, value: AssignedValue) -> None:
        assert self._assigned is not None
        assert self._entries is not None
        here, there = self._entries.located(entry), self._assigned.located(value)
        if entry.name != value.name or (entry.index or "{}") != (value.index or "{}"):
            role = "NAME" if entry.name != value.name else "INDEX"
            entry_is_wrong = entry.key != _definition(entry)
        elif entry.index != value.index:
            role = "INDEX"
            text = defining_text(entry)
            is_tuple = text is not None and text.shape.text.startswith("(")
            entry_is_wrong = (entry.index is not None) != is_tuple
        elif entry.phi != value.phi:
            role = "PHI"
            entry_is_wrong = entry.phi != self._is_merged(entry)
        else:
            role = "COLOR"
            if self._is_said_of_color(there):
                return  # the space of the shape, or of the allocation, tells more
            entry_is_wrong = True
        accused, other = (here, there) if entry_is_wrong else (there, here)
        self._found.renamed.append(Renamed(accused, other, role))

    def _is_merged(self, entry: UsedValue) -> bool:
        """Whether data flow merges the value of an entry, as far as its instruction tells.

        Of parameters those of loops; without a module text the others cannot be told from them.
        """
        text = defining_text(entry)
        if text is None or text.opcode.text not in _MERGED:
            return False
        line = self._dump.instruction(text.name.text)
        if text.opcode.text != "parameter" or line is None:
            return entry.phi or text.opcode.text != "parameter"
        module = line.file.module
        home = module.computation_of(line.record)
        callers = [] if home is None else module.callers(home)
        return any(caller.opcode == "while" for caller in callers)

    def _is_said_of_color(self, value: Located[Header]) -> bool:
        """Whether a value's line contradicts its own shape or allocation: that is told there."""
        record = value.record
        if not isinstance(record, AssignedValue):
            return False
        space = layout_space(record)
        if space is not None:
            return space != (record.color or 0)
        head = value.file.records.head_of(record)
        if not isinstance(head, AllocationLine) or head.color == (record.color or 0):
            return False
        return bool(record.color) or not may_be_recolored(head.color, self._dump.backend)

    def _find_out_of_order(self, mine: HeaderList) -> Steps[None]:
        for count, group in enumerate(mine.groups):
            if count % _STEP == _STEP - 1:
                yield
            ids = ids_of(group)
            if all(map(int.__lt__, ids, ids[1:])):
                continue
            rest = [record for record in group if record not in self._told]
            previous = -2
            for fault in misplaced(ids_of(rest)):
                if fault.at != previous + 1:  # rows that moved together are told once
                    self._found.out_of_order.append(
                        OutOfOrder(
                            mine.located(rest[fault.at]),
                            None
                            if fault.swapped_with is None
                            else mine.located(rest[fault.swapped_with]),
                            None
                            if fault.fits_before is None
                            else mine.located(rest[fault.fits_before]),
                        )
                    )
                previous = fault.at


def _definition(entry: UsedValue) -> str | None:
    """Name and index by the first position, where the instruction is of the same name."""
    first = next(entry.positions, None)
    text = defining_text(entry)
    if first is None or text is None or text.name.text != first.name:
        return entry.key if text is not None and text.name.text == entry.name else None
    return first.name + (first.index or "{}")


def _has_broken_lines(file: DumpFile) -> bool:
    """Whether a line cannot be read that may be an allocation or a value in one."""
    return any(
        isinstance(record, Broken) and not record.text.startswith("  ")
        for record in file.memory.damaged
    )


def _has_broken_entries(file: DumpFile) -> bool:
    return any(
        isinstance(record, UsedValue) and record.id is None for record in file.memory.damaged
    )
