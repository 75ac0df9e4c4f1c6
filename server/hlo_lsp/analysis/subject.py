"""What the cursor is on."""

from dataclasses import dataclass

from hlo_lsp.analysis.columns import name_columns
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.old_peaks import old_peak_key
from hlo_lsp.model.place import Place
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax import memory_records as memory
from hlo_lsp.syntax.instruction_text import InstructionText, Span, instruction_text
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.syntax.records import Label, Record
from hlo_lsp.syntax.thunk_scanner import ThunkRow
from hlo_lsp.syntax.tokens import Field, field_at, fields, leaf_at, rule_of, space_at
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

_FLAGS = {"CONSTANT", "THREAD_LOCAL", "MAYBE_LIVE_OUT", "PREALLOCATED_TEMP", "PHI"}
_SHAPES = {"SHAPE", "PARAMETER_SHAPE", "OUTPUT_SHAPE", "SHAPES"}
_VALUE_FIELDS = {"VALUE_ID", "NAME", "INDEX"}


@dataclass(frozen=True, slots=True)
class ValueSubject:
    """A value, by name and index, and by id where the mention prints one."""

    key: str
    id: int | None


@dataclass(frozen=True, slots=True)
class InstructionSubject:
    """An instruction, with the index printed beside its name.

    In a use ``operand`` is the number of the operand, and the index is a place in that operand.
    """

    name: str
    index: str | None
    operand: int | None = None


@dataclass(frozen=True, slots=True)
class ComputationSubject:
    """A computation."""

    name: str


@dataclass(frozen=True, slots=True)
class AllocationSubject:
    """An allocation, by number."""

    number: int


@dataclass(frozen=True, slots=True)
class ShapeSubject:
    """A shape, or the leaf of a tuple shape that the cursor is on.

    ``has_layout`` is False where XLA prints shapes without their layout: between bars and in
    reports. Nothing is known of the padding there.
    """

    text: str
    has_layout: bool


@dataclass(frozen=True, slots=True)
class SpaceSubject:
    """A memory space."""

    number: int


@dataclass(frozen=True, slots=True)
class WordSubject:
    """A word of the format that wants explaining: a flag, a field, a section label."""

    word: str


@dataclass(frozen=True, slots=True)
class ThunkSubject:
    """A thunk of a GPU executable."""

    row: ThunkRow


Subject = (
    ValueSubject
    | InstructionSubject
    | ComputationSubject
    | AllocationSubject
    | ShapeSubject
    | SpaceSubject
    | WordSubject
    | ThunkSubject
)


@dataclass(frozen=True, slots=True)
class Found:
    """A subject, where exactly it is mentioned, and the record that mentions it."""

    subject: Subject
    place: Place
    record: Record
    row: int

    @property
    def is_own_header(self) -> bool:
        """Whether this is the header of a value's own entry."""
        return isinstance(self.record, UsedValue) and self.row == 0


def subject_at(file: DumpFile, line: int, column: int) -> Found | None:
    """What stands at a line and column (code points, from 0); the file must be fresh."""
    record = file.records.at(line)
    if record is None:
        return None
    row = line - record.line
    text = file.lines[line]
    rule = rule_of(record, text)
    if rule is None or not text:
        return None
    if rule in {"instruction_line", "computation_line"}:
        found = _in_instruction(record, text, column)
    else:
        found = _in_fields(file, record, rule, text, column)
    if found is None:
        return None
    subject, span = found
    return Found(subject, Place(file, line, span.start, span.end), record, row)


def _in_fields(
    file: DumpFile, record: Record, rule: str, text: str, column: int
) -> tuple[Subject, Span] | None:
    field = field_at(rule, text, column)
    if field is not None:
        if field.role in _SHAPES:
            return _in_shape(field, column)
        if field.role == "COLOR":
            return SpaceSubject(int(field.text)), _span(field)
        if field.role in _FLAGS:
            word = field.text.strip()
            start = field.end - len(word)
            return WordSubject(word.strip("()")), Span(start, field.end, word)
        if field.role == "PAGE":
            return WordSubject("page"), _span(field)
    return _default(file, record, rule, text)


def _in_shape(field: Field, column: int) -> tuple[Subject, Span]:
    if field.role == "SHAPES":
        field = _row_shape(field, column)
    space = space_at(field, column)
    if space is not None:
        return SpaceSubject(space[1]), _span(space[0])
    leaf = leaf_at(field, column)
    return ShapeSubject(leaf.text, field.role == "SHAPE" or "T(" in leaf.text), _span(leaf)


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
    return subject, _span(name)


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


def _in_instruction(record: Record, text: str, column: int) -> tuple[Subject, Span] | None:
    if isinstance(record, ComputationLine):
        start, end = name_columns(record, text)
        return ComputationSubject(record.name), Span(start, end, record.name)
    begin = instruction_column(text) if isinstance(record, UsedValue) else 0
    if column < begin:
        return WordSubject("instruction_label"), Span(1, begin, text[1:begin])
    parsed = instruction_text(text, begin)
    if parsed is None:
        return None
    # In module text the layout need not be that of memory: before assignment, inside a fusion.
    role = "SHAPE" if isinstance(record, UsedValue) else "RESULT"
    if column in parsed.shape:
        shape = parsed.shape
        return _in_shape(Field(role, shape.start, shape.end, shape.text), column)
    return (
        _in_names(parsed, column)
        or _in_operand_shape(parsed, role, column)
        or (InstructionSubject(parsed.name.text, None), parsed.name)
    )


def _in_names(parsed: InstructionText, column: int) -> tuple[Subject, Span] | None:
    for span in (*parsed.operands, *parsed.predecessors):
        if span.start - 1 <= column <= span.end:
            return InstructionSubject(span.text, None), span
    for span in parsed.called:
        if span.start - 1 <= column <= span.end:
            return ComputationSubject(span.text), span
    return None


def _in_operand_shape(
    parsed: InstructionText, role: str, column: int
) -> tuple[Subject, Span] | None:
    """The shape in front of an operand, which texts up to jax 0.4 print."""
    if not parsed.opcode.end < column < parsed.attributes_at:
        return None
    operands = Field(role, 0, parsed.attributes_at, parsed.line[: parsed.attributes_at])
    leaf = leaf_at(operands, column)
    return None if leaf is operands else _in_shape(leaf, column)


def _span(field: Field) -> Span:
    return Span(field.start, field.end, field.text)
