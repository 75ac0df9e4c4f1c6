"""Lookup of the cursor target at a position in any dump file."""

import re
from dataclasses import replace

from hlo_lsp.ide.cursor import targets
from hlo_lsp.ide.cursor.targets import CursorTarget, TargetEntity
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, Statement, name_columns, statement_at
from hlo_lsp.model.sections import peak_row_key
from hlo_lsp.model.shape import element_texts
from hlo_lsp.model.unknown_lines import is_shortened
from hlo_lsp.syntax import memory_records as memory
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.filecheck import capture_mentions
from hlo_lsp.syntax.instruction_text import (
    InstructionText,
    TextSpan,
    parse_instruction,
    parse_shortened,
)
from hlo_lsp.syntax.metadata_text import metadata_fields
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
from hlo_lsp.syntax.records import BrokenRecord, Label, Record
from hlo_lsp.syntax.scanners import ThunkRow, fields_of_line, rule_of
from hlo_lsp.syntax.statements import top_level_commas
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

Mention = tuple[TargetEntity, TextSpan]

_FLAGS = {"CONSTANT", "THREAD_LOCAL", "MAYBE_LIVE_OUT", "PREALLOCATED_TEMP", "PHI"}
_SHAPES = {"SHAPE", "PARAMETER_SHAPE", "OUTPUT_SHAPE"}
_VALUE_FIELDS = {"VALUE_ID", "NAME", "INDEX"}
_ARRAY_SHAPE = re.compile(r"(?<![a-z0-9])[a-z][a-z0-9]*\[[^\[\]]*\](?:\{[^{}]*\})?")
_MEMORY_SPACE = re.compile(r"S\((\d{1,18})\)")
_NUMBER = re.compile(r"\d{1,9}")
_ATTRIBUTE = re.compile(r"[\s,]*([\w\-]+)=")
_PARAMETER = re.compile(r"\(\s*(\d{1,9})\s*,")
_SIGNATURE_NAME = re.compile(r"(?<![\w.\-])%?([A-Za-z_][\w.\-]*)\s*:")
_TABLE_OF_ROLE = {field.upper(): table for table, field in targets.LOCATION_FIELDS.items()}


def cursor_target_at(file: DumpFile, line: int, column: int) -> CursorTarget | None:
    """Return the target at a line and column (code points, from 0) of an up-to-date file."""
    record = file.record_at(line, column)
    if record is None:
        return None
    if file.kind is FileKind.MODULE:
        for variable in capture_mentions(file.lines[line], line):
            if variable.start <= column <= variable.end:
                place = Place(file, line, variable.start, variable.end)
                return CursorTarget(targets.CaptureTarget(variable), place, record)
        return _module_target(file, record, line, column)
    statement = statement_at(file, record, line)
    text, rule = statement.text, rule_of(record, statement.text)
    if rule is None or not text:
        return None
    offset = statement.offset(line, column)
    if rule == "instruction_line":
        mention = _defining_instruction_mention(text, offset)
    else:
        mention = _field_mention(rule, text, offset) or _line_mention(file, record, rule, text)
    return _cursor_target(statement, mention, record)


def _cursor_target(
    statement: Statement, mention: Mention | None, record: Record
) -> CursorTarget | None:
    if mention is None:
        return None
    entity, span = mention
    return CursorTarget(entity, statement.place(span.start, span.end), record)


def _field_mention(rule: str, text: str, column: int) -> Mention | None:
    fields = [field for field in fields_of_line(rule, text) if column in field]
    # At the column after a field, the next one has precedence.
    field = next((field for field in fields if column < field.end), next(iter(fields), None))
    if field is None:
        return None
    if field.role == "SHAPES":
        return _shape_mention(_row_shape(field, column), column, has_layout=False)
    if field.role in _SHAPES:
        return _shape_mention(field, column, has_layout=field.role == "SHAPE")
    if field.role == "COLOR":
        return targets.MemorySpaceTarget(int(field.text)), field
    if field.role in _FLAGS:
        word = _stripped(field)
        return targets.TermTarget(word.text.strip("()")), word
    return (targets.TermTarget("page"), field) if field.role == "PAGE" else None


def _line_mention(file: DumpFile, record: Record, rule: str, text: str) -> Mention | None:
    """Return the entity that a line describes, with the columns of its name."""
    entity: TargetEntity
    match record:
        case memory.AssignedValue():
            entity = targets.ValueTarget(record.key, record.id)
        case UsedValue() if rule == "used_value_line":
            entity = targets.ValueTarget(record.key or "", record.id)
        case memory.RangeRow():
            entity = targets.ValueTarget(record.key, None)
        case memory.PeakRow():
            key = record.key or peak_row_key(file, record) or record.name + "{}"
            entity = targets.ValueTarget(key, None)
        case memory.SequenceRow():
            entity = targets.InstructionTarget(record.name, None)
        case memory.AllocationLine() | memory.ReportedAllocation():
            entity = targets.AllocationTarget(record.number)
        case memory.SpaceLine():
            entity = targets.MemorySpaceTarget(record.color)
        case ThunkRow():
            entity = targets.ThunkTarget(record)
        case _ if rule in {"position_row", "use_row"}:
            return _position_or_use_mention(rule, text)
        case _:
            entity = targets.TermTarget(record.name if isinstance(record, Label) else rule)
    return entity, _name_span(rule, text)


def _position_or_use_mention(rule: str, text: str) -> Mention | None:
    found = {field.role: field for field in fields_of_line(rule, text)}
    if "NAME" not in found:
        return None
    name, index, operand = found["NAME"], found.get("INDEX"), found.get("OPERAND")
    entity = targets.InstructionTarget(
        name.text,
        None if index is None else index.text,
        None if operand is None else int(operand.text),
    )
    return entity, name


def _name_span(rule: str, text: str) -> TextSpan:
    """Return the columns from the first to the last field of a value's name."""
    parts = [field for field in fields_of_line(rule, text) if field.role in _VALUE_FIELDS]
    if not parts:
        return _line_span(text)
    start, end = parts[0].start, parts[-1].end
    if text[start - 1 : start] == "<":
        start, end = start - 1, text.index(">", end) + 1
    return TextSpan(start, end, text[start:end])


def _defining_instruction_mention(text: str, column: int) -> Mention | None:
    begin = instruction_column(text)
    if column < begin:
        return targets.TermTarget("instruction_label"), TextSpan(1, begin, text[1:begin])
    parsed = parse_instruction(text, begin)
    if parsed is None:
        return None
    return _name_mention(parsed, column, has_layout=True) or _own_mention(parsed)


def _own_mention(parsed: InstructionText) -> Mention:
    return targets.InstructionTarget(parsed.name.text, None), parsed.name


def _shape_mention(shape: TextSpan, column: int, *, has_layout: bool) -> Mention:
    """Return the memory space or the array at a column of a shape, or the shape."""
    space = _part_at(_MEMORY_SPACE, shape, column)
    if space is not None:
        return targets.MemorySpaceTarget(int(space.text[2:-1])), space
    leaf = _part_at(_ARRAY_SHAPE, shape, column) or shape
    return targets.ShapeTarget(leaf.text, has_layout or "T(" in leaf.text), leaf


def _array_mention(text: TextSpan, column: int, *, has_layout: bool = False) -> Mention | None:
    """Return the array at a column of a text that also contains other things."""
    leaf = _part_at(_ARRAY_SHAPE, text, column)
    return None if leaf is None else _shape_mention(leaf, column, has_layout=has_layout)


def _part_at(expression: re.Pattern[str], span: TextSpan, column: int) -> TextSpan | None:
    for match in expression.finditer(span.text):
        found = TextSpan(span.start + match.start(), span.start + match.end(), match[0])
        if column in found:
            return found
    return None


def _row_shape(field: TextSpan, column: int) -> TextSpan:
    """Return the shape at a column of a report row (``2×f32[8], (s8[], f32[4])``)."""
    end = field.start
    for text in element_texts(f"({field.text})") or [field.text]:
        start = field.start + field.text.index(text, end - field.start)
        end = start + len(text)
        if column <= end:
            count, _, shape = text.rpartition("×")
            return TextSpan(start + len(count) + bool(count), end, shape)
    return field


def _name_mention(parsed: InstructionText, column: int, *, has_layout: bool) -> Mention | None:
    """Return the shape or the name at a column: a result, operand, predecessor, or computation.

    ``has_layout`` is true if the layouts of the instruction's shapes describe memory.
    """
    if column in parsed.shape and parsed.shape.text:
        return _shape_mention(parsed.shape, column, has_layout=has_layout)
    operands = enumerate(parsed.operands)
    entities: list[Mention] = [
        *((targets.InstructionTarget(span.text, None, number), span) for number, span in operands),
        *((targets.InstructionTarget(span.text, None), span) for span in parsed.reads),
        *((targets.InstructionTarget(span.text, None), span) for span in parsed.predecessors),
        *((targets.ComputationTarget(span.text), span) for span in parsed.called),
    ]
    for entity, span in entities:
        if span.text and span.start - 1 <= column <= span.end:
            return _element_mention(entity, span, column) or (entity, span)
    if not parsed.opcode.end < column < parsed.attributes_at:
        return None
    operand_text = parsed.line[: parsed.attributes_at]  # Versions up to jax 0.4 print its shapes.
    whole = TextSpan(0, parsed.attributes_at, operand_text)
    return _array_mention(whole, column, has_layout=has_layout)


def _element_mention(entity: TargetEntity, span: TextSpan, column: int) -> Mention | None:
    """Return the element of a tuple at the tuple's name in ``tuple#1``; None elsewhere."""
    holder, mark, _ = span.text.partition("#")
    end = span.start + len(holder)
    if not mark or column > end or not isinstance(entity, targets.InstructionTarget):
        return None
    return replace(entity, holder=holder), TextSpan(span.start, end, holder)


def _attribute_mention(parsed: InstructionText, column: int) -> Mention | None:
    opcode, literal = parsed.opcode.text, _stripped(parsed.literal)
    if opcode == "parameter" and column in parsed.literal and _NUMBER.fullmatch(literal.text):
        return targets.ParameterTarget(int(literal.text)), literal
    for attribute in parsed.attributes:
        start = attribute.value.start - len(attribute.name) - 1
        if start <= column <= attribute.value.end:
            break
    else:
        return None
    value = _stripped(attribute.value)
    if attribute.name == "metadata":
        for field in metadata_fields(parsed.line, start):
            if field.start <= column <= field.end:
                span = TextSpan(field.start, field.end, parsed.line[field.start : field.end])
                if field.name == "stack_frame_id" and _NUMBER.fullmatch(field.value):
                    return targets.LocationRowTarget("StackFrames", int(field.value)), span
                return targets.AttributeTarget("metadata", opcode, field.value, field.name), span
    if (attribute.name, opcode) == ("index", "get-tuple-element") and _NUMBER.fullmatch(value.text):
        return targets.TupleElementTarget(parsed.name.text, int(value.text)), value
    name = TextSpan(start, start + len(attribute.name), attribute.name)
    entity = targets.AttributeTarget(attribute.name, opcode, value.text)
    return entity, name if column <= name.end or "\n" in attribute.value.text else value


def _module_target(file: DumpFile, record: Record, line: int, column: int) -> CursorTarget | None:
    text = file.lines[line]
    statement = Statement(file, line, text)
    mention: Mention | None
    match record:
        case InstructionLine():
            return _instruction_target(file, record, line, column)
        case ComputationLine():
            member = _member_at(record.members, line, column)
            if member is not None:
                return _instruction_target(file, member, line, column)
            mention = _computation_head_mention(record, text, line, column)
        case ModuleHeader():
            statement = Statement(file, record.line, record.text)
            mention = _module_header_mention(record, statement.offset(line, column))
        case TableLabel():
            mention = targets.TermTarget(record.table), _line_span(text)
        case FrameRow() | LocationRow() | NameRow():
            mention = _location_row_mention(file, record, text, column)
        case ComputationEnd():
            head = file.records.head_of(record)
            if not isinstance(head, ComputationLine):
                return None
            mention = targets.ComputationTarget(head.name), _line_span(text)
        case BrokenRecord() if is_shortened(record.text):
            statement = Statement(file, record.line, record.text)
            shortened = parse_shortened(record.text)
            if shortened is None:
                return None
            mention = _instruction_mention(shortened, statement.offset(line, column))
        case _:
            return None
    return _cursor_target(statement, mention, record)


def _instruction_target(
    file: DumpFile, record: InstructionLine, line: int, column: int
) -> CursorTarget | None:
    statement = Statement(file, record.line, record.text)
    offset = statement.offset(line, column)
    parsed = record.parsed
    for attribute, body in zip(parsed.bodies, record.bodies, strict=False):
        member = _member_at(body.members, line, column) if offset in attribute.value else None
        if member is not None:
            return _instruction_target(file, member, line, column)
    return _cursor_target(statement, _instruction_mention(parsed, offset), record)


def _instruction_mention(parsed: InstructionText, column: int) -> Mention:
    # Before buffer assignment and inside fusions, printed layouts do not describe memory.
    mention = _name_mention(parsed, column, has_layout=False) or _attribute_mention(parsed, column)
    return mention or _own_mention(parsed)


def _member_at(
    members: tuple[InnerInstruction, ...], line: int, column: int
) -> InnerInstruction | None:
    started = [member for member in members if (member.line, member.start_column) <= (line, column)]
    is_inside = started and line < started[-1].line + started[-1].line_count
    return started[-1] if is_inside else None


def _computation_head_mention(
    record: ComputationLine, text: str, line: int, column: int
) -> Mention:
    if line == record.line:
        start, end = name_columns(record, text)
        if column <= end:
            return targets.ComputationTarget(record.name), TextSpan(start, end, record.name)
    for match in _SIGNATURE_NAME.finditer(text):
        if match.start() <= column <= match.end(1):
            return targets.InstructionTarget(match[1], None), TextSpan(*match.span(1), match[1])
    array = _array_mention(TextSpan(0, len(text), text), column)
    return array or (targets.ComputationTarget(record.name), _line_span(text))


def _module_header_mention(record: ModuleHeader, column: int) -> Mention:
    text = record.text
    name = TextSpan(record.name_end - len(record.name), record.name_end, record.name)
    begin = name.end
    for comma in (*top_level_commas(text, name.end, len(text)), len(text)):
        match = _ATTRIBUTE.match(text, begin, comma)
        if match is not None and begin < column <= comma:
            return _header_attribute_mention(text, match, comma, column)
        begin = comma
    return targets.ModuleTarget(record.name), name


def _header_attribute_mention(text: str, match: "re.Match[str]", end: int, column: int) -> Mention:
    name, value = match[1], text[match.end() : end]
    if name in {"input_output_alias", "buffer_donor"}:
        for number in _PARAMETER.finditer(text, match.end(), end):
            if number.start(1) <= column <= number.end(1):
                return targets.ParameterTarget(int(number[1])), TextSpan(*number.span(1), number[1])
    if name == "entry_computation_layout" and column > match.end():
        array = _array_mention(TextSpan(match.end(), end, value), column)
        if array is not None:
            return array
    return targets.AttributeTarget(name, "", value), TextSpan(*match.span(1), name)


def _location_row_mention(
    file: DumpFile, record: FrameRow | LocationRow | NameRow, text: str, column: int
) -> Mention | None:
    for field in fields_of_line(record.rule, text):
        if field.role not in _TABLE_OF_ROLE:
            continue
        begin = max(text.rfind(" ", 0, field.start), text.rfind("{", 0, field.start)) + 1
        number = int(field.text) - (field.role == "PARENT_FRAME_ID")
        if begin <= column <= field.end and number > 0:
            span = TextSpan(begin, field.end, text[begin : field.end])
            return targets.LocationRowTarget(_TABLE_OF_ROLE[field.role], number), span
    for name, rows in file.module.tables.rows.items():
        for number, row in enumerate(rows, 1):  # XLA ignores the printed row number.
            if row is record:
                return targets.LocationRowTarget(name, number), _line_span(text)
    return None


def _line_span(text: str) -> TextSpan:
    return _stripped(TextSpan(0, len(text), text))


def _stripped(span: TextSpan) -> TextSpan:
    text = span.text.strip()
    start = span.start + len(span.text) - len(span.text.lstrip())
    return TextSpan(start, start + len(text), text)
