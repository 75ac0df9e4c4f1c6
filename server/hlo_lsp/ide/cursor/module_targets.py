"""Cursor targets in module text and in shapes."""

import re

from hlo_lsp.ide.cursor.targets import (
    AttributeTarget,
    ComputationTarget,
    CursorTarget,
    InstructionTarget,
    LocationRowTarget,
    MemorySpaceTarget,
    ModuleTarget,
    ParameterTarget,
    ShapeTarget,
    TargetEntity,
    TermTarget,
    TupleElementTarget,
    name_columns,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, Statement
from hlo_lsp.model.shape import element_texts
from hlo_lsp.model.source import SourceTables
from hlo_lsp.syntax.instruction_text import (
    AttributeText,
    InstructionText,
    TextSpan,
    metadata_fields,
)
from hlo_lsp.syntax.line_fields import LineField, array_shape_at, fields_of_line, memory_space_at
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
from hlo_lsp.syntax.statements import top_level_commas


def shape_target(field: LineField, column: int) -> tuple[TargetEntity, TextSpan]:
    """Return the memory space or the array of a shape field at a column."""
    if field.role == "SHAPES":
        field = _row_shape(field, column)
    space = memory_space_at(field, column)
    if space is not None:
        return MemorySpaceTarget(space[1]), field_span(space[0])
    leaf = array_shape_at(field, column)
    return ShapeTarget(leaf.text, field.role == "SHAPE" or "T(" in leaf.text), field_span(leaf)


def field_span(field: LineField) -> TextSpan:
    """Return the span of a field in its line."""
    return TextSpan(field.start, field.end, field.text)


def _row_shape(field: LineField, column: int) -> LineField:
    """Return the shape at a column of a report row (``2×f32[8], (s8[], f32[4])``)."""
    start = field.start
    for text in element_texts(f"({field.text})") or [field.text]:
        start = field.start + field.text.index(text, start - field.start)
        end = start + len(text)
        if column <= end:
            count, _, shape = text.rpartition("×")
            return LineField(field.role, start + len(count) + bool(count), end, shape)
        start = end
    return field


_NUMBER = re.compile(r"\d{1,9}")


def name_target(
    parsed: InstructionText, column: int, role: str
) -> tuple[TargetEntity, TextSpan] | None:
    """Return the shape or the name at a column: a result, operand, predecessor, or computation.

    Args:
        parsed: The instruction.
        column: Column in the instruction's text.
        role: Role of its shapes; ``SHAPE`` if their layouts describe memory.
    """
    if column in parsed.shape and parsed.shape.text:
        shape = parsed.shape
        return shape_target(LineField(role, shape.start, shape.end, shape.text), column)
    for number, span in enumerate(parsed.operands):
        if span.text and span.start - 1 <= column <= span.end:
            return InstructionTarget(span.text, None, number), span
    for span in (*parsed.reads, *parsed.predecessors):
        if span.start - 1 <= column <= span.end:
            return InstructionTarget(span.text, None), span
    for span in parsed.called:
        if span.start - 1 <= column <= span.end:
            return ComputationTarget(span.text), span
    return _operand_shape_target(parsed, column, role)


def instruction_attribute_target(
    parsed: InstructionText, column: int
) -> tuple[TargetEntity, TextSpan] | None:
    """Return the parameter number, the attribute, or the attribute part at a column."""
    opcode = parsed.opcode.text
    if opcode == "parameter" and column in parsed.literal:
        number = _NUMBER.search(parsed.literal.text)
        if number is not None:
            start = parsed.literal.start + number.start()
            span = TextSpan(start, start + len(number[0]), number[0])
            return ParameterTarget(int(number[0])), span
    for attribute in parsed.attributes:
        start = attribute.value.start - len(attribute.name) - 1
        if start <= column <= attribute.value.end:
            return _attribute_target(parsed, attribute, column)
    return None


def _attribute_target(
    parsed: InstructionText, attribute: AttributeText, column: int
) -> tuple[TargetEntity, TextSpan]:
    value = attribute.value
    name = TextSpan(value.start - len(attribute.name) - 1, value.start - 1, attribute.name)
    opcode = parsed.opcode.text
    if attribute.name == "metadata":
        found = _metadata_target(parsed, name.start, opcode, column)
        if found is not None:
            return found
    if attribute.name == "index" and opcode == "get-tuple-element":
        number = value.text.strip()
        if _NUMBER.fullmatch(number):
            return TupleElementTarget(parsed.name.text, int(number)), _stripped(value)
    entity = AttributeTarget(attribute.name, opcode, value.text.strip())
    return entity, name if column <= name.end or "\n" in value.text else _stripped(value)


def _metadata_target(
    parsed: InstructionText, at: int, opcode: str, column: int
) -> tuple[TargetEntity, TextSpan] | None:
    for field in metadata_fields(parsed.line, at):
        if field.start <= column <= field.end:
            span = TextSpan(field.start, field.end, parsed.line[field.start : field.end])
            if field.name == "stack_frame_id" and _NUMBER.fullmatch(field.value):
                return LocationRowTarget("StackFrames", int(field.value)), span
            return AttributeTarget("metadata", opcode, field.value, field.name), span
    return None


def _operand_shape_target(
    parsed: InstructionText, column: int, role: str
) -> tuple[TargetEntity, TextSpan] | None:
    """Return the shape before an operand, which versions up to jax 0.4 print."""
    if not parsed.opcode.end < column < parsed.attributes_at:
        return None
    operands = LineField(role, 0, parsed.attributes_at, parsed.line[: parsed.attributes_at])
    leaf = array_shape_at(operands, column)
    return None if leaf is operands else shape_target(leaf, column)


def _stripped(span: TextSpan) -> TextSpan:
    text = span.text.strip()
    start = span.start + len(span.text) - len(span.text.lstrip())
    return TextSpan(start, start + len(text), text)


_ATTRIBUTE = re.compile(r"[\s,]*([\w\-]+)=")
_PARAMETER = re.compile(r"\(\s*(\d{1,9})\s*,")
_SIGNATURE_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*:")
_TABLE_OF_ROLE = {
    "FILE_NAME_ID": "FileNames",
    "FUNCTION_NAME_ID": "FunctionNames",
    "FILE_LOCATION_ID": "FileLocations",
    "PARENT_FRAME_ID": "StackFrames",
}


def module_text_target(
    file: DumpFile, record: Record, line: int, column: int
) -> CursorTarget | None:
    """Return the target at a line and column of a module record."""
    text = file.lines[line]
    if isinstance(record, InstructionLine):
        return _instruction_target(file, record, line, column)
    found: tuple[TargetEntity, TextSpan] | None = None
    if isinstance(record, ComputationLine):
        if record.members:
            member = _member_at(record.members, line, column)
            if member is not None:
                return _instruction_target(file, member, line, column)
        found = _computation_head_target(record, text, line, column)
    elif isinstance(record, ModuleHeader):
        statement = Statement(file, record.line, record.text)
        entity, span = _module_header_target(record, statement.offset(line, column))
        return CursorTarget(
            entity, statement.place(span.start, span.end), record, line - record.line
        )
    elif isinstance(record, TableLabel):
        found = TermTarget(record.table), _line_span(text)
    elif isinstance(record, FrameRow | LocationRow | NameRow):
        found = _location_row_target(file, record, text, column)
    elif isinstance(record, ComputationEnd):
        found = _computation_end_target(file, record, text)
    if found is None:
        return None
    entity, span = found
    return CursorTarget(entity, Place(file, line, span.start, span.end), record, line - record.line)


def _instruction_target(
    file: DumpFile, record: InstructionLine, line: int, column: int
) -> CursorTarget | None:
    """Return the target in an instruction or in an instruction nested in it."""
    offset = Statement(file, record.line, record.text).offset(line, column)
    parsed = record.parsed
    for attribute, body in zip(parsed.bodies, record.bodies, strict=False):
        if offset in attribute.value:
            member = _member_at(body.members, line, column)
            if member is not None:
                return _instruction_target(file, member, line, column)
    # Before buffer assignment and inside fusions, printed layouts do not describe memory.
    entity, span = (
        name_target(parsed, offset, "RESULT")
        or instruction_attribute_target(parsed, offset)
        or (InstructionTarget(parsed.name.text, None), parsed.name)
    )
    return CursorTarget(entity, place_in(file, record, span), record, line - record.line)


def place_in(file: DumpFile, record: InstructionLine, span: TextSpan) -> Place:
    """Return the place of a part of an instruction's text in the file."""
    return Statement(file, record.line, record.text).place(span.start, span.end)


def _member_at(
    members: tuple[InnerInstruction, ...], line: int, column: int
) -> InnerInstruction | None:
    started = [member for member in members if (member.line, member.start_column) <= (line, column)]
    return started[-1] if started else None


def _computation_head_target(
    record: ComputationLine, text: str, line: int, column: int
) -> tuple[TargetEntity, TextSpan] | None:
    if line == record.line:
        start, end = name_columns(record, text)
        if column <= end:
            return ComputationTarget(record.name), TextSpan(start, end, record.name)
    for match in _SIGNATURE_NAME.finditer(text):
        if match.start() <= column <= match.end(1):
            return InstructionTarget(match[1], None), TextSpan(
                match.start(1), match.end(1), match[1]
            )
    whole = LineField("SIGNATURE", 0, len(text), text)
    leaf = array_shape_at(whole, column)
    if leaf is not whole:
        return shape_target(leaf, column)
    return ComputationTarget(record.name), _line_span(text)


def _module_header_target(record: ModuleHeader, column: int) -> tuple[TargetEntity, TextSpan]:
    text = record.text
    start = text.index(record.name)
    name = TextSpan(start, start + len(record.name), record.name)
    begin = name.end
    for comma in (*top_level_commas(text, name.end, len(text)), len(text)):
        match = _ATTRIBUTE.match(text, begin, comma)
        if match is not None and begin < column <= comma:
            return _header_attribute_target(text, match, comma, column)
        begin = comma
    return ModuleTarget(record.name), name


def _header_attribute_target(
    text: str, match: "re.Match[str]", end: int, column: int
) -> tuple[TargetEntity, TextSpan]:
    name = match[1]
    if name in {"input_output_alias", "buffer_donor"}:
        for number in _PARAMETER.finditer(text, match.end(), end):
            if number.start(1) <= column <= number.end(1):
                span = TextSpan(number.start(1), number.end(1), number[1])
                return ParameterTarget(int(number[1])), span
    if name == "entry_computation_layout" and column > match.end():
        value = LineField("LAYOUT", match.end(), end, text[match.end() : end])
        leaf = array_shape_at(value, column)
        if leaf is not value:
            return shape_target(leaf, column)
    entity = AttributeTarget(name, "", text[match.end() : end])
    return entity, TextSpan(match.start(1), match.end(1), name)


def _location_row_target(
    file: DumpFile, record: FrameRow | LocationRow | NameRow, text: str, column: int
) -> tuple[TargetEntity, TextSpan] | None:
    for field in fields_of_line(record.rule, text):
        if field.role not in _TABLE_OF_ROLE:
            continue
        begin = max(text.rfind(" ", 0, field.start), text.rfind("{", 0, field.start)) + 1
        number = int(field.text) - (field.role == "PARENT_FRAME_ID")
        if begin <= column <= field.end and number > 0:
            span = TextSpan(begin, field.end, text[begin : field.end])
            return LocationRowTarget(_TABLE_OF_ROLE[field.role], number), span
    own = location_row_number(file.module.tables, record)
    return None if own is None else (LocationRowTarget(*own), _line_span(text))


def location_row_number(
    tables: SourceTables, record: FrameRow | LocationRow | NameRow
) -> tuple[str, int] | None:
    """Return the table of a row and its position there, counted from 1.

    XLA ignores the printed row number.
    """
    for name, rows in tables.rows.items():
        for number, row in enumerate(rows, 1):
            if row is record:
                return name, number
    return None


def _computation_end_target(
    file: DumpFile, record: ComputationEnd, text: str
) -> tuple[TargetEntity, TextSpan] | None:
    head = file.records.head_of(record)
    if not isinstance(head, ComputationLine):
        return None
    return ComputationTarget(head.name), _line_span(text)


def _line_span(text: str) -> TextSpan:
    start = len(text) - len(text.lstrip())
    return TextSpan(start, len(text.rstrip()), text.strip())
