"""The headers of values, ``<ID NAME{INDEX} (phi) @COLOR>``, in allocations and in entries.

Both are printed from one ``HloValue`` (``BufferAssignment::ToString``), in the order of ids. What
does not agree is put down to as few damaged lines as can be, each told once.
"""

from collections.abc import Set

from hlo_lsp.analysis.assignment.placements import assignment_of
from hlo_lsp.analysis.files.sections import is_joined
from hlo_lsp.analysis.files.siblings import strangers
from hlo_lsp.analysis.values.header_faults import Disagreements
from hlo_lsp.analysis.values.header_fields import renamed
from hlo_lsp.analysis.values.header_ids import doubled, out_of_order
from hlo_lsp.analysis.values.header_list import Header, HeaderList, key_of, line_of
from hlo_lsp.analysis.values.header_sets import BothLists, tell_alone
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # values between two breaths: about 2 ms


def disagreements(dump: DumpSet) -> Disagreements:
    """What is wrong with the headers, remembered until one of the lists changes.

    Nothing of files that hold a section twice: their lists are of two dumps. Nothing either where
    a file is of another compile.
    """
    if strangers(dump):
        return Disagreements()
    holders = [file for file in dump.files if _holds_allocations(file) or len(file.memory.entries)]
    exact, rough = dump.state(holders), dump.state(holders, but_places=True)
    known: Disagreements | None = dump.remembered(disagreements, exact)
    known = known or dump.remembered(_compared, rough)
    if known is None:
        known = _compared(dump, holders)
        dump.remember(disagreements, exact, known)
        assignment = assignment_of(dump)
        if known == Disagreements() and assignment.complete and not assignment.copies:
            # Sizes and offsets only matter to what is to blame for a disagreement.
            dump.remember(_compared, rough, known)
    return known


def _holds_allocations(file: DumpFile) -> bool:
    return bool(len(file.memory.assigned) or len(file.memory.allocations))


def _compared(dump: DumpSet, holders: list[DumpFile]) -> Disagreements:
    found = Disagreements()
    if any(map(is_joined, holders)):
        return found
    entries = _in_entries(holders)
    checkpoint()
    assigned = _in_allocations(dump, holders)
    for mine, other in ((entries, assigned), (assigned, entries)):
        if mine is not None:
            found.doubled += doubled(mine, other)
            checkpoint()
    if entries is not None and assigned is not None:
        assignment = assignment_of(dump)
        _compare(BothLists(dump, assignment, entries, assigned), found)
    for one in (entries, assigned):
        if one is not None:
            found.out_of_order += out_of_order(one, found.told)
    return found


def _in_entries(holders: list[DumpFile]) -> HeaderList | None:
    file = next((file for file in holders if len(file.memory.entries)), None)
    if file is None:
        return None
    entries = sorted(file.memory.entries.records(), key=line_of)
    return HeaderList(file, file.memory.entries, file.memory.entry_keys, [entries])


def _in_allocations(dump: DumpSet, holders: list[DumpFile]) -> HeaderList | None:
    assignment = assignment_of(dump)
    file = next(filter(_holds_allocations, holders), None)
    if file is None:
        return None
    groups = [placement.values for placement in assignment.placements if placement.whole]
    checkpoint()
    return HeaderList(file, file.memory.assigned, file.memory.assigned_keys, groups)


def _compare(both: BothLists, found: Disagreements) -> None:
    entries, assigned = both.entries, both.assigned
    told = found.told
    accounted = {fault.own for fault in found.doubled}
    unassigned: list[UsedValue] = []
    unused: list[AssignedValue] = []
    for count, id_ in enumerate(entries.ids):
        if count % _STEP == _STEP - 1:
            checkpoint()
        entry = _innocent(entries, id_, told)
        value = _innocent(assigned, id_, told)
        if not isinstance(entry, UsedValue):
            continue
        if isinstance(value, AssignedValue):
            if key_of(entry) != key_of(value):
                fault = renamed(both.dump, entries.located(entry), assigned.located(value))
                found.renamed += [] if fault is None else [fault]
        elif id_ not in accounted and id_ not in assigned.ids:
            unassigned.append(entry)
    for id_ in assigned.ids:
        value = _innocent(assigned, id_, told)
        if id_ not in entries.ids and id_ not in accounted and isinstance(value, AssignedValue):
            unused.append(value)
    tell_alone(both, unassigned, unused, found)


def _innocent(side: HeaderList, id_: int, told: Set[Header]) -> Header | None:
    first = side.ids.first(id_)
    if first is None or first not in told:
        return first
    return next((record for record in side.ids.all(id_) if record not in told), None)
