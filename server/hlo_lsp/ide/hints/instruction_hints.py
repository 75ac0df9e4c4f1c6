"""Sizes with padding, behind the shapes of arrays that take more than their elements."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from hlo_lsp.ide.hints.hint import (
    MAX_HINT_COLUMN,
    Hint,
    HintContext,
    HintKind,
    Hints,
    allocation_hint_by_key,
)
from hlo_lsp.ide.hover.shapes import short_shape
from hlo_lsp.model.bytesize import format_bytes, format_short_bytes
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.shape import ArrayShape, element_texts, try_shape
from hlo_lsp.model.sizes import (
    PaddedSize,
    logical_bytes,
    padded_size_of_text,
    target_of,
)
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import InstructionText, TextSpan
from hlo_lsp.syntax.metadata import metadata_fields
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

# An end of an array's shape in a text, its label and what makes its tooltip.
ArraySizeHint = tuple[int, str, str]


def padded_size_hints(dump: DumpSet, text: str, key: str | None = None) -> Iterator[ArraySizeHint]:
    """For each array of a shape where it ends, a label and a tooltip, if it is padded.

    ``key`` is the value of this shape, whose size is known where XLA printed it. Without one only
    a tiled layout tells how an array lies in memory: before buffer assignment, and inside of
    fusions, an untiled shape says nothing of it.
    """
    actual, color = (None, 0) if key is None else _printed_size(dump, key)
    whole = text.rstrip()
    for match in load_grammar("lexemes").expression("lexeme").finditer(text):
        if match.lastgroup != "ARRAY":
            continue
        is_whole = match[0] == whole
        size = actual if is_whole else None
        if size is None and "T(" not in match[0]:
            continue
        note = _padded_size_label(dump, match[0], color, size)
        if note is not None:
            yield match.end(), *note


def logical_size_hint(dump: DumpSet, text: str, size: int, color: int) -> tuple[str, str] | None:
    """The same the other way round for a line that prints a ``size``: what of it is no padding.

    None where the shape does not take that size: a rule tells of it, and more is not known.
    """
    shape = try_shape(text)
    logical = logical_bytes(shape) if isinstance(shape, ArrayShape) else None
    padded = padded_size_of_text(text, target_of(dump), color)
    if logical is None or logical == size or (padded is not None and padded.bytes != size):
        return None
    return f"padded from {format_short_bytes(logical)}", _tooltip(dump, text, color, logical, size)


def _printed_size(dump: DumpSet, key: str) -> tuple[int | None, int]:
    """The bytes of a value that XLA printed, and its memory space."""
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
    words = f"{format_bytes(size)} in memory, {format_bytes(logical)} without padding"
    return words if found is None or found.bytes != size else f"{words}: {_describe_padding(found)}"


def _describe_padding(padded: PaddedSize) -> str:
    causes = [f"{each.what} {each.before:,} -> {each.after:,}" for each in padded.padding]
    return f"{padded.rule} ({', '.join(causes)})" if causes else padded.rule


_INLINED_OPCODES = frozenset({"fusion", "call"})  # their operands stand for the parameters inside
_MAX_SHAPE_LABEL_CHARACTERS = 32  # characters of a label


def instruction_hints(scene: HintContext, record: InstructionLine) -> Hints:
    """The hints of an instruction of a module, and of those that are written out inside of it."""
    text = record.parsed
    at = _InstructionPosition(text, record.line)
    kinds, dump = scene.kinds, scene.dump
    if HintKind.STEP in kinds:
        step = dump.step(record.name)
        if step is not None:
            words = f"runs at step {step.record.step:,} of {dump.last_step or 0:,}"
            start = _name_start(text, text.name)
            label = f"step {step.record.step}"
            yield at.hint(HintKind.STEP, start, label, partial(str, words), is_before=True)
    if HintKind.ALLOCATION in kinds:
        note = allocation_hint_by_key(dump, f"{record.name}{{}}")
        if note is not None:
            yield at.hint(HintKind.ALLOCATION, text.name.end, *note)
    if HintKind.PADDED_SIZE in kinds:
        yield from shape_hints(dump, text, record.line)
    if HintKind.PARAMETER_NAME in kinds:
        yield from _parameter_hints(scene, record, at)
    if HintKind.OPERAND_SHAPE in kinds:
        yield from _operand_hints(scene, record, at)
    if HintKind.SOURCE in kinds:
        yield from source_hints(dump, text, record.line)
    for body in record.bodies:
        for member in body.members:
            yield from instruction_hints(scene, member)


def shape_hints(dump: DumpSet, text: InstructionText, line: int) -> Hints:
    """Sizes with padding in the shape of an instruction that begins on a line."""
    at = _InstructionPosition(text, line)
    shape = text.shape.text[:MAX_HINT_COLUMN]
    for column, label, words in padded_size_hints(dump, shape, f"{text.name.text}{{}}"):
        found = at.hint(HintKind.PADDED_SIZE, text.shape.start + column, label, partial(str, words))
        yield found


def source_hints(dump: DumpSet, text: InstructionText, line: int) -> Hints:
    """The innermost Python line behind the metadata of an instruction that begins on a line."""
    value = text.attribute("metadata")
    if value is None:
        return
    fields = metadata_fields(text.line, value.start - len("metadata="))
    stack = dump.stack_of({field.name: field.value for field in fields})
    if not stack:
        return
    name = stack[0].file.replace("\\", "/").rpartition("/")[2]
    column = value.start + len(value.text.rstrip())
    words = "\n".join(map(str, stack))
    yield _InstructionPosition(text, line).hint(
        HintKind.SOURCE, column, f"{name}:{stack[0].line}", partial(str, words)
    )


class _InstructionPosition:
    """Where the columns of an instruction's text stand in the file."""

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


def _operand_hints(scene: HintContext, record: InstructionLine, at: _InstructionPosition) -> Hints:
    """The shapes of operands in front of their names, where the text leaves them out."""
    text = record.parsed
    for number, span in enumerate(text.operands):
        if span.start > MAX_HINT_COLUMN:
            return
        start = _name_start(text, span)
        if not span.text or text.line[:start].rstrip()[-1:] not in {"(", ","}:
            continue
        operand = scene.file.module.operand(record, span.text)
        if operand is None or not operand.shape:
            continue
        words = f"operand {number}: {operand.shape[:MAX_HINT_COLUMN]}"
        yield at.hint(
            HintKind.OPERAND_SHAPE, start, shape_label(operand.shape), partial(str, words),
            is_before=True,
        )  # fmt: skip


def _parameter_hints(
    scene: HintContext, record: InstructionLine, at: _InstructionPosition
) -> Hints:
    """What a parameter of a fused computation stands for, behind its name."""
    number = parameter_number(record)
    module = scene.file.module
    home = None if number is None else module.computation_of(record)
    if number is None or not isinstance(home, ComputationLine) or home.is_entry:
        return
    callers = [each for each in scene.callers(home) if each.opcode in _INLINED_OPCODES]
    given = [(each, each.operands) for each in callers]
    names = [(each.name, names[number]) for each, names in given if number < len(names)]
    names = [(caller, name) for caller, name in names if name]
    if not names:
        return
    more = f" (+{len(names) - 1})" if len(names) > 1 else ""
    words = "\n".join(f"operand {number} of %{caller}: %{name}" for caller, name in names[:20])
    column = record.parsed.name.end
    yield at.hint(HintKind.PARAMETER_NAME, column, f"= %{names[0][1]}{more}", partial(str, words))


@lru_cache(maxsize=1 << 12)
def shape_label(text: str) -> str:
    """A shape in few letters: of a tuple the number of its elements."""
    if text.startswith("("):
        elements = element_texts(text)
        if elements is not None:
            return f"tuple of {len(elements)}"
    plain = short_shape(text)
    return (
        plain
        if len(plain) <= _MAX_SHAPE_LABEL_CHARACTERS
        else f"{plain[:_MAX_SHAPE_LABEL_CHARACTERS]}..."
    )


def _name_start(text: InstructionText, span: TextSpan) -> int:
    """Where a name begins, with the sign in front of it."""
    return span.start - (text.line[span.start - 1 : span.start] == "%")
