"""The hints on some lines of a file."""

from collections.abc import Iterator
from itertools import chain

from hlo_lsp.analysis.hints.hint import LONGEST, Hint, HintKind, Hints, Scene
from hlo_lsp.analysis.hints.instructions import instruction_hints
from hlo_lsp.analysis.hints.memory import memory_hints
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record

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
    scene = Scene(dump, file, kinds)
    record = file.records.at(first) if first < end else None
    if record is None:
        return
    for each in chain([record], file.records.after(record)):
        if each.line >= end:
            return
        yield [
            hint
            for hint in _of_record(scene, each)
            if first <= hint.line < end and hint.column <= LONGEST
        ]


def _of_record(scene: Scene, record: Record) -> Hints:
    if scene.file.kind.is_memory:
        yield from memory_hints(scene, record)
    elif scene.file.kind is FileKind.MODULE:
        if isinstance(record, InstructionLine):
            yield from instruction_hints(scene, record)
        elif isinstance(record, ComputationLine):
            for member in record.members:
                yield from instruction_hints(scene, member)
