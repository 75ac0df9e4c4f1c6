"""Module texts of the stages of a compile, and instructions that correspond across them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import ending
from hlo_lsp.model.shape import ArrayShape, arrays_of, try_shape
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.metadata_text import metadata_fields
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import is_balanced

# Module texts of stages before or after buffer assignment, with other layouts or operands.
_ROLES_OF_OTHER_STAGES = frozenset(
    {
        FileRole.BEFORE_OPTIMIZATIONS,
        FileRole.PASS,
        FileRole.AFTER_SPMD_PARTITIONER,
        FileRole.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
        FileRole.AFTER_CODEGEN,
    }
)
# Those that the compiler still transforms.
_UNOPTIMIZED_ROLES = frozenset(
    {FileRole.BEFORE_OPTIMIZATIONS, FileRole.PASS, FileRole.AFTER_SPMD_PARTITIONER}
)


def is_optimized(file: DumpFile) -> bool:
    """Return False if the name of a module text says that the compiler still transforms it.

    What runs can then do less than the text says.
    """
    return _role(file) not in _UNOPTIMIZED_ROLES


def module_at_buffer_assignment(dump: Compile) -> DumpFile | None:
    """Return the module text at buffer assignment, or None if it is missing."""
    return next(filter(is_at_assignment, dump.files), None)


def is_at_assignment(file: DumpFile) -> bool:
    """Return whether a file is the module text at buffer assignment, by its name."""
    return file.kind is FileKind.MODULE and _role(file) not in _ROLES_OF_OTHER_STAGES


def comparable_modules(before: Compile, after: Compile) -> tuple[DumpFile, DumpFile] | None:
    """Return the module texts of two compiles that are compared, None if one is missing.

    They are the texts at buffer assignment. Where a compile has only texts of another stage, such
    as those before optimizations, these are compared with the other compile.
    """
    texts = [module_at_buffer_assignment(dump) or dump.module_file for dump in (before, after)]
    first, second = texts
    if first is None or second is None or None in (first.module.entry, second.module.entry):
        return None
    return first, second


def scheduled_module(dump: Compile) -> DumpFile | None:
    """Return the scheduled module, or None if the compile has a later text."""
    if any(_role(other) is FileRole.AFTER_OPTIMIZATIONS for other in dump.others):
        return None
    for file in dump.files:
        if file.kind is FileKind.MODULE and file.module.header is not None:
            return file if file.module.header.is_scheduled else None
    return None


@query
def unoptimized_module(dump: Compile) -> DumpFile | None:
    """Return the module before optimizations if it is complete."""
    for file in dump.others:
        if _role(file) is FileRole.BEFORE_OPTIMIZATIONS and is_complete_module(file):
            return file
    return None


def is_complete_module(module: DumpFile) -> bool:
    """Return whether every line of a module is valid and none is known to be missing."""
    return not module.module.damaged and ending(module) is None


def _role(file: DumpFile) -> FileRole | None:
    return None if file.path is None else suffix_of(file.path.name).role


_line = attrgetter("line")
_OPERATION = re.compile(r'op_name="(?:[^"\\]|\\.)*"')


def counterparts(
    dump: Compile, line: LocatedRecord[InstructionLine]
) -> dict[DumpFile, list[InstructionLine]]:
    """Return instructions with the same operation and Python line in each other module text.

    Instructions of the same name come first: between two passes most instructions keep their name.
    """
    return {
        file: sorted(found, key=lambda record: record.name != line.record.name)
        for file, found in _matching_instructions(dump.others, line).items()
    }


def counterpart_in(file: DumpFile, line: LocatedRecord[InstructionLine]) -> InstructionLine | None:
    """Return an instruction in another module text: by name, else by operation and Python line.

    Of several with the name, that in a computation of the same name is preferred.
    """
    home = line.file.module.computation_of(line.record)
    named = file.module.instructions.all(line.record.name)

    def is_at_home(one: InstructionLine) -> bool:
        other = file.module.computation_of(one)
        return home is not None and other is not None and home.name == other.name

    if named:
        return max(named, key=is_at_home)
    found = _matching_instructions([file], line).get(file, [])
    return max(found, key=lambda one: (one.opcode == line.record.opcode, -one.line), default=None)


@query
def instructions_by_operation(file: DumpFile) -> dict[str, dict[str, list[InstructionLine]]]:
    """Return the instructions with each ``op_name="..."``, by their text from the metadata on.

    They are in the order of the file; many have the same text from there. For a file of 5 MB, this
    takes 40 ms, and a search for one operation takes 14 ms.
    """
    found: dict[str, dict[str, list[InstructionLine]]] = {}
    for record in sorted(file.module.instructions.records(), key=_line):
        checkpoint()
        for operation in dict.fromkeys(_OPERATION.findall(record.text)):
            metadata = record.text.partition("metadata=")[2]
            found.setdefault(operation, {}).setdefault(metadata, []).append(record)
    return found


def _matching_instructions(
    files: Iterable[DumpFile], line: LocatedRecord[InstructionLine]
) -> dict[DumpFile, list[InstructionLine]]:
    """Return the instructions of the same operation and Python line, in the order of each text."""
    text = line.record.parsed
    operation = _operation(text)
    if operation is None:
        return {}
    source = next(iter(line.file.module.tables.stack_of(text.metadata)), None)
    matching = {}
    for file in files:
        found = []
        for records in instructions_by_operation(file).get(operation, {}).values():
            # The metadata of an instruction with unclosed brackets may be inside of its operands.
            whole = next((n for n, one in enumerate(records) if is_balanced(one.text, 0)), None)
            if whole is not None and _has_same_origin(file, records[whole], operation, source):
                found += records[whole:]
        matching[file] = sorted(found, key=_line)
    return matching


def _has_same_origin(
    file: DumpFile, record: InstructionLine, operation: str, source: SourceLine | None
) -> bool:
    text = record.parsed
    if _operation(text) != operation:
        return False
    own = next(iter(file.module.tables.stack_of(text.metadata)), None)
    return own is None or source is None or (own.file, own.line) == (source.file, source.line)


def _operation(text: InstructionText) -> str | None:
    """Return ``op_name="..."`` as printed."""
    value = text.attribute("metadata")
    if value is None:
        return None
    for field in metadata_fields(text.line, value.start - len("metadata=")):
        if field.name == "op_name" and field.value:
            return text.line[field.start : field.end]
    return None


class ConstantOrigin(Enum):
    """Origin of a constant."""

    PROGRAM = "a constant of as many elements is in the text before optimizations"
    XLA = "the text before optimizations has no constant of as many elements, or of more"
    UNKNOWN = "the text before optimizations is missing, or has only larger constants"


@dataclass(frozen=True, slots=True)
class _ConstantSizes:
    """Numbers of elements of all constants of a module; ``is_whole`` if all are known."""

    elements: frozenset[int]
    is_whole: bool


def constant_origin(dump: Compile, shape: str) -> ConstantOrigin:
    """Return the origin of a constant in the compiled program.

    Passes transpose, convert, slice, and partition the constants of a program, which adds no
    elements. A constant with more elements than any constant before optimizations is the result of
    an operation that XLA evaluated.
    """
    original = unoptimized_module(dump)
    array = try_shape(shape)
    count = array.elements if isinstance(array, ArrayShape) else None
    if original is None or count is None:
        return ConstantOrigin.UNKNOWN
    known = _unoptimized_constant_sizes(dump)
    if count in known.elements:
        return ConstantOrigin.PROGRAM
    if not known.is_whole or any(other > count for other in known.elements):
        return ConstantOrigin.UNKNOWN
    return ConstantOrigin.XLA


@query
def _unoptimized_constant_sizes(dump: Compile) -> _ConstantSizes:
    original = unoptimized_module(dump)
    counts: set[int | None] = set()
    if original is not None:
        for record in original.module.instructions.records():
            if record.opcode == "constant":
                shape = try_shape(record.shape)
                counts.update(array.elements for array in arrays_of(shape))
                counts.update((None,) if shape is None else ())
    return _ConstantSizes(
        frozenset(count for count in counts if count is not None), None not in counts
    )
