"""Every mention of a value, an instruction, an allocation."""

from collections.abc import Iterator

from hlo_lsp.analysis.navigation import all_places, head_place, value_of
from hlo_lsp.analysis.subject import (
    AllocationSubject,
    ComputationSubject,
    Found,
    InstructionSubject,
    Subject,
    ThunkSubject,
    ValueSubject,
)
from hlo_lsp.analysis.thunks import instruction_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.old_peaks import old_peak_key
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import Located, Value
from hlo_lsp.syntax.instruction_text import InstructionText, instruction_text
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import Position, Use, UsedValue


def declared_and_mentioned(dump: DumpSet, found: Found) -> tuple[list[Place], list[Place]]:
    """All mentions of what the cursor is on, in all files of the compile.

    Declarations are the line in the allocation and the header of the entry of a value, and the
    line of an instruction in the module text; no place is in both lists.
    """
    declared, mentioned = _places(dump, found.subject)
    return all_places(declared), all_places(mentioned)


def users_of(dump: DumpSet, name: str) -> list[str]:
    """The instructions with this one among their operands, in the order of the module text.

    Without module text: those that use a value which this instruction defines.
    """
    users: list[str] = []
    if dump.instruction(name) is None:
        for entry in dump.entries_at(name):
            if entry.record.name == name:
                users += [use.name for use in entry.record.uses]
        return list(dict.fromkeys(users))
    for file in dump.files:
        found = [
            record
            for record, text in _naming(file, name)
            if any(span.text == name for span in text.operands)
        ]
        users += [record.name for record in sorted(found, key=lambda record: record.line)]
    return users


def _places(dump: DumpSet, subject: Subject) -> tuple[list[Place], list[Place]]:
    if isinstance(subject, ValueSubject):
        value = value_of(dump, subject)
        return ([], []) if value is None else _of_value(dump, value)
    if isinstance(subject, InstructionSubject):
        return _of_instruction(dump, subject.name)
    if isinstance(subject, ThunkSubject):
        name = instruction_of(dump, subject.row)
        return ([], []) if name is None else _of_instruction(dump, name)
    if isinstance(subject, ComputationSubject):
        return _of_computation(dump, subject.name)
    if isinstance(subject, AllocationSubject):
        allocation = dump.allocation(subject.number)
        return ([] if allocation is None else [head_place(allocation)]), []
    return [], []


def _of_value(dump: DumpSet, value: Value) -> tuple[list[Place], list[Place]]:
    declared = [head_place(part) for part in (value.assigned, value.entry) if part is not None]
    mentioned = [] if value.live is None else [head_place(value.live)]
    if value.entry is not None:
        entry = value.entry
        mentioned += [_row_place(entry, row) for row in entry.record.positions]
        mentioned += [_row_place(entry, row) for row in entry.record.uses]
    for file in dump.files:
        for row in file.memory.peak_names.all(value.name):
            if (row.key or old_peak_key(file, row)) == value.key:
                mentioned.append(head_place(Located(file, row)))
    return declared, mentioned


def _of_instruction(dump: DumpSet, name: str) -> tuple[list[Place], list[Place]]:
    line = dump.instruction(name)
    return ([] if line is None else [head_place(line)]), list(_mentions(dump, name))


def _mentions(dump: DumpSet, name: str) -> Iterator[Place]:
    for entry in dump.entries_at(name):
        yield from (_row_place(entry, row) for row in entry.record.positions if row.name == name)
        if entry.record.name == name:
            yield head_place(entry)
            assigned = dump.find(lambda index: index.assigned, entry.record.id or 0)
            if assigned is not None:
                yield head_place(assigned)
            live = dump.live(entry.record.key or "")
            if live is not None:
                yield head_place(live)
    for entry in dump.entries_used_by(name):
        yield from (_row_place(entry, row) for row in entry.record.uses if row.name == name)
    for file in dump.files:
        for step in file.memory.step_names.all(name):
            yield head_place(Located(file, step))
        for peak in file.memory.peak_names.all(name):
            yield head_place(Located(file, peak))
        yield from _in_module(file, name)


def _of_computation(dump: DumpSet, name: str) -> tuple[list[Place], list[Place]]:
    declared = [
        head_place(Located(file, record))
        for file in dump.files
        for record in file.module.computations.all(name)
    ]
    return declared, [
        Place(file, record.line, span.start, span.end)
        for file in dump.files
        for record, text in _naming(file, name)
        for span in text.called
        if span.text == name
    ]


def _in_module(file: DumpFile, name: str) -> Iterator[Place]:
    """Where the texts of other instructions name this instruction."""
    for record, text in _naming(file, name):
        for span in (*text.operands, *text.predecessors):
            if span.text == name:
                yield Place(file, record.line, span.start, span.end)


def _naming(file: DumpFile, name: str) -> Iterator[tuple[InstructionLine, InstructionText]]:
    """The instructions whose text holds a name, perhaps only as a part of another."""
    for record in file.module.instructions.records():
        if name in record.text:
            parsed = instruction_text(record.text)
            if parsed is not None:
                yield record, parsed


def _row_place(entry: Located[UsedValue], row: Position | Use) -> Place:
    """The name (and index) in a position or use row."""
    start = 2
    end = start + len(row.name)
    if isinstance(row, Position) and row.index is not None:
        end = len(entry.record.lines[row.row])
    return Place(entry.file, entry.line + row.row, start, end)
