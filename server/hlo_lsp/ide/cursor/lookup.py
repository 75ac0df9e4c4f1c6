"""Lookup of the cursor target at a position in any dump file."""

from hlo_lsp.ide.cursor.module_targets import (
    field_span,
    module_text_target,
    name_target,
    shape_target,
)
from hlo_lsp.ide.cursor.targets import (
    AllocationTarget,
    CursorTarget,
    InstructionTarget,
    MemorySpaceTarget,
    TargetEntity,
    TermTarget,
    ThunkTarget,
    ValueTarget,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.peak_rows import peak_row_key
from hlo_lsp.model.place import statement_at
from hlo_lsp.syntax import memory_records as memory
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import TextSpan, parse_instruction
from hlo_lsp.syntax.line_fields import field_at, fields_of_line, rule_of
from hlo_lsp.syntax.records import Label, Record
from hlo_lsp.syntax.scanners import ThunkRow
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

_FLAGS = {"CONSTANT", "THREAD_LOCAL", "MAYBE_LIVE_OUT", "PREALLOCATED_TEMP", "PHI"}
_SHAPES = {"SHAPE", "PARAMETER_SHAPE", "OUTPUT_SHAPE", "SHAPES"}
_VALUE_FIELDS = {"VALUE_ID", "NAME", "INDEX"}


def cursor_target_at(file: DumpFile, line: int, column: int) -> CursorTarget | None:
    """Return the target at a position in an up-to-date file.

    Args:
        file: The file, with records that match its text.
        line: Line, counted from 0.
        column: Column in code points, counted from 0.
    """
    record = file.record_at(line, column)
    if record is None:
        return None
    if file.kind is FileKind.MODULE:
        return module_text_target(file, record, line, column)
    statement = statement_at(file, record, line)
    text = statement.text
    rule = rule_of(record, text)
    if rule is None or not text:
        return None
    offset = statement.offset(line, column)
    if rule == "instruction_line":
        found = _instruction_target(text, offset)
    else:
        found = _field_target(file, record, rule, text, offset)
    if found is None:
        return None
    entity, span = found
    return CursorTarget(entity, statement.place(span.start, span.end), record, line - record.line)


def _field_target(
    file: DumpFile, record: Record, rule: str, text: str, column: int
) -> tuple[TargetEntity, TextSpan] | None:
    field = field_at(rule, text, column)
    if field is not None:
        if field.role in _SHAPES:
            return shape_target(field, column)
        if field.role == "COLOR":
            return MemorySpaceTarget(int(field.text)), field_span(field)
        if field.role in _FLAGS:
            word = field.text.strip()
            start = field.end - len(word)
            return TermTarget(word.strip("()")), TextSpan(start, field.end, word)
        if field.role == "PAGE":
            return TermTarget("page"), field_span(field)
    return _line_target(file, record, rule, text)


def _line_target(
    file: DumpFile, record: Record, rule: str, text: str
) -> tuple[TargetEntity, TextSpan] | None:
    """Return the entity that a line describes, with the columns of its name."""
    entity: TargetEntity
    if isinstance(record, memory.AssignedValue):
        entity = ValueTarget(record.key, record.id)
    elif isinstance(record, UsedValue) and rule == "used_value_line":
        entity = ValueTarget(record.key or "", record.id)
    elif isinstance(record, memory.RangeRow):
        entity = ValueTarget(record.key, None)
    elif isinstance(record, memory.PeakRow):
        key = record.key or peak_row_key(file, record) or record.name + "{}"
        entity = ValueTarget(key, None)
    elif isinstance(record, memory.SequenceRow):
        entity = InstructionTarget(record.name, None)
    elif isinstance(record, memory.AllocationLine | memory.ReportedAllocation):
        entity = AllocationTarget(record.number)
    elif isinstance(record, memory.SpaceLine):
        entity = MemorySpaceTarget(record.color)
    elif isinstance(record, ThunkRow):
        entity = ThunkTarget(record)
    elif rule in {"position_row", "use_row"}:
        return _position_or_use_target(rule, text)
    elif isinstance(record, Label) or rule in {"positions_label", "uses_label"}:
        entity = TermTarget(record.name if isinstance(record, Label) else rule)
    else:
        entity = TermTarget(rule)
    return entity, _name_span(rule, text)


def _position_or_use_target(rule: str, text: str) -> tuple[TargetEntity, TextSpan] | None:
    found = {field.role: field for field in fields_of_line(rule, text)}
    if "NAME" not in found:
        return None
    name, index, operand = found["NAME"], found.get("INDEX"), found.get("OPERAND")
    entity = InstructionTarget(
        name.text,
        None if index is None else index.text,
        None if operand is None else int(operand.text),
    )
    return entity, field_span(name)


def _name_span(rule: str, text: str) -> TextSpan:
    """Return the columns from the first to the last field of a value's name."""
    parts = [field for field in fields_of_line(rule, text) if field.role in _VALUE_FIELDS]
    if not parts:
        start = len(text) - len(text.lstrip())
        return TextSpan(start, len(text.rstrip()), text.strip())
    start, end = parts[0].start, parts[-1].end
    if text[start - 1 : start] == "<":
        start, end = start - 1, text.index(">", end) + 1
    return TextSpan(start, end, text[start:end])


def _instruction_target(text: str, column: int) -> tuple[TargetEntity, TextSpan] | None:
    """Return the target in the instruction text that ends a value's entry."""
    begin = instruction_column(text)
    if column < begin:
        return TermTarget("instruction_label"), TextSpan(1, begin, text[1:begin])
    parsed = parse_instruction(text, begin)
    if parsed is None:
        return None
    own = InstructionTarget(parsed.name.text, None), parsed.name
    return name_target(parsed, column, "SHAPE") or own
