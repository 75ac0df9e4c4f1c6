"""Computations as a reader of names sees them: what is in them, and what nobody could read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    FrameRow,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
    LocationRow,
    NameRow,
    TableLabel,
)
from hlo_lsp.syntax.records import BlankLine, BrokenRecord
from hlo_lsp.syntax.statements import closing_bracket, is_balanced, top_level_commas

_RESULT = re.compile(r"\)\s*->\s*")


@dataclass(frozen=True, slots=True)
class Scope:
    """A computation up to the brace that closes it.

    ``names`` holds the first instruction of each name. ``strays`` are instructions behind the
    brace, which belong to no computation. ``broken`` are the names that broken lines would define;
    ``knows_names`` is whether there are no others. ``end`` is the line of the brace, or None if it
    is missing or the body is written in place; ``is_cut`` is whether a broken line at the left edge
    stands where it should be.
    """

    head: ComputationLine
    members: tuple[InstructionLine, ...]
    names: Mapping[str, InstructionLine]
    parameters: Mapping[int, InstructionLine]
    strays: tuple[InstructionLine, ...]
    broken: frozenset[str]
    knows_names: bool
    end: int | None
    is_cut: bool

    @property
    def is_inside(self) -> bool:
        """Whether the body is part of another record, or of the head's."""
        return isinstance(self.head, InlineComputation) or bool(self.head.members)

    @property
    def is_closed(self) -> bool:
        """Whether the brace is there that ends the body."""
        return self.is_inside or self.end is not None

    @property
    def is_intact(self) -> bool:
        """Whether every line of the computation could be read."""
        return self.is_closed and self.knows_names and not self.broken

    @property
    def is_sound(self) -> bool:
        """Whether the computation is intact, and no bracket of an instruction is left open.

        It looks through all of the text.
        """
        return self.is_intact and all(
            is_balanced(member.text, member.column) for member in self.members
        )

    @property
    def root(self) -> InstructionLine | None:
        """The result: what is marked ``ROOT``, else the last instruction if that is known."""
        marked = next((member for member in self.members if member.is_root), None)
        if marked is not None or not self.members:
            return marked
        return self.members[-1] if self.is_intact else None

    @property
    def counted_parameters(self) -> tuple[InstructionLine, ...] | None:
        """The parameters by number, or None if lines are broken or the numbers are not 0, 1, ..."""
        count = sum(member.opcode == "parameter" for member in self.members)
        if not self.is_intact or self.parameters.keys() != set(range(count)):
            return None
        return tuple(self.parameters[number] for number in range(count))

    def may_define(self, name: str) -> bool:
        """Whether a line that nobody can read may define a name."""
        return not self.knows_names or name in self.broken


@dataclass(frozen=True, slots=True)
class ResolvedOperands:
    """An instruction with the names of its operands and what they stand for in its scope.

    An operand that is written out in place has an empty name and stands for nothing. ``is_plain``
    is whether all operands stand on lines above, and no other instruction is named.
    """

    scope: Scope
    names: tuple[str, ...]
    operands: tuple[InstructionLine | None, ...]
    is_plain: bool


@dataclass(frozen=True, slots=True)
class Callee:
    """A computation that an instruction calls: by which attribute, and where it says so.

    ``computation`` is None if there is none of that name; ``span`` is None if it is in place.
    """

    attribute: str
    name: str
    span: TextSpan | None
    computation: ComputationLine | None


class Scopes:
    """The scopes of one file that does not change meanwhile; each is read once."""

    def __init__(self, file: DumpFile) -> None:
        self._file = file
        self._scopes: dict[ComputationLine, Scope] = {}
        self._last_scope: Scope | None = None
        self._last: tuple[InstructionLine, ResolvedOperands | None] | None = None
        self._last_callees: tuple[InstructionLine, list[Callee]] | None = None
        self._computations: dict[str, ComputationLine] = {}
        for computation in file.module.all_computations():
            if not isinstance(computation, InlineComputation):
                self._computations.setdefault(computation.name, computation)
        self.misses_heads = any(broken.is_head for broken in file.module.damaged)
        # A single computation, as XLA:GPU printed those of Triton kernels up to jax 0.7.
        self.is_fragment = (
            file.module.header is None
            and not self.misses_heads
            and len(self._computations) == 1
            and not any(computation.is_entry for computation in self._computations.values())
        )

    def computation(self, name: str) -> ComputationLine | None:
        """The first computation of this name; one that is written in place has none."""
        return self._computations.get(name)

    def scope(self, head: ComputationLine) -> Scope:
        """The scope that a computation opens."""
        known = self._scopes.get(head)
        if known is None:
            known = self._scopes[head] = _read_scope(self._file, head)
        return known

    def of(self, instruction: InstructionLine) -> Scope | None:
        """The scope that an instruction is in; None behind a closing brace or a broken head."""
        line = instruction.line
        inner = isinstance(instruction, InnerInstruction)
        last = None if inner else self._last_scope  # nearly always that of the one before
        if last is not None and last.head.line < line < (last.end or 0):
            return last
        head = self._file.module.computation_of(instruction)
        if head is None:
            return None
        scope = self.scope(head)
        if inner:
            return scope
        self._last_scope = scope
        return None if scope.end is not None and line > scope.end else scope

    def resolved(self, instruction: InstructionLine) -> ResolvedOperands | None:
        """The operands of an instruction; None if it is in no scope. The last is remembered."""
        if self._last is None or self._last[0] is not instruction:
            self._last = instruction, self._resolve(instruction)
        return self._last[1]

    def callees(self, instruction: InstructionLine) -> list[Callee]:
        """The computations that an instruction calls, those by name first. The last are kept."""
        if self._last_callees is None or self._last_callees[0] is not instruction:
            self._last_callees = instruction, self._callees(instruction)
        return self._last_callees[1]

    def _callees(self, instruction: InstructionLine) -> list[Callee]:
        named = [
            Callee(attribute, span.text, span, self.computation(span.text))
            for attribute, span in instruction.parsed.calls
        ]
        return named + [
            Callee(body.attribute, body.name, None, body) for body in instruction.bodies
        ]

    def _resolve(self, instruction: InstructionLine) -> ResolvedOperands | None:
        scope = self.of(instruction)
        if scope is None:
            return None
        names = instruction.operands
        operands = tuple(map(scope.names.get, names))
        plain = "control-predecessors=" not in instruction.text and all(
            found is not None and found.line < instruction.line for found in operands
        )
        return ResolvedOperands(scope, names, operands, plain)


def signature(head: ComputationLine) -> tuple[list[str], str] | None:
    """The shapes of the parameters and of the result that a head prints, or None if it does not."""
    text = head.signature
    close = closing_bracket(text, 0) if text.startswith("(") else None
    arrow = None if close is None else _RESULT.match(text, close)
    if close is None or arrow is None:
        return None
    shapes = [part.partition(":")[2].strip() for part in split_at_commas(text, 1, close)]
    return shapes, text[arrow.end() :].strip()


def split_at_commas(text: str, start: int, end: int) -> list[str]:
    """The parts between the commas outside of brackets; none if there is nothing but blanks."""
    if not text[start:end].strip():
        return []
    stops = [*top_level_commas(text, start, end), end]
    starts = [start, *(stop + 1 for stop in stops)]
    return [text[first:stop].strip() for first, stop in zip(starts, stops, strict=False)]


def _read_scope(file: DumpFile, head: ComputationLine) -> Scope:
    members: list[InstructionLine] = list(head.members)
    strays: list[InstructionLine] = []
    broken: set[str] = set()
    knows_names = True
    end: int | None = None
    inside = isinstance(head, InlineComputation) or bool(head.members)
    cut = False
    for record in () if isinstance(head, InlineComputation) else file.records.after(head):
        if record.is_head:
            cut = isinstance(record, BrokenRecord) and end is None
            break
        if isinstance(record, InstructionLine):
            (strays if inside or end is not None else members).append(record)
        elif isinstance(record, ComputationEnd) and end is None:
            end = record.line
        elif isinstance(record, BrokenRecord) and end is None:
            name = file.module.damaged.get(record)
            knows_names = knows_names and name is not None
            broken.update(() if name is None else (name,))
    names: dict[str, InstructionLine] = {}
    parameters: dict[int, InstructionLine] = {}
    for member in members:
        names.setdefault(member.name, member)
        number = parameter_number(member)
        if number is not None:
            parameters.setdefault(number, member)
    knows_names = (
        knows_names and (inside or end is not None) and not _follows_instruction(file, head)
    )
    return Scope(
        head, tuple(members), names, parameters, tuple(strays), frozenset(broken), knows_names,
        end, cut,
    )  # fmt: skip


def _follows_instruction(file: DumpFile, head: ComputationLine) -> bool:
    """Whether an instruction stands above a head: a broken line may look like a head itself."""
    if isinstance(head, InlineComputation) or head.line == 0:
        return False
    above = file.records.at(head.line - 1)
    while isinstance(above, BlankLine) and above.line > 0:
        above = file.records.at(above.line - 1)
    return isinstance(above, InstructionLine)


_LocationTableRow = NameRow | LocationRow | FrameRow


class LocationTable:
    """The rows of a table in order. ``is_whole`` is whether all lines of the tables were read.

    ``misnumbered`` is the first row whose number is not its place, counted from 1; None where a
    line is broken.
    """

    def __init__(self, rows: Sequence[_LocationTableRow], is_whole: bool) -> None:
        self.rows = rows
        self._highest = max(len(rows), *(row.number for row in rows)) if rows else 0
        self.is_whole = is_whole
        numbered = enumerate(rows if is_whole else (), 1)
        self.misnumbered = next((row for place, row in numbered if row.number != place), None)

    def may_hold(self, number: int) -> bool:
        """Whether there is such a row.

        Ids count rows from 1; but where a row is gone, those behind it keep the numbers that they
        were printed with, so the highest of those counts too.
        """
        return not self.is_whole or 0 < number <= self._highest


class LocationTables:
    """The tables at the head of a module, by their names."""

    def __init__(self, file: DumpFile) -> None:
        rows: dict[str, list[_LocationTableRow]] = {}
        label = ""
        whole = True
        for record in file.records:
            if isinstance(record, TableLabel):
                label = record.table
                rows.setdefault(label, [])
            elif isinstance(record, NameRow | LocationRow | FrameRow):
                rows.setdefault(label, []).append(record)
            elif isinstance(record, ComputationLine):
                break
            whole = whole and not isinstance(record, BrokenRecord)
        self._tables = {name: LocationTable(found, whole) for name, found in rows.items()}
        self.frames = [row for found in rows.values() for row in found if isinstance(row, FrameRow)]

    def table(self, name: str) -> LocationTable | None:
        """The table of this name, or None if the module has none."""
        return self._tables.get(name)

    @cached_property
    def circles(self) -> dict[FrameRow, list[FrameRow]]:
        """The frames that are their own callers, each circle under its row with the highest id.

        A frame comes in front of its caller; the last one is called by the first. None are known
        where a row is gone, or is there twice: the ids behind it mean other rows than they did.
        """
        table = self._tables.get("StackFrames")
        if table is None or not table.is_whole or table.misnumbered is not None:
            return {}
        walks = [0] * (len(self.frames) + 1)  # which walk came to a frame first, by its start
        found: dict[FrameRow, list[FrameRow]] = {}
        for start in range(1, len(walks)):
            at: int | None = start
            path: list[int] = []
            while at is not None and at < len(walks) and not walks[at]:
                walks[at] = start
                path.append(at)
                at = self.frames[at - 1].parent
            if at is not None and at < len(walks) and walks[at] == start:
                circle = path[path.index(at) :]
                turn = circle.index(max(circle))
                rows = [self.frames[number - 1] for number in circle[turn:] + circle[:turn]]
                found[rows[0]] = rows
        return found
