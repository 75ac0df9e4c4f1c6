"""What the cursor is on inside of a shape."""

import re

from hlo_lsp.ide.cursor.targets import (
    AttributeSubject,
    ComputationSubject,
    ElementSubject,
    Found,
    InstructionSubject,
    ModuleSubject,
    ParameterSubject,
    RowSubject,
    ShapeSubject,
    SpaceSubject,
    Subject,
    WordSubject,
    name_columns,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, Statement
from hlo_lsp.model.shape import element_texts
from hlo_lsp.model.source import SourceTables
from hlo_lsp.syntax.instruction_text import Attribute, InstructionText, Span
from hlo_lsp.syntax.metadata import metadata_fields
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    FrameRow,
    InnerInstruction,
    InstructionLine,
    LocationRow,
    ModuleHeader,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.statements import commas
from hlo_lsp.syntax.tokens import Field, fields, leaf_at, space_at


def in_shape(field: Field, column: int) -> tuple[Subject, Span]:
    """The memory space, or the array of a shape field, under a column."""
    if field.role == "SHAPES":
        field = _row_shape(field, column)
    space = space_at(field, column)
    if space is not None:
        return SpaceSubject(space[1]), span_of(space[0])
    leaf = leaf_at(field, column)
    return ShapeSubject(leaf.text, field.role == "SHAPE" or "T(" in leaf.text), span_of(leaf)


def span_of(field: Field) -> Span:
    """Where a field stands."""
    return Span(field.start, field.end, field.text)


def _row_shape(field: Field, column: int) -> Field:
    """The shape of a report row (``2×f32[8], (s8[], f32[4])``) that a column is in or next to."""
    start = field.start
    for text in element_texts(f"({field.text})") or [field.text]:
        start = field.start + field.text.index(text, start - field.start)
        end = start + len(text)
        if column <= end:
            count, _, shape = text.rpartition("×")
            return Field(field.role, start + len(count) + bool(count), end, shape)
        start = end
    return field


_NUMBER = re.compile(r"\d{1,9}")


def in_names(parsed: InstructionText, column: int, role: str) -> tuple[Subject, Span] | None:
    """A shape or a name under a column: the result, an operand, a predecessor, a computation.

    ``role`` says what a shape is: ``SHAPE`` where its layout is that of memory.
    """
    if column in parsed.shape and parsed.shape.text:
        shape = parsed.shape
        return in_shape(Field(role, shape.start, shape.end, shape.text), column)
    for number, span in enumerate(parsed.operands):
        if span.text and span.start - 1 <= column <= span.end:
            return InstructionSubject(span.text, None, number), span
    for span in (*parsed.reads, *parsed.predecessors):
        if span.start - 1 <= column <= span.end:
            return InstructionSubject(span.text, None), span
    for span in parsed.called:
        if span.start - 1 <= column <= span.end:
            return ComputationSubject(span.text), span
    return _in_operand_shape(parsed, column, role)


def in_attributes(parsed: InstructionText, column: int) -> tuple[Subject, Span] | None:
    """The parameter's number, an attribute or a part of it under a column."""
    opcode = parsed.opcode.text
    if opcode == "parameter" and column in parsed.literal:
        number = _NUMBER.search(parsed.literal.text)
        if number is not None:
            start = parsed.literal.start + number.start()
            span = Span(start, start + len(number[0]), number[0])
            return ParameterSubject(int(number[0])), span
    for attribute in parsed.attributes:
        start = attribute.value.start - len(attribute.name) - 1
        if start <= column <= attribute.value.end:
            return _in_attribute(parsed, attribute, column)
    return None


def _in_attribute(
    parsed: InstructionText, attribute: Attribute, column: int
) -> tuple[Subject, Span]:
    value = attribute.value
    name = Span(value.start - len(attribute.name) - 1, value.start - 1, attribute.name)
    opcode = parsed.opcode.text
    if attribute.name == "metadata":
        found = _in_metadata(parsed, name.start, opcode, column)
        if found is not None:
            return found
    if attribute.name == "index" and opcode == "get-tuple-element":
        number = value.text.strip()
        if _NUMBER.fullmatch(number):
            return ElementSubject(parsed.name.text, int(number)), _stripped(value)
    subject = AttributeSubject(attribute.name, opcode, value.text.strip())
    return subject, name if column <= name.end or "\n" in value.text else _stripped(value)


def _in_metadata(
    parsed: InstructionText, at: int, opcode: str, column: int
) -> tuple[Subject, Span] | None:
    for field in metadata_fields(parsed.line, at):
        if field.start <= column <= field.end:
            span = Span(field.start, field.end, parsed.line[field.start : field.end])
            if field.name == "stack_frame_id" and _NUMBER.fullmatch(field.value):
                return RowSubject("StackFrames", int(field.value)), span
            return AttributeSubject("metadata", opcode, field.value, field.name), span
    return None


def _in_operand_shape(
    parsed: InstructionText, column: int, role: str
) -> tuple[Subject, Span] | None:
    """The shape in front of an operand, which texts up to jax 0.4 print."""
    if not parsed.opcode.end < column < parsed.attributes_at:
        return None
    operands = Field(role, 0, parsed.attributes_at, parsed.line[: parsed.attributes_at])
    leaf = leaf_at(operands, column)
    return None if leaf is operands else in_shape(leaf, column)


def _stripped(span: Span) -> Span:
    text = span.text.strip()
    start = span.start + len(span.text) - len(span.text.lstrip())
    return Span(start, start + len(text), text)


_ATTRIBUTE = re.compile(r"[\s,]*([\w\-]+)=")
_PARAMETER = re.compile(r"\(\s*(\d{1,9})\s*,")
_SIGNED_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*:")
_ROWS = {
    "FILE_NAME_ID": "FileNames",
    "FUNCTION_NAME_ID": "FunctionNames",
    "FILE_LOCATION_ID": "FileLocations",
    "PARENT_FRAME_ID": "StackFrames",
}


def module_subject(file: DumpFile, record: Record, line: int, column: int) -> Found | None:
    """What stands at a line and column of a record of module text."""
    text = file.lines[line]
    if isinstance(record, InstructionLine):
        return _in_instruction(file, record, line, column)
    found: tuple[Subject, Span] | None = None
    if isinstance(record, ComputationLine):
        if record.members:
            member = _member(record.members, line, column)
            if member is not None:
                return _in_instruction(file, member, line, column)
        found = _in_head(record, text, line, column)
    elif isinstance(record, ModuleHeader):
        statement = Statement(file, record.line, record.text)
        subject, span = _in_header(record, statement.offset(line, column))
        return Found(subject, statement.place(span.start, span.end), record, line - record.line)
    elif isinstance(record, TableLabel):
        found = WordSubject(record.table), _whole(text)
    elif isinstance(record, FrameRow | LocationRow | NameRow):
        found = _in_row(file, record, text, column)
    elif isinstance(record, ComputationEnd):
        found = _at_end(file, record, text)
    if found is None:
        return None
    subject, span = found
    return Found(subject, Place(file, line, span.start, span.end), record, line - record.line)


def _in_instruction(
    file: DumpFile, record: InstructionLine, line: int, column: int
) -> Found | None:
    """In an instruction, or in one that is written out inside of it."""
    offset = Statement(file, record.line, record.text).offset(line, column)
    parsed = record.parsed
    for attribute, body in zip(parsed.bodies, record.bodies, strict=False):
        if offset in attribute.value:
            member = _member(body.members, line, column)
            if member is not None:
                return _in_instruction(file, member, line, column)
    # In module text the layout need not be that of memory: before assignment, inside a fusion.
    subject, span = (
        in_names(parsed, offset, "RESULT")
        or in_attributes(parsed, offset)
        or (InstructionSubject(parsed.name.text, None), parsed.name)
    )
    return Found(subject, place_in(file, record, span), record, line - record.line)


def place_in(file: DumpFile, record: InstructionLine, span: Span) -> Place:
    """Return the place of a part of an instruction's text in the file."""
    return Statement(file, record.line, record.text).place(span.start, span.end)


def _member(
    members: tuple[InnerInstruction, ...], line: int, column: int
) -> InnerInstruction | None:
    begun = [member for member in members if (member.line, member.begins) <= (line, column)]
    return begun[-1] if begun else None


def _in_head(
    record: ComputationLine, text: str, line: int, column: int
) -> tuple[Subject, Span] | None:
    if line == record.line:
        start, end = name_columns(record, text)
        if column <= end:
            return ComputationSubject(record.name), Span(start, end, record.name)
    for match in _SIGNED_NAME.finditer(text):
        if match.start() <= column <= match.end(1):
            return InstructionSubject(match[1], None), Span(match.start(1), match.end(1), match[1])
    whole = Field("SIGNATURE", 0, len(text), text)
    leaf = leaf_at(whole, column)
    if leaf is not whole:
        return in_shape(leaf, column)
    return ComputationSubject(record.name), _whole(text)


def _in_header(record: ModuleHeader, column: int) -> tuple[Subject, Span]:
    text = record.text
    start = text.index(record.name)
    name = Span(start, start + len(record.name), record.name)
    begin = name.end
    for comma in (*commas(text, name.end, len(text)), len(text)):
        match = _ATTRIBUTE.match(text, begin, comma)
        if match is not None and begin < column <= comma:
            return _in_header_attribute(text, match, comma, column)
        begin = comma
    return ModuleSubject(record.name), name


def _in_header_attribute(
    text: str, match: "re.Match[str]", end: int, column: int
) -> tuple[Subject, Span]:
    name = match[1]
    if name in {"input_output_alias", "buffer_donor"}:
        for number in _PARAMETER.finditer(text, match.end(), end):
            if number.start(1) <= column <= number.end(1):
                span = Span(number.start(1), number.end(1), number[1])
                return ParameterSubject(int(number[1])), span
    if name == "entry_computation_layout" and column > match.end():
        value = Field("LAYOUT", match.end(), end, text[match.end() : end])
        leaf = leaf_at(value, column)
        if leaf is not value:
            return in_shape(leaf, column)
    subject = AttributeSubject(name, "", text[match.end() : end])
    return subject, Span(match.start(1), match.end(1), name)


def _in_row(
    file: DumpFile, record: FrameRow | LocationRow | NameRow, text: str, column: int
) -> tuple[Subject, Span] | None:
    for field in fields(record.rule, text):
        if field.role not in _ROWS:
            continue
        begin = max(text.rfind(" ", 0, field.start), text.rfind("{", 0, field.start)) + 1
        number = int(field.text) - (field.role == "PARENT_FRAME_ID")
        if begin <= column <= field.end and number > 0:
            span = Span(begin, field.end, text[begin : field.end])
            return RowSubject(_ROWS[field.role], number), span
    own = row_number(file.module.tables, record)
    return None if own is None else (RowSubject(*own), _whole(text))


def row_number(
    tables: SourceTables, record: FrameRow | LocationRow | NameRow
) -> tuple[str, int] | None:
    """The table of a row and its place there, from 1: XLA ignores the number that is printed."""
    for name, rows in tables.rows.items():
        for number, row in enumerate(rows, 1):
            if row is record:
                return name, number
    return None


def _at_end(file: DumpFile, record: ComputationEnd, text: str) -> tuple[Subject, Span] | None:
    head = file.records.head_of(record)
    if not isinstance(head, ComputationLine):
        return None
    return ComputationSubject(head.name), _whole(text)


def _whole(text: str) -> Span:
    start = len(text) - len(text.lstrip())
    return Span(start, len(text.rstrip()), text.strip())
