"""Cursor targets: the entities that a position in a dump can refer to."""

from dataclasses import dataclass

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord, Place, Statement, Value
from hlo_lsp.model.unknown_lines import is_shortened
from hlo_lsp.program.schedule import thunk_instruction
from hlo_lsp.syntax.filecheck import CaptureMention
from hlo_lsp.syntax.instruction_text import InstructionText, parse_shortened
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.scanners import ThunkRow


class TargetEntity:
    """An entity that a position in a dump can refer to."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ValueTarget(TargetEntity):
    """A value by its name and shape index, and by its id if the mention prints one."""

    key: str
    id: int | None


@dataclass(frozen=True, slots=True)
class InstructionTarget(TargetEntity):
    """An instruction and an optional shape index.

    Module text prints no shape indices and always refers to the whole result. In a use,
    ``operand`` is the operand number and ``index`` is the shape index in that operand.

    ``name`` is ``tuple#1`` for an element of a tuple; ``holder`` is the tuple if the cursor is on
    its name in such an operand.
    """

    name: str
    index: str | None
    operand: int | None = None
    holder: str | None = None


@dataclass(frozen=True, slots=True)
class ComputationTarget(TargetEntity):
    """A computation."""

    name: str


@dataclass(frozen=True, slots=True)
class CaptureTarget(TargetEntity):
    """A variable of FileCheck in a comment."""

    mention: CaptureMention


@dataclass(frozen=True, slots=True)
class AllocationTarget(TargetEntity):
    """An allocation by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class ShapeTarget(TargetEntity):
    """A shape, or the leaf at the cursor if it is a tuple shape.

    ``has_layout`` is False where XLA prints shapes without layouts: between bars and in reports.
    The padding of such a shape is unknown.
    """

    text: str
    has_layout: bool


@dataclass(frozen=True, slots=True)
class MemorySpaceTarget(TargetEntity):
    """A memory space."""

    number: int


@dataclass(frozen=True, slots=True)
class TermTarget(TargetEntity):
    """A term of the dump format with a glossary entry: a flag, a field, or a section label."""

    word: str


@dataclass(frozen=True, slots=True)
class ThunkTarget(TargetEntity):
    """A thunk of a GPU executable."""

    row: ThunkRow


@dataclass(frozen=True, slots=True)
class TupleElementTarget(TargetEntity):
    """The tuple element that a ``get-tuple-element`` selects by ``index=1``."""

    instruction: str
    number: int


@dataclass(frozen=True, slots=True)
class ParameterTarget(TargetEntity):
    """A parameter of the enclosing computation by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class AttributeTarget(TargetEntity):
    """An attribute of an instruction, or of a module or computation if ``opcode`` is empty.

    ``value`` is the text after the equals sign; ``key`` is the field of that text at the cursor.
    """

    name: str
    opcode: str
    value: str
    key: str | None = None


# The tables of source locations, each with the field by which rows of others name its rows.
LOCATION_FIELDS = {
    "FileNames": "file_name_id",
    "FunctionNames": "function_name_id",
    "FileLocations": "file_location_id",
    "StackFrames": "parent_frame_id",
}


@dataclass(frozen=True, slots=True)
class LocationRowTarget(TargetEntity):
    """A row of one of the four source-location tables, counted from 1."""

    table: str
    number: int


@dataclass(frozen=True, slots=True)
class ModuleTarget(TargetEntity):
    """A module."""

    name: str


@dataclass(frozen=True, slots=True)
class CursorTarget:
    """The entity at the cursor, the place that mentions it, and the record of the mention."""

    entity: TargetEntity
    place: Place
    record: Record

    @property
    def is_in_module_text(self) -> bool:
        """Return whether names at the target refer to instructions of the same computation."""
        return isinstance(self.record, InstructionLine | ComputationLine | BrokenRecord)


def target_value(dump: Compile, entity: ValueTarget) -> Value | None:
    """Return the value of a cursor target, by id if it has one, otherwise by name and index."""
    by_id = None if entity.id is None else dump.value(entity.id)
    return by_id or dump.value_of_key(entity.key)


def target_instruction(dump: Compile, entity: TargetEntity) -> str | None:
    """Return the name of the instruction of an entity: of a value, the one that defines it."""
    match entity:
        case InstructionTarget(name=name) | TupleElementTarget(instruction=name):
            return name
        case ThunkTarget(row=row):
            return thunk_instruction(dump, row)
        case ValueTarget(key=key):
            value = target_value(dump, entity)
            return key.partition("{")[0] if value is None else value.name
    return None


def resolve_instruction(
    dump: Compile, target: CursorTarget, name: str
) -> LocatedRecord[InstructionLine] | None:
    """Return the instruction that a name at the cursor refers to.

    In module text a name refers to an instruction of the same computation. In memory files XLA
    prints names that are unique in the module.
    """
    if not target.is_in_module_text:
        return dump.instruction(name)
    file = target.place.file
    record = file.module.instruction_in_scope(_scope(target), name)
    return None if record is None else LocatedRecord(file, record)


def _scope(target: CursorTarget) -> Record | None:
    """Return the computation of a target in module text, or a broken line that may be one."""
    file, record = target.place.file, target.record
    if isinstance(record, InstructionLine):
        return file.module.scope_of(record)
    return record if isinstance(record, ComputationLine) else file.records.head_of(record)


def instruction_at(dump: Compile, target: CursorTarget) -> LocatedRecord[InstructionLine] | None:
    """Return the instruction at the cursor; of a value, the one that defines it."""
    name = target_instruction(dump, target.entity)
    return None if name is None else resolve_instruction(dump, target, name)


@dataclass(frozen=True, slots=True)
class ShortenedLine:
    """An instruction with dots in place of text, the place of its name, and its readers."""

    text: InstructionText
    place: Place
    readers: tuple[LocatedRecord[InstructionLine], ...]


def resolve_shortened(target: CursorTarget, name: str) -> ShortenedLine | None:
    """Return the line with this name in the computation of a target, if text was left out of it."""
    file, scope = target.place.file, _scope(target)
    module = file.module
    for record, defined in module.damaged.items():
        if defined != name or file.records.head_of(record) is not scope:
            continue
        text = parse_shortened(record.text) if is_shortened(record.text) else None
        if text is not None:
            place = Statement(file, record.line, record.text).place(text.name.start, text.name.end)
            readers = [
                LocatedRecord(file, one)
                for one in module.mentioning(name)
                if name in one.reads and module.scope_of(one) is scope
            ]
            return ShortenedLine(text, place, tuple(readers))
    return None


def resolve_computation(
    dump: Compile, target: CursorTarget, name: str
) -> LocatedRecord[ComputationLine] | None:
    """Return the computation with this name, preferably from the file of the cursor target."""
    own = target.place.file.module.named(name)
    return dump.computation(name) if own is None else LocatedRecord(target.place.file, own)


def resolve_parameter(target: CursorTarget, number: int) -> LocatedRecord[InstructionLine] | None:
    """Return a parameter of the computation around a target; in a module header, of the entry."""
    file, record = target.place.file, target.record
    head = file.module.entry if isinstance(record, ModuleHeader) else None
    if isinstance(record, InstructionLine):
        head = file.module.computation_of(record)
    parameter = None if head is None else file.module.computation(head).parameters.get(number)
    return None if parameter is None else LocatedRecord(file, parameter)


def resolve_location_row(
    dump: Compile, target: CursorTarget, entity: LocationRowTarget
) -> LocatedRecord[Record] | None:
    """Return a row of a source-location table, preferably from the file of the cursor target."""
    for file in (target.place.file, *dump.files):
        rows = file.module.tables.rows[entity.table]
        if 0 < entity.number <= len(rows):
            return LocatedRecord(file, rows[entity.number - 1])
    return None
