"""The records of HLO module text; names have no ``%``."""

from dataclasses import dataclass
from re import Match
from sys import intern

from hlo_lsp.syntax.instruction_text import (
    InstructionText,
    called_names,
    operand_names,
    parse_instruction,
)
from hlo_lsp.syntax.metadata import unescape
from hlo_lsp.syntax.records import Record


@dataclass(slots=True, eq=False)
class ModuleHeader(Record):
    """``HloModule jit_f, is_scheduled=true, ...``."""

    rule = "module_header"
    is_head = True
    name: str
    text: str
    line_count: int = 1

    @classmethod
    def of(cls, match: Match[str]) -> "ModuleHeader":
        """Read from a match of the rule."""
        return cls(match["NAME"], match.string)


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
    """``2 "whileloop"``: a file or a function, depending on the label above."""

    rule = "name_row"
    number: int
    text: str

    @classmethod
    def of(cls, match: Match[str]) -> "NameRow":
        """Read from a match of the rule."""
        return cls(int(match["NUMBER"]), unescape(match["STRING"][1:-1]))


@dataclass(slots=True, eq=False)
class LocationRow(Record):
    """A line of a Python file; ids count table rows from 1."""

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
    """A stack frame: its location and the id of its parent frame, None for a root.

    XLA prints the parent id plus one (``ParseStackFramesList`` in hlo_parser.cc).
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
    """``%body (p: f32[]) -> f32[] {``; up to jax 0.4 the signature is missing and empty here.

    ``members`` are the instructions of an inline computation or of one on a single line. The
    instructions of other computations are the records after this one.
    """

    rule = "computation_line"
    is_head = True
    name: str
    is_entry: bool
    signature: str
    line_count: int = 1
    members: "tuple[InnerInstruction, ...]" = ()

    @classmethod
    def of(cls, match: Match[str]) -> "ComputationLine":
        """Read from a match of the rule."""
        return cls(match["NAME"], match["ENTRY"] is not None, match["SIGNATURE"] or "")


@dataclass(slots=True, eq=False)
class ComputationEnd(Record):
    """``}``."""

    rule = "computation_end"

    @classmethod
    def of(cls, _: Match[str]) -> "ComputationEnd":
        """Read from a match of the rule."""
        return cls()


class Comment(Record):
    """Lines with only a comment."""

    __slots__ = ("line_count",)

    def __init__(self, line_count: int) -> None:
        self.line_count = line_count


@dataclass(slots=True, eq=False)
class InstructionLine(Record):
    """``  ROOT %add.5 = f32[]{:T(128)} add(%a, %b), metadata={...}``.

    ``shape`` is empty if the text omits it. ``text`` is the whole text with blanks for comments;
    ``opened`` is the column of the first operand in it.
    """

    rule = "instruction_line"
    name: str
    is_root: bool
    shape: str
    opcode: str
    text: str
    opened: int
    line_count: int = 1
    bodies: "tuple[InlineComputation, ...]" = ()

    @classmethod
    def of(cls, match: Match[str]) -> "InstructionLine":
        """Read from a match of the rule; shapes and opcodes are interned."""
        return cls(
            match["NAME"],
            match["ROOT"] is not None,
            intern(match["SHAPE"] or ""),
            intern(match["OPCODE"]),
            match.string,
            match.start("REST"),
        )

    @classmethod
    def of_plain(cls, match: Match[str]) -> "InstructionLine":
        """Read from a match of the faster rule for plain instructions."""
        return cls(
            match["NAME"],
            match["ROOT"] is not None,
            intern(match["SHAPE"]),
            intern(match["OPCODE"]),
            match.string,
            match.start("PLAIN_OPERANDS"),
        )

    @property
    def column(self) -> int:
        """The column in the text at which the instruction begins."""
        return 0

    @property
    def operands(self) -> tuple[str, ...]:
        """The names of the operands; empty for an inline operand."""
        return operand_names(self.text, self.opened, self.opcode)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the instructions whose results are read, including inline operands."""
        operands = self.operands
        return tuple(span.text for span in self.parsed.reads) if "" in operands else operands

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the computations that this instruction calls."""
        return called_names(self.text, self.opened, self.opcode)

    @property
    def parsed(self) -> InstructionText:
        """The parts of the text with their columns."""
        found = parse_instruction(self.text, self.column)
        assert found is not None  # the rule has matched the text
        return found


@dataclass(slots=True, eq=False)
class InnerInstruction(InstructionLine):
    """An instruction inside of another record: an inline or a single-line computation.

    ``row`` counts lines from the first line of ``holder``; ``start_column`` is the column there.
    """

    holder: Record | None = None
    home: ComputationLine | None = None
    row: int = 0
    start_column: int = 0

    @property
    def line(self) -> int:
        """The current first line in the file, from 0."""
        assert self.holder is not None
        return self.holder.line + self.row

    @property
    def column(self) -> int:
        """The column in the text at which the instruction begins."""
        return self.start_column


@dataclass(slots=True, eq=False)
class InlineComputation(ComputationLine):
    """``to_apply={ a = f32[] parameter(0) ... }``, named after its instruction and attribute.

    The names of a list of computations end with numbers from 0.
    """

    attribute: str = ""
    holder: Record | None = None
    caller: InstructionLine | None = None
    row: int = 0

    @property
    def line(self) -> int:
        """The current first line in the file, from 0."""
        assert self.holder is not None
        return self.holder.line + self.row
