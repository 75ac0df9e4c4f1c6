"""Hints in the files of buffer assignment and liveness."""

from functools import partial

from hlo_lsp.analysis.hints.hint import Hint, HintKind, Hints, Scene
from hlo_lsp.analysis.hints.instructions import shape_hints, source_hints
from hlo_lsp.analysis.hints.places import allocation_note, note_of
from hlo_lsp.analysis.hints.sizes import elements_note
from hlo_lsp.model.dump_set import defining_text
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue


def memory_hints(scene: Scene, record: Record) -> Hints:
    """The hints of a record of a memory file."""
    if isinstance(record, AssignedValue):
        if HintKind.PADDED_SIZE in scene.kinds:
            yield from _size_hint(scene, record)
    elif isinstance(record, UsedValue):
        yield from _entry_hints(scene, record)
    elif isinstance(record, RangeRow | PeakRow) and HintKind.ALLOCATION in scene.kinds:
        note = None if record.key is None else allocation_note(scene.dump, record.key)
        if note is not None:
            line = scene.file.lines[record.line]
            column = len(line) - len(line.lstrip()) + len(record.key or "")
            yield Hint(HintKind.ALLOCATION, record.line, column, *note)


def _size_hint(scene: Scene, record: AssignedValue) -> Hints:
    note = elements_note(scene.dump, record.shape, record.size, record.color or 0)
    if note is not None:
        column = len(scene.file.lines[record.line].rstrip())
        label, words = note
        yield Hint(HintKind.PADDED_SIZE, record.line, column, label, partial(str, words))


def _entry_hints(scene: Scene, record: UsedValue) -> Hints:
    """The allocation stands on the line above the value elsewhere, and far away from here."""
    dump = scene.dump
    value = None if record.id is None else dump.value(record.id)
    column = record.lines[0].rfind(">") + 1
    if value is not None and column and HintKind.ALLOCATION in scene.kinds:
        note = note_of(dump, value)
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
