"""Hints in the files of buffer assignment and liveness."""

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


def memory_hints(scene: HintContext, record: Record) -> Hints:
    """The hints of a record of a memory file."""
    if isinstance(record, AssignedValue):
        if HintKind.PADDED_SIZE in scene.kinds:
            yield from _size_hint(scene, record)
    elif isinstance(record, UsedValue):
        yield from _entry_hints(scene, record)
    elif isinstance(record, RangeRow | PeakRow) and HintKind.ALLOCATION in scene.kinds:
        note = None if record.key is None else allocation_hint_by_key(scene.dump, record.key)
        if note is not None:
            line = scene.file.lines[record.line]
            column = len(line) - len(line.lstrip()) + len(record.key or "")
            yield Hint(HintKind.ALLOCATION, record.line, column, *note)


def _size_hint(scene: HintContext, record: AssignedValue) -> Hints:
    note = logical_size_hint(scene.dump, record.shape, record.size, record.color or 0)
    if note is not None:
        column = len(scene.file.lines[record.line].rstrip())
        label, words = note
        yield Hint(HintKind.PADDED_SIZE, record.line, column, label, partial(str, words))


def _entry_hints(scene: HintContext, record: UsedValue) -> Hints:
    """The allocation stands on the line above the value elsewhere, and far away from here."""
    dump = scene.dump
    value = None if record.id is None else dump.value(record.id)
    column = record.lines[0].rfind(">") + 1
    if value is not None and column and HintKind.ALLOCATION in scene.kinds:
        note = allocation_hint(dump, value)
        if note is not None:
            yield Hint(HintKind.ALLOCATION, record.line, record.column + column, *note)
    text = defining_text(record)
    if text is None:
        return
    line = record.line + len(record.lines) - 1
    if HintKind.PADDED_SIZE in scene.kinds:
        yield from shape_hints(dump, text, line)
    if HintKind.SOURCE in scene.kinds:
        yield from source_hints(dump, text, line)


ALL_KINDS = frozenset(HintKind)


def hints(
    dump: DumpSet,
    file: DumpFile,
    first: int = 0,
    end: int | None = None,
    kinds: frozenset[HintKind] = ALL_KINDS,
) -> Iterator[list[Hint]]:
    """The hints of these kinds on the lines from ``first`` up to ``end`` (exclusive), in parts.

    Those of one record come together, so that there is time for others in between.
    """
    end = len(file.lines) if end is None else min(end, len(file.lines))
    scene = HintContext(dump, file, kinds)
    record = file.records.at(first) if first < end else None
    if record is None:
        return
    for each in chain([record], file.records.after(record)):
        if each.line >= end:
            return
        yield [
            hint
            for hint in _of_record(scene, each)
            if first <= hint.line < end and hint.column <= MAX_HINT_COLUMN
        ]


def _of_record(scene: HintContext, record: Record) -> Hints:
    if scene.file.kind.is_memory:
        yield from memory_hints(scene, record)
    elif scene.file.kind is FileKind.MODULE:
        if isinstance(record, InstructionLine):
            yield from instruction_hints(scene, record)
        elif isinstance(record, ComputationLine):
            for member in record.members:
                yield from instruction_hints(scene, member)
