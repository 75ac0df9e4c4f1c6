"""Cursor targets: the entities that a position in a dump can refer to."""

from dataclasses import dataclass

from hlo_lsp.model.place import Place
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow, SequenceRow
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import ThunkRow
from hlo_lsp.syntax.used_value import UsedValue


def name_columns(record: Record, text: str) -> tuple[int, int]:
    """Return the columns of the name in the first line of a record.

    For a value these are the columns of ``<2 add.14 @0>``. The columns follow from the fixed parts
    of the line: outlines need them for every record, and scanning the line again is too slow.
    """
    if isinstance(record, UsedValue):
        start, end = text.find("<", record.column), text.rfind(">") + 1
    elif isinstance(record, AssignedValue):
        start, end = text.find("<"), text.find(">") + 1
    elif isinstance(record, RangeRow | PeakRow):
        start = 4
        end = start + len(record.name) + len(record.index or "")
    elif isinstance(record, SequenceRow):
        start, end = text.find(":") + 1, len(text)
    elif isinstance(record, InlineComputation):  # Without a name, the attribute identifies it.
        start = text.find(f"{record.attribute}=")
        end = start + len(record.attribute)
    elif isinstance(record, InstructionLine | ComputationLine):
        start = text.find(record.name, _name_search_start(record, text))
        end = start + len(record.name)
    else:
        start = end = -1
    if start < 0 or end <= start:
        return len(text) - len(text.lstrip()), len(text.rstrip())
    return start, end


def _name_search_start(record: InstructionLine | ComputationLine, text: str) -> int:
    """Return a column after every keyword that can precede the name."""
    if isinstance(record, ComputationLine):
        return text.find("ENTRY") + 5 if record.is_entry else 0
    begin = record.column
    return text.find("ROOT", begin) + 4 if record.is_root else begin


@dataclass(frozen=True, slots=True)
class ValueTarget:
    """A value by its name and shape index, and by its id if the mention prints one."""

    key: str
    id: int | None


@dataclass(frozen=True, slots=True)
class InstructionTarget:
    """An instruction and an optional shape index.

    Module text prints no shape indices and always refers to the whole result. In a use,
    ``operand`` is the operand number and ``index`` is the shape index in that operand.
    """

    name: str
    index: str | None
    operand: int | None = None


@dataclass(frozen=True, slots=True)
class ComputationTarget:
    """A computation."""

    name: str


@dataclass(frozen=True, slots=True)
class AllocationTarget:
    """An allocation by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class ShapeTarget:
    """A shape, or the leaf at the cursor if it is a tuple shape.

    ``has_layout`` is False where XLA prints shapes without layouts: between bars and in reports.
    The padding of such a shape is unknown.
    """

    text: str
    has_layout: bool


@dataclass(frozen=True, slots=True)
class MemorySpaceTarget:
    """A memory space."""

    number: int


@dataclass(frozen=True, slots=True)
class TermTarget:
    """A term of the dump format with a glossary entry: a flag, a field, or a section label."""

    word: str


@dataclass(frozen=True, slots=True)
class ThunkTarget:
    """A thunk of a GPU executable."""

    row: ThunkRow


@dataclass(frozen=True, slots=True)
class TupleElementTarget:
    """The tuple element that a ``get-tuple-element`` selects by ``index=1``."""

    instruction: str
    number: int


@dataclass(frozen=True, slots=True)
class ParameterTarget:
    """A parameter of the enclosing computation by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class AttributeTarget:
    """An attribute of an instruction, or of a module or computation if ``opcode`` is empty.

    ``value`` is the text after the equals sign; ``key`` is the field of that text at the cursor.
    """

    name: str
    opcode: str
    value: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class LocationRowTarget:
    """A row of one of the four source-location tables, counted from 1."""

    table: str
    number: int


@dataclass(frozen=True, slots=True)
class ModuleTarget:
    """A module."""

    name: str


TargetEntity = (
    ValueTarget
    | InstructionTarget
    | ComputationTarget
    | AllocationTarget
    | ShapeTarget
    | MemorySpaceTarget
    | TermTarget
    | ThunkTarget
    | TupleElementTarget
    | ParameterTarget
    | AttributeTarget
    | LocationRowTarget
    | ModuleTarget
)


@dataclass(frozen=True, slots=True)
class CursorTarget:
    """The entity at the cursor and the text that mentions it.

    Attributes:
        entity: The entity.
        place: The range of the mention.
        record: The record that contains the mention.
        row: Line of the mention in the record, counted from 0.
    """

    entity: TargetEntity
    place: Place
    record: Record
    row: int

    @property
    def is_own_header(self) -> bool:
        """Return whether the target is the header line of a value's entry."""
        return isinstance(self.record, UsedValue) and self.row == 0
