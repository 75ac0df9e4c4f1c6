"""Inlay hints: sizes, live ranges, times, sources, operands, and steps as labels in the text."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import chain, takewhile
from typing import NamedTuple

from hlo_lsp.display.phrases import shortened
from hlo_lsp.hlo.vocabulary import OperandPassing, ResultKind, opcodes_where
from hlo_lsp.ide.code_lenses import LensChoice, has_value_lens
from hlo_lsp.ide.donation_hints import donation_labels
from hlo_lsp.ide.hover.origin_text import origin_label, value_origin
from hlo_lsp.ide.hover.shapes import short_shape
from hlo_lsp.ide.hover.stats import hot_labels
from hlo_lsp.ide.hover.summaries import value_summary
from hlo_lsp.ide.hover.values import data_leaves, result_leaves
from hlo_lsp.ide.padded_size_labels import padded_size_label, padded_size_labels
from hlo_lsp.memory.memory_usage_report import reported_row
from hlo_lsp.memory.occupied_steps import occupied_steps
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.shape import element_texts
from hlo_lsp.program.data_origin import Origin
from hlo_lsp.program.instruction_owners import InstructionFacts, owner_of
from hlo_lsp.stats.instruction_table import InstructionTable
from hlo_lsp.syntax.instruction_text import InstructionText, TextSpan, operand_names
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow, TableRow
from hlo_lsp.syntax.module_records import ComputationLine, InnerInstruction, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue, defining_text
from hlo_lsp.text.amounts import format_bytes, format_short_bytes
from hlo_lsp.text.inert import printable

# Visual Studio Code does not render a line beyond this column (editor.stopRenderingLineAfter).
MAX_HINT_COLUMN = 10_000
# VS Code truncates the labels of a line that are longer (editor.inlayHints.maximumLength).
MAX_LABEL_CHARACTERS = 43
_MAX_SHAPE_LABEL_CHARACTERS = 32
_MAX_OWNER_CHARACTERS = 40
_MAX_LISTED_CALLERS = 20
_MAX_LISTED_VALUES = 8
# The parameters of the callee equal the operands.
_INLINED_OPCODES = opcodes_where(
    lambda one: one.passes is OperandPassing.POSITIONS and one.returns is ResultKind.ROOT
)


class HintKind(Enum):
    """Kinds of hints; the values are the names of the settings that disable them."""

    PADDED_SIZE = "paddedSize"
    ALLOCATION = "allocation"
    DONATION = "donation"
    SOURCE = "source"
    OPERAND_SHAPE = "operandShapes"
    PARAMETER_NAME = "parameterNames"
    STEP = "steps"
    LIVE_RANGE = "liveRanges"
    TIME = "times"


# Where not all labels of a line fit, the first of these kinds are shown.
_PRIORITIES = (
    HintKind.TIME,  # of few instructions
    HintKind.ALLOCATION,
    HintKind.DONATION,
    HintKind.LIVE_RANGE,
    HintKind.SOURCE,
    HintKind.PADDED_SIZE,
    HintKind.PARAMETER_NAME,
    HintKind.OPERAND_SHAPE,
    HintKind.STEP,  # the schedule is the order of the lines
)

ALL_KINDS = frozenset(HintKind)


@dataclass(frozen=True, slots=True)
class Hint:
    """A label at a line and column, with its tooltip.

    Line and column are counted from 0, columns in code points. If ``is_before``, the hint belongs
    to the text after it, otherwise to the text before it.
    """

    kind: HintKind
    line: int
    column: int
    label: str
    tooltip: str
    is_before: bool = False


Hints = Iterator[Hint]
LabelAndTooltip = tuple[str, str]


class _HintContext(NamedTuple):
    """The compile and file of a request, and the kinds of hints to show."""

    dump: Compile
    file: DumpFile
    kinds: frozenset[HintKind]
    lenses: LensChoice
    hot: Mapping[str, LabelAndTooltip]


def hints(
    dump: Compile,
    file: DumpFile,
    first: int = 0,
    end: int | None = None,
    kinds: frozenset[HintKind] = ALL_KINDS,
    *,
    lenses: LensChoice = LensChoice.OFF,
    times: InstructionTable | None = None,
) -> Iterator[list[Hint]]:
    """Yield the hints from line ``first`` (from 0) up to ``end``, one list for each record.

    The labels of a line have at most ``MAX_LABEL_CHARACTERS``; a kind is shown if all of its labels
    fit. A live range that a lens shows is left out. ``times`` is None if the times of the compile
    are not computed yet.
    """
    end = len(file.lines) if end is None else min(end, len(file.lines))
    context = _HintContext(dump, file, kinds, lenses, hot_labels(times))
    record = file.records.at(first) if first < end else None
    following = () if record is None else chain([record], file.records.after(record))
    for each in takewhile(lambda record: record.line < end, following):
        found = [
            hint
            for hint in _record_hints(context, each)
            if first <= hint.line < end and hint.column <= MAX_HINT_COLUMN
        ]
        shown = _fitting_kinds(found)
        yield [hint for hint in found if hint.kind in shown[hint.line]]


def _fitting_kinds(found: list[Hint]) -> dict[int, set[HintKind]]:
    """Return the kinds of hints for which there is room, by line."""
    lengths: dict[int, Counter[HintKind]] = {}
    for hint in found:
        lengths.setdefault(hint.line, Counter())[hint.kind] += len(hint.label)
    shown: dict[int, set[HintKind]] = {}
    for line, by_kind in lengths.items():
        room = MAX_LABEL_CHARACTERS
        shown[line] = set()
        for kind in _PRIORITIES:
            if kind in by_kind and by_kind[kind] <= room:
                shown[line].add(kind)
                room -= by_kind[kind]
    return shown


def _record_hints(context: _HintContext, record: Record) -> Hints:
    dump, kinds = context.dump, context.kinds
    match record:
        case InstructionLine():
            yield from _instruction_hints(context, record)
        case ComputationLine():
            for member in record.members:
                yield from _instruction_hints(context, member)
        case AssignedValue():
            yield from _assigned_hints(context, record)
        case TableRow() if HintKind.SOURCE in kinds:
            row = reported_row(dump, context.file, record)
            values = () if row is None else row.values
            value = max(values, key=lambda value: value.record.size, default=None)
            found = None if value is None else _owner_label(dump, value.record)
            if found is not None:
                column = len(context.file.lines[record.line].rstrip())
                yield Hint(HintKind.SOURCE, record.line, column, *found)
        case UsedValue():
            yield from _entry_hints(context, record)
        case RangeRow() | PeakRow() if HintKind.ALLOCATION in kinds and record.key is not None:
            found = _allocation_label(dump.value_of_key(record.key), dump)
            if found is not None:
                line = context.file.lines[record.line]
                column = len(line) - len(line.lstrip()) + len(record.key)
                yield Hint(HintKind.ALLOCATION, record.line, column, *found)


def _assigned_hints(context: _HintContext, record: AssignedValue) -> Hints:
    dump, kinds = context.dump, context.kinds
    column = len(context.file.lines[record.line].rstrip())
    allocation = dump.allocation_of(LocatedRecord(context.file, record))
    if allocation is not None and allocation.record.thread_local:
        return  # it occupies no bytes of the program
    if HintKind.PADDED_SIZE in kinds:
        found = padded_size_label(dump, record.shape, record.size, record.color or 0)
        if found is not None:
            yield Hint(HintKind.PADDED_SIZE, record.line, column, *found)
    if HintKind.LIVE_RANGE in kinds and not has_value_lens(dump, record.id, context.lenses):
        found = _live_range_label(dump, dump.value(record.id))
        if found is not None:
            yield Hint(HintKind.LIVE_RANGE, record.line, column, *found)


def _entry_hints(context: _HintContext, record: UsedValue) -> Hints:
    dump = context.dump
    value = None if record.id is None else dump.value(record.id)
    column = record.lines[0].rfind(">") + 1
    found = _allocation_label(value, dump)
    if found is not None and column and HintKind.ALLOCATION in context.kinds:
        yield Hint(HintKind.ALLOCATION, record.line, record.column + column, *found)
    has_lens = value is not None and has_value_lens(dump, value.id, context.lenses)
    is_shown = HintKind.LIVE_RANGE in context.kinds and not has_lens
    found = _live_range_label(dump, value) if is_shown else None
    if found is not None and column:
        yield Hint(HintKind.LIVE_RANGE, record.line, record.column + column, *found)
    text = defining_text(record)
    if text is not None:
        line = record.line + len(record.lines) - 1
        yield from _size_hints(context, text, line)
        if HintKind.SOURCE in context.kinds:
            origin = None if value is None else value_origin(dump, value.name, value.index)
            yield from _source_hint(context, text, line, origin)


def _instruction_hints(context: _HintContext, record: InstructionLine) -> Hints:
    text, line = record.parsed, record.line
    kinds, dump = context.kinds, context.dump
    step = dump.step(record.name) if HintKind.STEP in kinds else None
    if step is not None:
        tooltip = f"runs at step {step.record.step:,} of {dump.last_step or 0:,}"
        start, label = _name_start(text, text.name), f"step {step.record.step:,}"
        yield _hint_in(text, line, HintKind.STEP, start, (label, tooltip), is_before=True)
    own = dump.instruction(record.name)
    is_known = own is not None and own.record is record and not isinstance(record, InnerInstruction)
    data = data_leaves(dump, text, result_leaves(dump, record.name)) if is_known else []
    hot = context.hot.get(record.name) if is_known and HintKind.TIME in kinds else None
    if hot is not None:
        yield _hint_in(text, line, HintKind.TIME, text.name.end, hot)
    if HintKind.ALLOCATION in kinds:
        found = _data_label([value for _, value in data], dump)
        if found is not None:
            yield _hint_in(text, line, HintKind.ALLOCATION, text.name.end, found)
    yield from _size_hints(context, text, line)
    if is_known:
        yield from _donation_hints(context, record, line)
    if HintKind.PARAMETER_NAME in kinds:
        operand = _passed_operand_label(context.file.module, record)
        if operand is not None:
            yield _hint_in(text, line, HintKind.PARAMETER_NAME, text.name.end, operand)
    if HintKind.OPERAND_SHAPE in kinds:
        yield from _operand_hints(context.file.module, record)
    if HintKind.SOURCE in kinds:
        owner = owner_of(dump, record.name) if is_known else None
        yield from _source_hint(context, text, line, owner)
    for body in record.bodies:
        for member in body.members:
            yield from _instruction_hints(context, member)


def _size_hints(context: _HintContext, text: InstructionText, line: int) -> Hints:
    if HintKind.PADDED_SIZE in context.kinds:
        shape = text.shape.text[:MAX_HINT_COLUMN]
        for end, found in padded_size_labels(context.dump, shape, f"{text.name.text}{{}}"):
            yield _hint_in(text, line, HintKind.PADDED_SIZE, text.shape.start + end, found)


def _source_hint(
    context: _HintContext,
    text: InstructionText,
    line: int,
    owner: InstructionFacts | Origin | None,
) -> Hints:
    """Yield the Python line of an instruction, or of the data of a value."""
    stack = tuple(context.dump.stack_of(text.metadata)) if owner is None else owner.stack
    source = context.dump.frames.line_of(stack)
    if source is None:
        return
    named = text.name.text if owner is None else owner.metadata_from
    tooltip = [] if named == text.name.text else [f"produced by {named}"]
    value = text.attribute("metadata")
    column = len(text.line.rstrip())
    if value is not None:
        column = value.start + len(value.text.rstrip())
    found = source.short, "\n".join(map(printable, [*tooltip, *map(str, stack)]))
    yield _hint_in(text, line, HintKind.SOURCE, column, found)


def _hint_in(
    text: InstructionText,
    line: int,
    kind: HintKind,
    column: int,
    label_and_tooltip: LabelAndTooltip,
    *,
    is_before: bool = False,
) -> Hint:
    row = text.line.count("\n", 0, column)
    begin = text.line.rfind("\n", 0, column) + 1
    return Hint(kind, line + row, column - begin, *label_and_tooltip, is_before)


def _allocation_label(value: Value | None, dump: Compile) -> LabelAndTooltip | None:
    """Return the label ``4.00 MiB VMEM``; the tooltip has the allocation and the offset."""
    return None if value is None else _data_label([value], dump)


def _data_label(values: list[Value], dump: Compile) -> LabelAndTooltip | None:
    """Return the bytes of values in the memory space with most of them; the tooltip has all."""
    sizes: Counter[str] = Counter()
    places = []
    for value in values:
        if value.allocation is None or value.assigned is None:
            continue
        allocation, assigned = value.allocation.record, value.assigned.record
        space = "thread-local"
        if not allocation.thread_local:
            space = space_title(allocation.color, dump.backend)
        sizes[space] += assigned.size
        places.append(
            f"{value.mention}: {format_bytes(assigned.size)} at offset {assigned.offset:,} "
            f"of allocation {allocation.number} ({format_bytes(allocation.size)}); "
            f"{value_summary(dump, value)}"
        )
    if not places:
        return None
    space, size = sizes.most_common(1)[0]
    return f"{format_short_bytes(size)} {space}", "\n".join(places[:_MAX_LISTED_VALUES])


def _live_range_label(dump: Compile, value: Value | None) -> LabelAndTooltip | None:
    """Return the label ``live 2,033-2,062, at the peak``, with the instructions as tooltip.

    Bytes that are occupied during the whole program have none: their allocation shows that.
    """
    steps = None if value is None else occupied_steps(dump, value)
    if value is None or steps is None or steps.is_fixed:
        return None
    peak = ", at the peak" if steps.is_at_peak else ""
    return f"live {steps.range_text}{peak}", value_summary(dump, value)


def _owner_label(dump: Compile, value: AssignedValue) -> LabelAndTooltip | None:
    """Return the origin of a value: ``train.py:25 dot_general``."""
    origin = value_origin(dump, value.name, value.index)
    label = "" if origin is None else origin_label(origin, value.name).replace("`", "")
    if not label or origin is None:
        return None
    lines = [f"{value.key}, produced by {origin.instruction.record.name}", *map(str, origin.stack)]
    return shortened(label, _MAX_OWNER_CHARACTERS), "\n".join(map(printable, lines))


def _donation_hints(context: _HintContext, record: InstructionLine, line: int) -> Hints:
    """Yield the donation of a parameter of the entry computation."""
    if HintKind.DONATION not in context.kinds or record.opcode != "parameter":
        return
    number, computation = parameter_number(record), context.file.module.computation_of(record)
    if number is None or computation is None or not computation.is_entry:
        return
    label = donation_labels(context.dump).get(number)
    if label is not None:
        text = record.parsed
        yield _hint_in(text, line, HintKind.DONATION, text.attributes_at, label)


def _operand_hints(module: ModuleIndex, record: InstructionLine) -> Hints:
    text = record.parsed
    for number, span in enumerate(text.operands):
        if span.start > MAX_HINT_COLUMN:
            return
        start = _name_start(text, span)
        if not span.text or text.line[:start].rstrip()[-1:] not in {"(", ","}:
            continue
        operand = module.operand(record, span.text)
        if operand is not None and operand.shape:
            tooltip = f"operand {number}: {operand.shape[:MAX_HINT_COLUMN]}"
            found = _shape_label(operand.shape), tooltip
            yield _hint_in(text, record.line, HintKind.OPERAND_SHAPE, start, found, is_before=True)


def _passed_operand_label(module: ModuleIndex, record: InstructionLine) -> LabelAndTooltip | None:
    """Return the label of the operand that a parameter of a fused computation receives."""
    number = parameter_number(record)
    computation = None if number is None else module.computation_of(record)
    if number is None or computation is None or computation.is_entry:
        return None
    names = [
        (caller.name, name)
        for caller in module.callers(computation)
        if caller.opcode in _INLINED_OPCODES
        for name in _operand_names(caller.text, caller.opened)[number : number + 1]
        if name
    ]
    if not names:
        return None
    more = f" (+{len(names) - 1})" if len(names) > 1 else ""
    lines = [f"operand {number} of %{caller}: %{name}" for caller, name in names]
    return f"= %{names[0][1]}{more}", "\n".join(lines[:_MAX_LISTED_CALLERS])


@lru_cache(maxsize=256)  # a fusion of a thousand parameters is read once, not a thousand times
def _operand_names(text: str, opened: int) -> tuple[str, ...]:
    return operand_names(text, opened, "fusion")


@lru_cache(maxsize=1 << 12)
def _shape_label(text: str) -> str:
    elements = element_texts(text)
    if elements is not None:
        return f"tuple of {len(elements)}"
    return shortened(short_shape(text), _MAX_SHAPE_LABEL_CHARACTERS)


def _name_start(text: InstructionText, span: TextSpan) -> int:
    """Return the column of a name including its ``%``."""
    return span.start - (text.line[span.start - 1 : span.start] == "%")
