"""Where a subject is defined, declared and mentioned.

One rule everywhere: a mention of a value leads to its entry under ``Used values``, and the entry's
own header to its line in the allocation. An instruction leads to the entry of the value that it
defines at the printed index, else to its line in the module text, else to its schedule row.
"""

from collections.abc import Iterable

from hlo_lsp.analysis.columns import name_columns
from hlo_lsp.analysis.subject import (
    AllocationSubject,
    ComputationSubject,
    Found,
    InstructionSubject,
    ThunkSubject,
    ValueSubject,
)
from hlo_lsp.analysis.thunks import instruction_of
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import Located, Value
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.records import Record


def definition(dump: DumpSet, found: Found) -> Place | None:
    """Where to jump from a mention, or None where nothing defines it."""
    subject = found.subject
    if isinstance(subject, ValueSubject):
        value = value_of(dump, subject)
        if value is None:
            return _instruction(dump, subject.key.partition("{")[0], None)
        return _of_value(value, from_header=found.is_own_header)
    if isinstance(subject, InstructionSubject):
        return _of_instruction(dump, found, subject)
    if isinstance(subject, ThunkSubject):
        name = instruction_of(dump, subject.row)
        return None if name is None else _instruction(dump, name, None)
    if isinstance(subject, ComputationSubject):
        return _computation(dump, subject.name) or _instruction(dump, subject.name, None)
    if isinstance(subject, AllocationSubject):
        allocation = dump.allocation(subject.number)
        return None if allocation is None else head_place(allocation)
    return None


def declaration(dump: DumpSet, found: Found) -> Place | None:
    """The allocation line of the value that is meant."""
    subject = found.subject
    value: Value | None = None
    if isinstance(subject, ValueSubject):
        value = value_of(dump, subject)
    elif isinstance(subject, InstructionSubject):
        value = dump.value_of_key(subject.name + (subject.index or "{}"))
    elif isinstance(subject, AllocationSubject):
        allocation = dump.allocation(subject.number)
        return None if allocation is None else head_place(allocation)
    return None if value is None or value.allocation is None else head_place(value.allocation)


def type_definition(dump: DumpSet, found: Found) -> Place | None:
    """The value that flows through an instruction: the one with a position there."""
    subject = found.subject
    if isinstance(subject, ValueSubject):
        return definition(dump, found)
    if not isinstance(subject, InstructionSubject):
        return None
    for entry in dump.entries_at(subject.name):
        for position in entry.record.positions:
            if position.name == subject.name and (position.index or "{}") == (
                subject.index or "{}"
            ):
                return head_place(entry)
    return None


def value_of(dump: DumpSet, subject: ValueSubject) -> Value | None:
    """The value that is meant: by its id, else by its name and index."""
    by_id = None if subject.id is None else dump.value(subject.id)
    return by_id or dump.value_of_key(subject.key)


def head_place(located: Located[Record]) -> Place:
    """The first line of a record, with the columns of the name it is about."""
    file, record = located.file, located.record
    line = record.line
    text = file.lines[line]
    start, end = name_columns(record, text)
    return Place(file, line, start, end)


def _of_value(value: Value, *, from_header: bool) -> Place | None:
    if value.entry is not None and not from_header:
        return head_place(value.entry)
    if value.assigned is not None:
        return head_place(value.assigned)
    return None if value.entry is None else head_place(value.entry)


def _of_instruction(dump: DumpSet, found: Found, subject: InstructionSubject) -> Place | None:
    if isinstance(found.record, InstructionLine):
        return _instruction(dump, subject.name, None)
    return _instruction(dump, subject.name, subject.index or "{}")


def _instruction(dump: DumpSet, name: str, index: str | None) -> Place | None:
    """An instruction: the value it defines at an index (where one is asked for), else its text."""
    if index is not None:
        value = dump.value_of_key(name + index)
        if value is not None and value.entry is not None:
            return head_place(value.entry)
    line = dump.instruction(name)
    if line is not None:
        return head_place(line)
    step = dump.step(name)
    return None if step is None else head_place(step)


def _computation(dump: DumpSet, name: str) -> Place | None:
    for file in dump.files:
        record = file.module.computations.first(name)
        if record is not None:
            return head_place(Located(file, record))
    return None


def all_places(places: Iterable[Place]) -> list[Place]:
    """Each place once, in the order of files and lines."""
    unique = {(place.file.uri, place.line, place.start): place for place in places}
    return [unique[key] for key in sorted(unique)]
