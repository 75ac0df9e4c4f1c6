"""Inlay hints of a range of lines."""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from hlo_lsp.ide.hints.hint import (
    MAX_HINT_COLUMN,
    Hint,
    HintContext,
    HintKind,
    Hints,
    allocation_hint,
    allocation_hint_by_key,
)
from hlo_lsp.ide.hints.instruction_hints import (
    instruction_hints,
    logical_size_hint,
    shape_hints,
    source_hints,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue


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
