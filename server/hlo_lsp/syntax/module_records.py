"""The records of HLO module text; names have no ``%``."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from re import Match
from sys import intern
from typing import TypeVar

from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import (
    Attributes,
    InstructionText,
    TextSpan,
    attributes_column,
    attributes_of,
    operand_names,
    parse_instruction,
)
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.statements import closing_bracket, tokens_with_depth, top_level_commas

L = TypeVar("L", bound="InstructionLine")
# XLA prints one instruction on a line. The text of an inner instruction begins with its line, so
# the time for a line grows with the square of its length.
MAX_INNER_COLUMN = 50_000
MAX_INLINE_DEPTH = 20  # of computations inside of computations
_SCHEDULED = re.compile(r"\bis_scheduled=true\b")
_ASYNC_ENDINGS = ("-start", "-update", "-done")
# The other opcodes with these endings begin and end opcodes of any kind (HloAsyncInstruction).
_OPCODES_WITH_ENDING = frozenset(
    {
        *("all-gather-start", "all-gather-done", "all-reduce-start", "all-reduce-done"),
        *("async-start", "async-update", "async-done", "collective-permute-start"),
        *("collective-permute-done", "copy-start", "copy-done", "recv-done", "send-done"),
    }
)
_NESTED_TUPLE = re.compile(r"\(\s*(?=\()")
_SPELLED = re.compile(r"[a-z][\w\-]*(?=\s*\(\Z)")


@dataclass(slots=True, eq=False)
class ModuleHeader(Record):
    """``HloModule jit_f, is_scheduled=true, ...``."""

    rule = "module_header"
    is_head = True
    name: str
    text: str
    line_count: int = 1

    @property
    def name_end(self) -> int:
        """The column after the name, which may be a part of ``HloModule``."""
        start = self.text.index("HloModule") + len("HloModule")
        return self.text.index(self.name, start) + len(self.name)

    @property
    def is_scheduled(self) -> bool:
        """True if the order of the instructions is the order of execution."""
        return _SCHEDULED.search(self.text) is not None


@dataclass(slots=True, eq=False)
class TableLabel(Record):
    """``FileNames``, ``FunctionNames``, ``FileLocations`` or ``StackFrames``."""

    rule = "table_label"
    is_head = True
    table: str


@dataclass(slots=True, eq=False)
class NameRow(Record):
    """``2 "whileloop"``: a file or a function, depending on the label above."""

    rule = "name_row"
    number: int
    text: str


@dataclass(slots=True, eq=False)
class LocationRow(Record):
    """A line of a Python file; ids count table rows from 1.

    ``extent`` is the rest of the text: ``end_line=26 column=19 end_column=57``, empty in old dumps.
    """

    rule = "location_row"
    number: int
    file: int
    function: int
    source_line: int
    extent: str = ""


@dataclass(slots=True, eq=False)
class FrameRow(Record):
    """A stack frame: its location and the id of its parent frame, None for a root.

    XLA prints the parent id plus one (``ParseStackFramesList`` in hlo_parser.cc).
    """

    rule = "frame_row"
    number: int
    location: int
    parent: int | None


@dataclass(slots=True, eq=False)
class ComputationLine(Record):
    """``%body (p: f32[]) -> f32[] {``; up to jax 0.4 the signature is missing and empty here.

    ``members`` are the instructions of an inline computation or of one on a single line, up to
    ``MAX_INNER_COLUMN`` and ``MAX_INLINE_DEPTH``; ``is_read_in_part`` if there are others. The
    instructions of other computations are the records after this one.
    """

    rule = "computation_line"
    is_head = True
    name: str
    is_entry: bool
    signature: str
    line_count: int = 1
    members: "tuple[InnerInstruction, ...]" = ()
    is_read_in_part: bool = False
    lookahead: int = 0


@dataclass(slots=True, eq=False)
class ComputationEnd(Record):
    """``}``."""

    rule = "computation_end"


class Comment(Record):
    """Lines with only a comment."""

    __slots__ = ("line_count",)

    def __init__(self, line_count: int) -> None:
        self.line_count = line_count


@dataclass(slots=True, eq=False)
class InstructionLine(Record):
    """``  ROOT %add.5 = f32[]{:T(128)} add(%a, %b), metadata={...}``.

    ``shape`` is empty if the text omits it. ``text`` is the whole text with blanks for comments;
    ``opened`` is the column of the first operand in it. ``elements`` are those of its result that
    were looked up; see ``model/unprinted_instructions.py``. ``opcode`` is that of the normal form
    of asynchronous operations: see :func:`normal_opcode`.
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
    elements: "Mapping[int, InstructionLine] | None" = None

    @classmethod
    def of(cls: type[L], match: Match[str], operands: str = "REST") -> L:
        """Read from a match of a rule; ``operands`` is the group that begins with them."""
        name, root, shape, opcode = match.group("NAME", "ROOT", "SHAPE", "OPCODE")
        return cls(
            *(name, root is not None, intern(shape or "")),
            intern(normal_opcode(opcode, shape or "")),
            match.string,
            match.start(operands),
        )

    @property
    def column(self) -> int:
        """The column in the text at which the instruction begins."""
        return 0

    @property
    def spelled(self) -> str:
        """The opcode in the text, ``slice-start`` for the ``async-start`` of a ``slice``."""
        if not self.opcode.startswith("async-"):
            return self.opcode
        found = _SPELLED.search(self.text, self.column, self.opened)
        return self.opcode if found is None else found[0]

    @property
    def wrapped_opcode(self) -> str | None:
        """The opcode that an ``async-start`` starts, if the text names it and no computation."""
        if self.opcode != "async-start" or self.spelled == "async-start":
            return None
        return self.spelled.removesuffix("-start")

    @property
    def printed(self) -> "InstructionLine":
        """The instruction that is in the text: this one, or the tuple of an element."""
        return self

    @property
    def operands(self) -> tuple[str, ...]:
        """The names of the operands, ``tuple#1`` for an element; empty for an inline operand."""
        return operand_names(self.text, self.opened, self.opcode)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the instructions whose results are read, including inline operands."""
        operands = self.operands
        return tuple(span.text for span in self.parsed.reads) if "" in operands else operands

    @property
    def attributes(self) -> Attributes:
        """The attributes, with columns from the end of the operands."""
        return attributes_of(self.text[attributes_column(self.text, self.opened) :])

    def attribute(self, name: str) -> TextSpan | None:
        """Return the value of an attribute with its columns in the text, or None."""
        at = attributes_column(self.text, self.opened)
        value = attributes_of(self.text[at:]).value(name)
        return None if value is None else value.moved(at)

    @property
    def metadata(self) -> Mapping[str, str]:
        """The fields of the metadata as printed."""
        return self.attributes.metadata

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the computations that this instruction calls.

        Those in the text of ``reduce-scatter-start`` are called by the ``reduce-scatter``.
        """
        return () if self.wrapped_opcode else self.attributes.called

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

    The names of a list of computations end with numbers from 0. ``is_printed`` is False if the
    text omits the computation; see ``model/unprinted_instructions.py``.
    """

    attribute: str = ""
    holder: Record | None = None
    caller: InstructionLine | None = None
    row: int = 0
    is_printed: bool = True

    @property
    def line(self) -> int:
        """The current first line in the file, from 0."""
        assert self.holder is not None
        return self.holder.line + self.row


@dataclass(slots=True, eq=False)
class WrappedInstruction(InnerInstruction):
    """An instruction of a computation that the text omits; see ``model/unprinted_instructions.py``.

    ``text`` is the text that XLA would print, so columns in it are not those of a line.
    """

    @property
    def printed(self) -> InstructionLine:
        """The instruction that is in the text."""
        assert isinstance(self.holder, InstructionLine)
        return self.holder


_INSTRUCTION_START = re.compile(r"(?<![\w.\-%])(?:ROOT\s+)?%?[A-Za-z_][\w.\-]*\s+=\s")


def normal_opcode(opcode: str, shape: str) -> str:
    """Return the opcode of an instruction whatever the spelling of asynchronous operations.

    XLA prints an ``async-start`` of a computation with one instruction OP as ``OP-start``, also if
    that is an opcode of its own with a result of another shape. The meaning of an ``OP-done`` of
    that name depends on its start: ``ModuleIndex.opcode``.
    """
    if not opcode.endswith(_ASYNC_ENDINGS):
        return opcode
    if opcode not in _OPCODES_WITH_ENDING:
        return f"async{opcode[opcode.rindex('-') :]}"
    return "async-start" if opcode.endswith("-start") and _is_generic(opcode, shape) else opcode


def _is_generic(opcode: str, shape: str) -> bool:
    """Return whether the shape of a start is ``((operands), result, contexts ...)``.

    Several operands of an ``all-gather-start`` or a ``collective-permute-start`` give such a shape
    in the form of its own, too, which is the more frequent one.
    """
    nested = _NESTED_TUPLE.match(shape)
    if nested is None or opcode in {"copy-start", "all-reduce-start"}:
        return nested is not None
    end = closing_bracket(shape, nested.end())
    return next(top_level_commas(shape, nested.end() + 1, end), None) is None


def read_inline_computations(instruction: InstructionLine, holder: Record, depth: int = 0) -> None:
    """Parse the computations that are written inline in an instruction.

    ``depth`` counts the inline computations around the instruction.
    """
    bodies = instruction.parsed.bodies
    if not bodies:
        return
    if depth >= MAX_INLINE_DEPTH:
        if isinstance(instruction, InnerInstruction) and instruction.home is not None:
            instruction.home.is_read_in_part = True
        return
    base = instruction.row if isinstance(instruction, InnerInstruction) else 0
    found = []
    counts = Counter(body.name for body in bodies)
    numbers: Counter[str] = Counter()
    for body in bodies:
        number = f".{numbers[body.name]}" if counts[body.name] > 1 else ""
        numbers[body.name] += 1
        text, start = instruction.text, body.value.start
        row = text.count("\n", 0, start)
        inline = InlineComputation(
            f"{instruction.name}.{body.name}{number}", False, "", attribute=body.name,
            holder=holder, caller=instruction, row=base + row,
        )  # fmt: skip
        inline.members = _parse_members(inline, holder, text, start, base, depth=depth + 1)
        found.append(inline)
    instruction.bodies = tuple(found)


def with_inner_records(record: Record) -> Iterator[Record]:
    """Yield a record and the records in it: inline computations and their instructions."""
    yield record
    inside: tuple[Record, ...] = ()
    if isinstance(record, InstructionLine):
        inside = record.bodies
    elif isinstance(record, ComputationLine):
        inside = record.members
    for inner in inside:
        yield from with_inner_records(inner)


def read_members(computation: ComputationLine, text: str) -> None:
    """Parse the instructions of a computation whose body is part of its record."""
    head = load_grammar("module").expression("whole_computation").fullmatch(text)
    assert head is not None  # the rule has matched the text
    opened = head.start("OPENING") + head["OPENING"].index("{")
    computation.members = _parse_members(computation, computation, text, opened, 0, depth=0)


def _parse_members(
    home: ComputationLine, holder: Record, text: str, opened: int, base: int, *, depth: int
) -> tuple[InnerInstruction, ...]:
    """Return the instructions between the brace at ``opened`` and the matching brace.

    ``base`` is the row of the holder on which ``text`` begins, and ``depth`` the number of inline
    computations around the instructions.
    """
    end = closing_bracket(text, opened)
    members = []
    end = len(text) if end is None else end
    starts = _instruction_starts(text, opened + 1, end)
    row = line_start = last = 0
    for start, stop in zip(starts, [*starts, end][1:], strict=True):
        row += text.count("\n", last, start)
        line_start = max(line_start, text.rfind("\n", last, start) + 1)
        last = start
        if start - line_start > MAX_INNER_COLUMN:
            home.is_read_in_part = True
            continue
        own = text[line_start:stop].rstrip()
        match = load_grammar("module").expression("instruction_line").match(own, start - line_start)
        if match is None:
            continue
        member = InnerInstruction.of(match)
        member.line_count = own.count("\n") + 1
        member.holder, member.home = holder, home
        member.row = base + row
        member.start_column = start - line_start
        read_inline_computations(member, holder, depth)
        members.append(member)
    return tuple(members)


def _instruction_starts(text: str, start: int, end: int) -> list[int]:
    """Return the columns of ``NAME =`` outside of brackets and strings."""
    covered: list[tuple[int, int]] = []
    opened = start
    for match, depth in tokens_with_depth(text, start, end):
        if depth == 0 and match[0] in "([{":
            opened = match.start()
        elif depth == 0 and match[0] in ")]}":
            covered.append((opened, match.end()))
        elif match[0][0] == '"':
            covered.append(match.span())
    covered.sort()
    starts = []
    at = covered_end = 0
    for match in _INSTRUCTION_START.finditer(text, start, end):
        while at < len(covered) and covered[at][0] <= match.start():
            covered_end = max(covered_end, covered[at][1])
            at += 1
        if match.start() >= covered_end:
            starts.append(match.start())
    return starts
