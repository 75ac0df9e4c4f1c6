"""Where in its line the name stands that a record is about."""

from dataclasses import dataclass

from hlo_lsp.model.place import Place
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow, SequenceRow
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import ThunkRow
from hlo_lsp.syntax.used_value import UsedValue


def name_columns(record: Record, text: str) -> tuple[int, int]:
    """The columns of the name in the first line of a record: of ``<2 add.14 @0>`` for a value.

    By the fixed parts of the line, without reading it again: outlines ask this for every record.
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
    elif isinstance(record, InlineComputation):  # has no name; the attribute says what it is
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
    """A column behind everything that may stand in front of the name."""
    if isinstance(record, ComputationLine):
        return text.find("ENTRY") + 5 if record.is_entry else 0
    begin = record.column
    return text.find("ROOT", begin) + 4 if record.is_root else begin


@dataclass(frozen=True, slots=True)
class ValueTarget:
    """A value, by name and index, and by id where the mention prints one."""

    key: str
    id: int | None


@dataclass(frozen=True, slots=True)
class InstructionTarget:
    """An instruction, with the index printed beside its name.

    Module text prints no indexes: there the whole result is meant.
    In a use ``operand`` is the number of the operand, and the index is a place in that operand.
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
    """An allocation, by number."""

    number: int


@dataclass(frozen=True, slots=True)
class ShapeTarget:
    """A shape, or the leaf of a tuple shape that the cursor is on.

    ``has_layout`` is False where XLA prints shapes without their layout: between bars and in
    reports. Nothing is known of the padding there.
    """

    text: str
    has_layout: bool


@dataclass(frozen=True, slots=True)
class MemorySpaceTarget:
    """A memory space."""

    number: int


@dataclass(frozen=True, slots=True)
class TermTarget:
    """A word of the format that wants explaining: a flag, a field, a section label."""

    word: str


@dataclass(frozen=True, slots=True)
class ThunkTarget:
    """A thunk of a GPU executable."""

    row: ThunkRow


@dataclass(frozen=True, slots=True)
class TupleElementTarget:
    """An element of a tuple, as ``get-tuple-element`` names it: ``index=1``."""

    instruction: str
    number: int


@dataclass(frozen=True, slots=True)
class ParameterTarget:
    """A parameter of the computation that the instruction is in, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class AttributeTarget:
    """An attribute of an instruction of this opcode; without one, of the module or a computation.

    ``value`` is the text behind the sign. ``key`` is the word inside of it that is meant.
    """

    name: str
    opcode: str
    value: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class LocationRowTarget:
    """A row of one of the four tables of source locations, counted from 1."""

    table: str
    number: int


@dataclass(frozen=True, slots=True)
class ModuleTarget:
    """A whole module."""

    name: str


TargetKind = (
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
    """A subject, where exactly it is mentioned, and the record that mentions it."""

    subject: TargetKind
    place: Place
    record: Record
    row: int

    @property
    def is_own_header(self) -> bool:
        """Whether this is the header of a value's own entry."""
        return isinstance(self.record, UsedValue) and self.row == 0
