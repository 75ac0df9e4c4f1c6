"""Cursor targets: the entities that a position in a dump can refer to."""

from dataclasses import dataclass

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord, Place, Value
from hlo_lsp.program.schedule import thunk_instruction
from hlo_lsp.syntax.filecheck import CaptureMention
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.records import Record
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
        return isinstance(self.record, InstructionLine | ComputationLine)


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
    file, scope = target.place.file, target.record
    module = file.module
    if isinstance(scope, InstructionLine):
        record = module.instruction_in_scope(module.scope_of(scope), name)
    else:
        record = module.instruction_in_scope(scope, name)
    return None if record is None else LocatedRecord(file, record)


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
