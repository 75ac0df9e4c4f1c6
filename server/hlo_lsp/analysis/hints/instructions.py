"""Hints in the text of an instruction, in a module and behind ``from instruction:``."""

from collections.abc import Callable
from functools import lru_cache, partial

from hlo_lsp.analysis.cards.shapes import short_shape
from hlo_lsp.analysis.hints.hint import LONGEST, Hint, HintKind, Hints, Scene
from hlo_lsp.analysis.hints.places import allocation_note
from hlo_lsp.analysis.hints.sizes import size_notes
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.instruction_text import InstructionText, Span
from hlo_lsp.syntax.metadata import metadata_fields
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_SUBSTITUTED = frozenset({"fusion", "call"})  # their operands stand for the parameters inside
_LONGEST_SHAPE = 32  # characters of a label


def instruction_hints(scene: Scene, record: InstructionLine) -> Hints:
    """The hints of an instruction of a module, and of those that are written out inside of it."""
    text = record.parsed
    at = _Place(text, record.line)
    kinds, dump = scene.kinds, scene.dump
    if HintKind.STEP in kinds:
        step = dump.step(record.name)
        if step is not None:
            words = f"runs at step {step.record.step:,} of {dump.last_step or 0:,}"
            start = _name_start(text, text.name)
            label = f"step {step.record.step}"
            yield at.hint(HintKind.STEP, start, label, partial(str, words), is_before=True)
    if HintKind.ALLOCATION in kinds:
        note = allocation_note(dump, f"{record.name}{{}}")
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
    at = _Place(text, line)
    shape = text.shape.text[:LONGEST]
    for column, label, words in size_notes(dump, shape, f"{text.name.text}{{}}"):
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
    yield _Place(text, line).hint(
        HintKind.SOURCE, column, f"{name}:{stack[0].line}", partial(str, words)
    )


class _Place:
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


def _operand_hints(scene: Scene, record: InstructionLine, at: _Place) -> Hints:
    """The shapes of operands in front of their names, where the text leaves them out."""
    text = record.parsed
    for number, span in enumerate(text.operands):
        if span.start > LONGEST:
            return
        start = _name_start(text, span)
        if not span.text or text.line[:start].rstrip()[-1:] not in {"(", ","}:
            continue
        operand = scene.file.module.operand(record, span.text)
        if operand is None or not operand.shape:
            continue
        words = f"operand {number}: {operand.shape[:LONGEST]}"
        yield at.hint(
            HintKind.OPERAND_SHAPE, start, shape_label(operand.shape), partial(str, words),
            is_before=True,
        )  # fmt: skip


def _parameter_hints(scene: Scene, record: InstructionLine, at: _Place) -> Hints:
    """What a parameter of a fused computation stands for, behind its name."""
    number = parameter_number(record)
    module = scene.file.module
    home = None if number is None else module.computation_of(record)
    if number is None or not isinstance(home, ComputationLine) or home.is_entry:
        return
    callers = [each for each in scene.callers(home) if each.opcode in _SUBSTITUTED]
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
    return plain if len(plain) <= _LONGEST_SHAPE else f"{plain[:_LONGEST_SHAPE]}..."


def _name_start(text: InstructionText, span: Span) -> int:
    """Where a name begins, with the sign in front of it."""
    return span.start - (text.line[span.start - 1 : span.start] == "%")
