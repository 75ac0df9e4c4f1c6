"""The records of HLO module text. Names come without ``%``."""

from dataclasses import dataclass
from re import Match
from sys import intern

from hlo_lsp.syntax.records import Record


@dataclass(slots=True, eq=False)
class ModuleHeader(Record):
    """``HloModule jit_f, is_scheduled=true, ...``."""

    rule = "module_header"
    is_head = True
    name: str

    @classmethod
    def of(cls, match: Match[str]) -> "ModuleHeader":
        """Read from a match of the rule."""
        return cls(match["NAME"])


@dataclass(slots=True, eq=False)
class TableLabel(Record):
    """``FileNames``, ``FunctionNames``, ``FileLocations`` or ``StackFrames``."""

    rule = "table_label"
    is_head = True
    table: str

    @classmethod
    def of(cls, match: Match[str]) -> "TableLabel":
        """Read from a match of the rule."""
        return cls(match["TABLE"])


@dataclass(slots=True, eq=False)
class NameRow(Record):
    """``2 "whileloop"``: a file or a function, by the label above."""

    rule = "name_row"
    number: int
    text: str

    @classmethod
    def of(cls, match: Match[str]) -> "NameRow":
        """Read from a match of the rule."""
        return cls(int(match["NUMBER"]), match["STRING"][1:-1])


@dataclass(slots=True, eq=False)
class LocationRow(Record):
    """A line of a Python file; the ids count rows of their tables from 1."""

    rule = "location_row"
    number: int
    file: int
    function: int
    source_line: int

    @classmethod
    def of(cls, match: Match[str]) -> "LocationRow":
        """Read from a match of the rule."""
        return cls(
            int(match["NUMBER"]),
            int(match["FILE_NAME_ID"]),
            int(match["FUNCTION_NAME_ID"]),
            int(match["LINE"]),
        )


@dataclass(slots=True, eq=False)
class FrameRow(Record):
    """A call: where, and called from which frame. ``parent`` is the real id, or None for a root.

    XLA prints the parent's id plus one (``ParseStackFramesList`` in hlo_parser.cc).
    """

    rule = "frame_row"
    number: int
    location: int
    parent: int | None

    @classmethod
    def of(cls, match: Match[str]) -> "FrameRow":
        """Read from a match of the rule."""
        parent = int(match["PARENT_FRAME_ID"] or 0) - 1
        return cls(
            int(match["NUMBER"]), int(match["FILE_LOCATION_ID"]), parent if parent > 0 else None
        )


@dataclass(slots=True, eq=False)
class ComputationLine(Record):
    """``%body (p: f32[]) -> f32[] {``; up to jax 0.4 without the signature."""

    rule = "computation_line"
    is_head = True
    name: str
    is_entry: bool

    @classmethod
    def of(cls, match: Match[str]) -> "ComputationLine":
        """Read from a match of the rule."""
        return cls(match["NAME"], match["ENTRY"] is not None)


@dataclass(slots=True, eq=False)
class ComputationEnd(Record):
    """``}``."""

    rule = "computation_end"

    @classmethod
    def of(cls, _: Match[str]) -> "ComputationEnd":
        """Read from a match of the rule."""
        return cls()


@dataclass(slots=True, eq=False)
class InstructionLine(Record):
    """``  ROOT %add.5 = f32[]{:T(128)} add(%a, %b), metadata={...}``."""

    rule = "instruction_line"
    name: str
    is_root: bool
    shape: str
    opcode: str
    text: str

    @classmethod
    def of(cls, match: Match[str]) -> "InstructionLine":
        """Read from a match of the rule; equal shapes and opcodes are kept once."""
        return cls(
            match["NAME"],
            match["ROOT"] is not None,
            intern(match["SHAPE"]),
            intern(match["OPCODE"]),
            match.string,
        )
