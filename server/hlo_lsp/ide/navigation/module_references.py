"""References to instructions, computations, and location table rows in module text."""

import re
from collections.abc import Iterable, Iterator

from hlo_lsp.ide.cursor.module_targets import place_in
from hlo_lsp.ide.cursor.resolution import enclosing_computation
from hlo_lsp.ide.cursor.targets import CursorTarget, LocationRowTarget
from hlo_lsp.ide.navigation.definitions import head_place
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord, Place, Statement
from hlo_lsp.program.dataflow import operands_of_parameter
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record

# The declarations and the other mentions.
ReferencePlaces = tuple[list[Place], list[Place]]

_TABLE_FIELDS = {
    "StackFrames": "parent_frame_id=",
    "FileLocations": "file_location_id=",
    "FileNames": "file_name_id=",
    "FunctionNames": "function_name_id=",
}


def instruction_mentions(line: LocatedRecord[InstructionLine]) -> Iterator[Place]:
    """Yield the operands, control predecessors, and signature entries that name an instruction."""
    file, record = line.file, line.record
    scope = file.module.scope_of(record)
    for other in file.module.mentioning(record.name):
        if file.module.scope_of(other) is not scope:
            continue
        parsed = other.parsed
        for span in (*parsed.reads, *parsed.predecessors):
            if span.text == record.name:
                yield place_in(file, other, span)
    if record.opcode == "parameter" and isinstance(scope, ComputationLine) and scope.signature:
        yield from _signature_mentions(file, scope, record.name)


def operand_mentions(dump: DumpSet, uses: Iterable[tuple[str, int]]) -> Iterator[Place]:
    """Yield the places of the operands with these instruction names and operand numbers."""
    for name, operand in uses:
        user = dump.instruction(name)
        if user is not None:
            operands = user.record.parsed.operands
            if operand < len(operands):
                yield place_in(user.file, user.record, operands[operand])


def computation_places(head: LocatedRecord[ComputationLine] | None) -> ReferencePlaces:
    """Return the heads of a computation, and the attributes that call it."""
    if head is None:
        return [], []
    file, name = head.file, head.record.name
    declared = [
        head_place(LocatedRecord(file, record)) for record in file.module.computations.all(name)
    ]
    return declared, [
        place_in(file, caller, span)
        for caller in file.module.callers(head.record)
        for span in caller.parsed.called
        if span.text == name
    ]


def parameter_places(target: CursorTarget, number: int) -> ReferencePlaces:
    """Return the place of a parameter, and its mentions with the operands that are passed to it."""
    head = enclosing_computation(target)
    if head is None:
        return [], []
    module = head.file.module
    parameter = module.computation(head.record).parameters.get(number)
    if parameter is None:
        return [], []
    line = LocatedRecord(head.file, parameter)
    mentioned = list(instruction_mentions(line))
    for caller, operand in operands_of_parameter(module, parameter):
        spans = [span for span in caller.parsed.reads if span.text == operand.name]
        mentioned += [place_in(head.file, caller, span) for span in spans]
    return [head_place(line)], mentioned


def location_row_places(
    dump: DumpSet, target: CursorTarget, subject: LocationRowTarget
) -> ReferencePlaces:
    """Return the place of a table row, and the other rows and instructions that refer to it."""
    for file in (target.place.file, *dump.files):
        rows = file.module.tables.rows[subject.table]
        if 0 < subject.number <= len(rows):
            declared = [head_place(LocatedRecord(file, rows[subject.number - 1]))]
            return declared, [
                *_table_row_references(file, subject),
                *_metadata_references(file, subject),
            ]
    return [], []


def _table_row_references(file: DumpFile, subject: LocationRowTarget) -> Iterator[Place]:
    printed = subject.number + (subject.table == "StackFrames")  # XLA prints parent ids plus one.
    expression = re.compile(rf"{_TABLE_FIELDS[subject.table]}{printed}(?!\d)")
    tables = file.module.tables
    rows: list[Record] = [*tables.locations, *tables.frames]
    for row in rows:
        match = expression.search(file.lines[row.line])
        if match is not None:
            yield Place(file, row.line, match.start(), match.end())


def _metadata_references(file: DumpFile, subject: LocationRowTarget) -> Iterator[Place]:
    if subject.table != "StackFrames":
        return
    words = f"stack_frame_id={subject.number}"
    for record in file.module.instructions.records():
        start = record.text.find(words)
        while start >= 0:
            end = start + len(words)
            if not record.text[end : end + 1].isdigit():
                yield Statement(file, record.line, record.text).place(start, end)
            start = record.text.find(words, end)


def _signature_mentions(file: DumpFile, head: ComputationLine, name: str) -> Iterator[Place]:
    expression = re.compile(rf"(?<![\w.\-]){re.escape(name)}(?=\s*:)")
    for line in range(head.line, head.line + head.line_count):
        match = expression.search(file.lines[line])
        if match is not None:
            yield Place(file, line, match.start(), match.end())
            return
