"""What the cursor is on."""

from hlo_lsp.ide.cursor.module_target import in_names, in_shape, module_subject, span_of
from hlo_lsp.ide.cursor.targets import (
    AllocationSubject,
    Found,
    InstructionSubject,
    SpaceSubject,
    Subject,
    ThunkSubject,
    ValueSubject,
    WordSubject,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.old_peaks import old_peak_key
from hlo_lsp.model.place import statement_at
from hlo_lsp.syntax import memory_records as memory
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import Span, instruction_text
from hlo_lsp.syntax.records import Label, Record
from hlo_lsp.syntax.scanners import ThunkRow
from hlo_lsp.syntax.tokens import field_at, fields, rule_of
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

_FLAGS = {"CONSTANT", "THREAD_LOCAL", "MAYBE_LIVE_OUT", "PREALLOCATED_TEMP", "PHI"}
_SHAPES = {"SHAPE", "PARAMETER_SHAPE", "OUTPUT_SHAPE", "SHAPES"}
_VALUE_FIELDS = {"VALUE_ID", "NAME", "INDEX"}


def subject_at(file: DumpFile, line: int, column: int) -> Found | None:
    """What stands at a line and column (code points, from 0); the file must be fresh."""
    record = file.record_at(line, column)
    if record is None:
        return None
    if file.kind is FileKind.MODULE:
        return module_subject(file, record, line, column)
    statement = statement_at(file, record, line)
    text = statement.text
    rule = rule_of(record, text)
    if rule is None or not text:
        return None
    offset = statement.offset(line, column)
    if rule == "instruction_line":
        found = _in_instruction(text, offset)
    else:
        found = _in_fields(file, record, rule, text, offset)
    if found is None:
        return None
    subject, span = found
    return Found(subject, statement.place(span.start, span.end), record, line - record.line)


def _in_fields(
    file: DumpFile, record: Record, rule: str, text: str, column: int
) -> tuple[Subject, Span] | None:
    field = field_at(rule, text, column)
    if field is not None:
        if field.role in _SHAPES:
            return in_shape(field, column)
        if field.role == "COLOR":
            return SpaceSubject(int(field.text)), span_of(field)
        if field.role in _FLAGS:
            word = field.text.strip()
            start = field.end - len(word)
            return WordSubject(word.strip("()")), Span(start, field.end, word)
        if field.role == "PAGE":
            return WordSubject("page"), span_of(field)
    return _default(file, record, rule, text)


def _default(file: DumpFile, record: Record, rule: str, text: str) -> tuple[Subject, Span] | None:
    """What a line is about, with the columns of its name."""
    subject: Subject
    if isinstance(record, memory.AssignedValue):
        subject = ValueSubject(record.key, record.id)
    elif isinstance(record, UsedValue) and rule == "used_value_line":
        subject = ValueSubject(record.key or "", record.id)
    elif isinstance(record, memory.RangeRow):
        subject = ValueSubject(record.key, None)
    elif isinstance(record, memory.PeakRow):
        key = record.key or old_peak_key(file, record) or record.name + "{}"
        subject = ValueSubject(key, None)
    elif isinstance(record, memory.SequenceRow):
        subject = InstructionSubject(record.name, None)
    elif isinstance(record, memory.AllocationLine | memory.ReportedAllocation):
        subject = AllocationSubject(record.number)
    elif isinstance(record, memory.SpaceLine):
        subject = SpaceSubject(record.color)
    elif isinstance(record, ThunkRow):
        subject = ThunkSubject(record)
    elif rule in {"position_row", "use_row"}:
        return _row(rule, text)
    elif isinstance(record, Label) or rule in {"positions_label", "uses_label"}:
        subject = WordSubject(record.name if isinstance(record, Label) else rule)
    else:
        subject = WordSubject(rule)
    return subject, _name_span(rule, text)


def _row(rule: str, text: str) -> tuple[Subject, Span] | None:
    found = {field.role: field for field in fields(rule, text)}
    if "NAME" not in found:
        return None
    name, index, operand = found["NAME"], found.get("INDEX"), found.get("OPERAND")
    subject = InstructionSubject(
        name.text,
        None if index is None else index.text,
        None if operand is None else int(operand.text),
    )
    return subject, span_of(name)


def _name_span(rule: str, text: str) -> Span:
    """The columns of the mention in a line: from the first to the last field of a value's name."""
    parts = [field for field in fields(rule, text) if field.role in _VALUE_FIELDS]
    if not parts:
        start = len(text) - len(text.lstrip())
        return Span(start, len(text.rstrip()), text.strip())
    start, end = parts[0].start, parts[-1].end
    if text[start - 1 : start] == "<":
        start, end = start - 1, text.index(">", end) + 1
    return Span(start, end, text[start:end])


def _in_instruction(text: str, column: int) -> tuple[Subject, Span] | None:
    """In the last line of a value's entry."""
    begin = instruction_column(text)
    if column < begin:
        return WordSubject("instruction_label"), Span(1, begin, text[1:begin])
    parsed = instruction_text(text, begin)
    if parsed is None:
        return None
    own = InstructionSubject(parsed.name.text, None), parsed.name
    return in_names(parsed, column, "SHAPE") or own
