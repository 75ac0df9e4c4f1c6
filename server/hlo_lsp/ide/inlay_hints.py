"""Inlay hints as plain data, and the hint that shows an allocation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache, partial
from itertools import chain

from hlo_lsp.ide.hover.shapes import short_shape
from hlo_lsp.ide.hover.summaries import value_summary
from hlo_lsp.model.display import format_bytes, format_short_bytes
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import Value
from hlo_lsp.model.shape import ArrayShape, element_texts, try_shape
from hlo_lsp.model.sizes import (
    PaddedSize,
    logical_bytes,
    padded_size_of_text,
    target_of,
)
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import InstructionText, TextSpan, metadata_fields
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue

# Visual Studio Code does not render a line beyond this column (editor.stopRenderingLineAfter).
MAX_HINT_COLUMN = 10_000


class HintKind(Enum):
    """Kinds of hints; the values are the names of the settings that disable them."""

    PADDED_SIZE = "paddedSize"
    ALLOCATION = "allocation"
    SOURCE = "source"
    OPERAND_SHAPE = "operandShapes"
    PARAMETER_NAME = "parameterNames"
    STEP = "steps"


@dataclass(frozen=True, slots=True)
class Hint:
    """A label at a line and column, with a callable that returns its tooltip.

    Line and column are counted from 0, columns in code points. If ``is_before``, the hint belongs
    to the text after it, otherwise to the text before it.
    """

    kind: HintKind
    line: int
    column: int
    label: str
    explain: Callable[[], str] = field(compare=False, repr=False)
    is_before: bool = False


class HintContext:
    """The compile and file of a request, and the kinds of hints to show."""

    def __init__(self, dump: DumpSet, file: DumpFile, kinds: frozenset[HintKind]) -> None:
        self.dump = dump
        self.file = file
        self.kinds = kinds
        self._callers: dict[ComputationLine, list[InstructionLine]] = {}

    def callers(self, computation: ComputationLine) -> list[InstructionLine]:
        """Return the instructions that call a computation."""
        if computation not in self._callers:
            self._callers[computation] = self.file.module.callers(computation)
        return self._callers[computation]


Hints = Iterator[Hint]


def allocation_hint_by_key(dump: DumpSet, key: str) -> tuple[str, Callable[[], str]] | None:
    """Return :func:`allocation_hint` of the value with this name and shape index."""
    value = dump.value_of_key(key)
    return None if value is None else allocation_hint(dump, value)


def allocation_hint(dump: DumpSet, value: Value) -> tuple[str, Callable[[], str]] | None:
    """Return the label and the tooltip of a value's allocation, or None if it has none.

    The label is ``allocation 2+512``: its number and the value's offset in bytes.
    """
    if value.allocation is None or value.assigned is None:
        return None
    offset = value.assigned.record.offset
    label = f"allocation {value.allocation.record.number}{f'+{offset}' if offset else ''}"
    return label, partial(_allocation_tooltip, dump, value)


def _allocation_tooltip(dump: DumpSet, value: Value) -> str:
    assert value.allocation is not None
    assert value.assigned is not None
    allocation, assigned = value.allocation.record, value.assigned.record
    return (
        f"{value.mention}: {format_bytes(assigned.size)} at offset {assigned.offset:,} "
        f"of allocation {allocation.number} ({format_bytes(allocation.size)}); "
        f"{value_summary(dump, value)}"
    )


# End of an array's shape in a text, label, and tooltip.
ArraySizeHint = tuple[int, str, str]


def padded_size_hints(dump: DumpSet, text: str, key: str | None = None) -> Iterator[ArraySizeHint]:
    """Yield end, label, and tooltip for each padded array in a shape.

    Args:
        dump: The compile.
        text: The shape.
        key: Name and shape index of the value with this shape, whose size may be printed. Without a
            printed size, only tiled layouts determine the padding: before buffer assignment and
            inside fusions, untiled layouts do not describe memory.
    """
    actual, color = (None, 0) if key is None else _printed_size(dump, key)
    whole = text.rstrip()
    for match in load_grammar("lexemes").expression("lexeme").finditer(text):
        if match.lastgroup != "ARRAY":
            continue
        size = actual if match[0] == whole else None
        if size is None and "T(" not in match[0]:
            continue
        label_and_tooltip = _padded_size_label(dump, match[0], color, size)
        if label_and_tooltip is not None:
            yield match.end(), *label_and_tooltip


def logical_size_hint(dump: DumpSet, text: str, size: int, color: int) -> tuple[str, str] | None:
    """Return label and tooltip with the logical size for a line that prints a padded size in bytes.

    Returns None if ``size`` does not match the shape, which a rule reports.
    """
    shape = try_shape(text)
    logical = logical_bytes(shape) if isinstance(shape, ArrayShape) else None
    padded = padded_size_of_text(text, target_of(dump), color)
    if logical is None or logical == size or (padded is not None and padded.bytes != size):
        return None
    return f"padded from {format_short_bytes(logical)}", _tooltip(dump, text, color, logical, size)


def _printed_size(dump: DumpSet, key: str) -> tuple[int | None, int]:
    """Return the size of a value in bytes as XLA printed it, and its memory space."""
    value = dump.value_of_key(key)
    if value is None:
        return None, 0
    size = None if value.assigned is None else value.assigned.record.size
    return size, value.color or 0


def _padded_size_label(
    dump: DumpSet, text: str, color: int, actual: int | None
) -> tuple[str, str] | None:
    shape = try_shape(text)
    logical = logical_bytes(shape) if isinstance(shape, ArrayShape) else None
    size = actual
    if size is None:
        padded = padded_size_of_text(text, target_of(dump), color)
        size = None if padded is None else padded.bytes
    if logical is None or size is None or size == logical:
        return None
    return f"padded {format_short_bytes(size)}", _tooltip(dump, text, color, logical, size)


def _tooltip(dump: DumpSet, text: str, color: int, logical: int, size: int) -> str:
    found = padded_size_of_text(text, target_of(dump), color)
    tooltip = f"{format_bytes(size)} in memory, {format_bytes(logical)} without padding"
    return (
        tooltip
        if found is None or found.bytes != size
        else f"{tooltip}: {_describe_padding(found)}"
    )


def _describe_padding(padded: PaddedSize) -> str:
    causes = [f"{each.what} {each.before:,} -> {each.after:,}" for each in padded.padding]
    return f"{padded.rule} ({', '.join(causes)})" if causes else padded.rule


_INLINED_OPCODES = frozenset({"fusion", "call"})  # Parameters of the callee equal the operands.
_MAX_SHAPE_LABEL_CHARACTERS = 32


def instruction_hints(context: HintContext, record: InstructionLine) -> Hints:
    """Yield the hints of an instruction and of instructions nested in it."""
    text = record.parsed
    position = _InstructionPosition(text, record.line)
    kinds, dump = context.kinds, context.dump
    if HintKind.STEP in kinds:
        step = dump.step(record.name)
        if step is not None:
            tooltip = f"runs at step {step.record.step:,} of {dump.last_step or 0:,}"
            start = _name_start(text, text.name)
            label = f"step {step.record.step}"
            yield position.hint(HintKind.STEP, start, label, partial(str, tooltip), is_before=True)
    if HintKind.ALLOCATION in kinds:
        label_and_tooltip = allocation_hint_by_key(dump, f"{record.name}{{}}")
        if label_and_tooltip is not None:
            yield position.hint(HintKind.ALLOCATION, text.name.end, *label_and_tooltip)
    if HintKind.PADDED_SIZE in kinds:
        yield from shape_hints(dump, text, record.line)
    if HintKind.PARAMETER_NAME in kinds:
        yield from _parameter_hints(context, record, position)
    if HintKind.OPERAND_SHAPE in kinds:
        yield from _operand_hints(context, record, position)
    if HintKind.SOURCE in kinds:
        yield from source_hints(dump, text, record.line)
    for body in record.bodies:
        for member in body.members:
            yield from instruction_hints(context, member)


def shape_hints(dump: DumpSet, text: InstructionText, line: int) -> Hints:
    """Yield hints with padded sizes in the shape of an instruction that starts on a line."""
    position = _InstructionPosition(text, line)
    shape = text.shape.text[:MAX_HINT_COLUMN]
    for column, label, tooltip in padded_size_hints(dump, shape, f"{text.name.text}{{}}"):
        end = text.shape.start + column
        yield position.hint(HintKind.PADDED_SIZE, end, label, partial(str, tooltip))


def source_hints(dump: DumpSet, text: InstructionText, line: int) -> Hints:
    """Yield a hint with the innermost Python line after the metadata of an instruction."""
    value = text.attribute("metadata")
    if value is None:
        return
    fields = metadata_fields(text.line, value.start - len("metadata="))
    stack = dump.stack_of({field.name: field.value for field in fields})
    if not stack:
        return
    name = stack[0].file.replace("\\", "/").rpartition("/")[2]
    column = value.start + len(value.text.rstrip())
    tooltip = "\n".join(map(str, stack))
    yield _InstructionPosition(text, line).hint(
        HintKind.SOURCE, column, f"{name}:{stack[0].line}", partial(str, tooltip)
    )


class _InstructionPosition:
    """Conversion of columns of an instruction's text to positions in the file."""

    def __init__(self, text: InstructionText, line: int) -> None:
        self._text = text.line
        self._line = line

    def hint(
        self,
        kind: HintKind,
        column: int,
        label: str,
        explain: Callable[[], str],
        *,
        is_before: bool = False,
    ) -> Hint:
        row = self._text.count("\n", 0, column)
        begin = self._text.rfind("\n", 0, column) + 1
        return Hint(kind, self._line + row, column - begin, label, explain, is_before)


def _operand_hints(
    context: HintContext, record: InstructionLine, position: _InstructionPosition
) -> Hints:
    """Yield the shapes of operands before their names, where the text omits them."""
    text = record.parsed
    for number, span in enumerate(text.operands):
        if span.start > MAX_HINT_COLUMN:
            return
        start = _name_start(text, span)
        if not span.text or text.line[:start].rstrip()[-1:] not in {"(", ","}:
            continue
        operand = context.file.module.operand(record, span.text)
        if operand is None or not operand.shape:
            continue
        tooltip = f"operand {number}: {operand.shape[:MAX_HINT_COLUMN]}"
        yield position.hint(
            HintKind.OPERAND_SHAPE, start, shape_label(operand.shape), partial(str, tooltip),
            is_before=True,
        )  # fmt: skip


def _parameter_hints(
    context: HintContext, record: InstructionLine, position: _InstructionPosition
) -> Hints:
    """Yield the argument of a fused computation's parameter, after its name."""
    number = parameter_number(record)
    module = context.file.module
    computation = None if number is None else module.computation_of(record)
    if number is None or not isinstance(computation, ComputationLine) or computation.is_entry:
        return
    callers = [each for each in context.callers(computation) if each.opcode in _INLINED_OPCODES]
    operands = [(each.name, each.operands) for each in callers]
    names = [(caller, each[number]) for caller, each in operands if number < len(each)]
    names = [(caller, name) for caller, name in names if name]
    if not names:
        return
    more = f" (+{len(names) - 1})" if len(names) > 1 else ""
    tooltip = "\n".join(f"operand {number} of %{caller}: %{name}" for caller, name in names[:20])
    column = record.parsed.name.end
    yield position.hint(
        HintKind.PARAMETER_NAME, column, f"= %{names[0][1]}{more}", partial(str, tooltip)
    )


@lru_cache(maxsize=1 << 12)
def shape_label(text: str) -> str:
    """Return a short label of a shape; for a tuple, its number of elements."""
    if text.startswith("("):
        elements = element_texts(text)
        if elements is not None:
            return f"tuple of {len(elements)}"
    plain = short_shape(text)
    if len(plain) <= _MAX_SHAPE_LABEL_CHARACTERS:
        return plain
    return f"{plain[:_MAX_SHAPE_LABEL_CHARACTERS]}..."


def _name_start(text: InstructionText, span: TextSpan) -> int:
    """Return the column of a name including its ``%``."""
    return span.start - (text.line[span.start - 1 : span.start] == "%")


def memory_hints(context: HintContext, record: Record) -> Hints:
    """Yield the hints of a record of a memory file."""
    if isinstance(record, AssignedValue):
        if HintKind.PADDED_SIZE in context.kinds:
            yield from _size_hint(context, record)
    elif isinstance(record, UsedValue):
        yield from _entry_hints(context, record)
    elif isinstance(record, RangeRow | PeakRow) and HintKind.ALLOCATION in context.kinds:
        label_and_tooltip = (
            None if record.key is None else allocation_hint_by_key(context.dump, record.key)
        )
        if label_and_tooltip is not None:
            line = context.file.lines[record.line]
            column = len(line) - len(line.lstrip()) + len(record.key or "")
            yield Hint(HintKind.ALLOCATION, record.line, column, *label_and_tooltip)


def _size_hint(context: HintContext, record: AssignedValue) -> Hints:
    label_and_tooltip = logical_size_hint(
        context.dump, record.shape, record.size, record.color or 0
    )
    if label_and_tooltip is not None:
        column = len(context.file.lines[record.line].rstrip())
        label, tooltip = label_and_tooltip
        yield Hint(HintKind.PADDED_SIZE, record.line, column, label, partial(str, tooltip))


def _entry_hints(context: HintContext, record: UsedValue) -> Hints:
    """Yield the hints of a value's entry, which prints no allocation."""
    dump = context.dump
    value = None if record.id is None else dump.value(record.id)
    column = record.lines[0].rfind(">") + 1
    if value is not None and column and HintKind.ALLOCATION in context.kinds:
        label_and_tooltip = allocation_hint(dump, value)
        if label_and_tooltip is not None:
            yield Hint(HintKind.ALLOCATION, record.line, record.column + column, *label_and_tooltip)
    text = defining_text(record)
    if text is None:
        return
    line = record.line + len(record.lines) - 1
    if HintKind.PADDED_SIZE in context.kinds:
        yield from shape_hints(dump, text, line)
    if HintKind.SOURCE in context.kinds:
        yield from source_hints(dump, text, line)


ALL_KINDS = frozenset(HintKind)


def hints(
    dump: DumpSet,
    file: DumpFile,
    first: int = 0,
    end: int | None = None,
    kinds: frozenset[HintKind] = ALL_KINDS,
) -> Iterator[list[Hint]]:
    """Yield the hints of a range of lines, one list for each record.

    Args:
        dump: The compile.
        file: The file.
        first: First line, counted from 0.
        end: Line after the last one; None for the end of the file.
        kinds: Kinds of hints to yield.
    """
    end = len(file.lines) if end is None else min(end, len(file.lines))
    context = HintContext(dump, file, kinds)
    record = file.records.at(first) if first < end else None
    if record is None:
        return
    for each in chain([record], file.records.after(record)):
        if each.line >= end:
            return
        yield [
            hint
            for hint in _of_record(context, each)
            if first <= hint.line < end and hint.column <= MAX_HINT_COLUMN
        ]


def _of_record(context: HintContext, record: Record) -> Hints:
    if context.file.kind.is_memory:
        yield from memory_hints(context, record)
    elif context.file.kind is FileKind.MODULE:
        if isinstance(record, InstructionLine):
            yield from instruction_hints(context, record)
        elif isinstance(record, ComputationLine):
            for member in record.members:
                yield from instruction_hints(context, member)
