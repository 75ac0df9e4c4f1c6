"""The module text from which the memory files of a compile were printed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.file_names import Role, suffix_of
from hlo_lsp.model.shape import Array, BufferShape, Shape, TupleShape, try_shape
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.metadata import metadata_fields
from hlo_lsp.syntax.module_records import InstructionLine

# Texts of the same names from before or after, in which layouts or operands may be others.
_OTHER_MOMENTS = frozenset(
    {
        Role.BEFORE_OPTIMIZATIONS,
        Role.PASS,
        Role.AFTER_SPMD_PARTITIONER,
        Role.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
        Role.AFTER_CODEGEN,
    }
)


def printed_module(dump: DumpSet) -> DumpFile | None:
    """The text from the moment at which buffers were assigned; None without one."""
    for file in dump.files:
        if file.kind is FileKind.MODULE and _role(file) not in _OTHER_MOMENTS:
            return file
    return None


def running_module(dump: DumpSet) -> DumpFile | None:
    """The scheduled text; None where there is a later one, of which the same can be said."""
    if any(_role(other) is Role.AFTER_OPTIMIZATIONS for other in dump.others):
        return None
    for file in dump.files:
        if file.kind is FileKind.MODULE and file.module.header is not None:
            return file if "is_scheduled=true" in file.module.header.text else None
    return None


def original_module(dump: DumpSet) -> DumpFile | None:
    """Return the text before optimizations; None without one that is whole and up to date."""
    for file in dump.others:
        if _role(file) is Role.BEFORE_OPTIMIZATIONS and file.is_fresh and is_whole(file):
            return file
    return None


def is_whole(module: DumpFile) -> bool:
    """Whether every line of a module text can be read and none is known to be missing."""
    return not module.module.damaged and ending(module) is None


def _role(file: DumpFile) -> Role | None:
    return None if file.path is None else suffix_of(file.path.name).role


_METADATA = re.compile(r'metadata=\{(?:"(?:[^"\\]|\\.)*"|\{[^{}"]*\}|[^"{}])*\}')
# By operation and Python line what was found in the other texts: finding takes 30 ms in 5 MB.
_Known = dict[tuple[str, tuple[str, int] | None], list[Located[InstructionLine]]]


def counterparts(dump: DumpSet, line: Located[InstructionLine]) -> list[Located[InstructionLine]]:
    """The instructions for the same operation and Python line in the other texts, in order.

    Of the same name first: between two passes most instructions keep theirs.
    """
    text = line.record.parsed
    operation = _operation(text)
    if operation is None:
        return []
    source = innermost(line.file, text)
    known = dump.derived(_nothing_yet, list(dump.others))
    key = operation, None if source is None else (source.file, source.line)
    if key not in known:
        known[key] = [
            Located(other, record)
            for other in dump.others
            for record in sorted(_alike(other, operation, source), key=lambda record: record.line)
        ]
    name, order = line.record.name, dump.others.index
    return sorted(known[key], key=lambda one: (order(one.file), one.record.name != name))


def innermost(file: DumpFile, text: InstructionText) -> SourceLine | None:
    """The innermost Python line of an instruction, by its metadata and the tables of its module."""
    metadata = text.metadata
    if "source_file" in metadata:
        number = metadata.get("source_line", "")
        return SourceLine(metadata["source_file"], int(number) if _is_number(number) else 1)
    frame = metadata.get("stack_frame_id", "")
    return next(file.module.tables.stack(int(frame)), None) if _is_number(frame) else None


def _nothing_yet(_: DumpSet) -> _Known:
    return {}


def _alike(file: DumpFile, operation: str, source: SourceLine | None) -> Iterator[InstructionLine]:
    known: dict[str, bool] = {}  # by metadata as printed: many instructions have the same
    for record in file.module.instructions.records():
        if operation not in record.text:
            continue
        printed = _METADATA.findall(record.text)
        if len(printed) != 1:
            is_alike = _is_alike(file, record, operation, source)
        elif (told := known.get(printed[0])) is None:
            is_alike = known[printed[0]] = _is_alike(file, record, operation, source)
        else:
            is_alike = told
        if is_alike:
            yield record


def _is_alike(
    file: DumpFile, record: InstructionLine, operation: str, source: SourceLine | None
) -> bool:
    text = record.parsed
    if _operation(text) != operation:
        return False
    own = innermost(file, text)
    return own is None or source is None or (own.file, own.line) == (source.file, source.line)


def _operation(text: InstructionText) -> str | None:
    """``op_name="..."`` as it is printed."""
    value = text.attribute("metadata")
    if value is None:
        return None
    for field in metadata_fields(text.line, value.start - len("metadata=")):
        if field.name == "op_name" and field.value:
            return text.line[field.start : field.end]
    return None


def _is_number(digits: str) -> bool:
    return digits.isdecimal() and len(digits) < 10


class Origin(Enum):
    """Where a constant comes from."""

    PROGRAM = "a constant of as many elements is in the text before optimizations"
    XLA = "the text before optimizations has no constant of as many elements, or of more"
    UNKNOWN = "there is no such text, or it has larger constants only"


@dataclass(frozen=True, slots=True)
class _Counts:
    """The numbers of elements of all constants of a text; ``is_whole`` if all are known."""

    elements: frozenset[int]
    is_whole: bool


def constant_origin(dump: DumpSet, shape: str) -> Origin:
    """Return where a constant of the compiled program comes from.

    Passes transpose, convert, slice and partition the constants of a program, which adds no
    elements. A constant with more elements than any before optimizations is therefore the result
    of an operation that XLA evaluated.
    """
    original = original_module(dump)
    count = _elements(shape)
    if original is None or count is None:
        return Origin.UNKNOWN
    known = dump.derived(_original_counts, [original])
    if count in known.elements:
        return Origin.PROGRAM
    if not known.is_whole or any(other > count for other in known.elements):
        return Origin.UNKNOWN
    return Origin.XLA


def _original_counts(dump: DumpSet) -> _Counts:
    original = original_module(dump)
    counts: set[int | None] = set()
    if original is not None:
        for record in original.module.instructions.records():
            if record.opcode == "constant":
                shape = try_shape(record.shape)
                counts.update((None,) if shape is None else map(_count, _arrays(shape)))
    return _Counts(frozenset(count for count in counts if count is not None), None not in counts)


def _elements(text: str) -> int | None:
    shape = try_shape(text)
    return _count(shape) if isinstance(shape, Array) else None


def _count(array: Array) -> int | None:
    return array.elements


def _arrays(shape: Shape) -> Iterator[Array]:
    if isinstance(shape, Array):
        yield shape
    elif isinstance(shape, BufferShape):
        yield from _arrays(shape.shape)
    elif isinstance(shape, TupleShape):
        for element in shape.elements:
            yield from _arrays(element)
