"""Scopes of computations, their signatures, and the source-location tables of a module."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.query import query
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
class ComputationScope:
    """A computation up to its closing brace.

    Attributes:
        head: The line that opens the computation.
        members: Its instructions in text order.
        names: The first instruction of each name.
        parameters: Its parameters by number.
        strays: Instructions after the closing brace, which belong to no computation.
        broken: Names that broken lines seem to define.
        has_all_names: False if lines are missing or a broken line may define any name.
        end: Line of the closing brace, None if it is missing or the body is inline.
        is_cut: Whether a broken line in the first column replaces the closing brace.
    """

    head: ComputationLine
    members: tuple[InstructionLine, ...]
    names: Mapping[str, InstructionLine]
    parameters: Mapping[int, InstructionLine]
    strays: tuple[InstructionLine, ...]
    broken: frozenset[str]
    has_all_names: bool
    end: int | None
    is_cut: bool

    @property
    def is_inside(self) -> bool:
        """True if the body is part of another record or of the head."""
        return isinstance(self.head, InlineComputation) or bool(self.head.members)

    @property
    def is_closed(self) -> bool:
        """True if the body has its closing brace."""
        return self.is_inside or self.end is not None

    @property
    def is_intact(self) -> bool:
        """True if every line of the computation is valid."""
        return self.is_closed and self.has_all_names and not self.broken

    @property
    def is_sound(self) -> bool:
        """True if the computation is intact and the brackets of its instructions are balanced.

        The property scans the text of all instructions.
        """
        return self.is_intact and all(
            is_balanced(member.text, member.column) for member in self.members
        )

    @property
    def root(self) -> InstructionLine | None:
        """The instruction marked ``ROOT``, or the last one of an intact computation."""
        marked = next((member for member in self.members if member.is_root), None)
        if marked is not None or not self.members:
            return marked
        return self.members[-1] if self.is_intact else None

    @property
    def counted_parameters(self) -> tuple[InstructionLine, ...] | None:
        """The parameters by number, or None if lines are broken or numbers are missing."""
        count = sum(member.opcode == "parameter" for member in self.members)
        if not self.is_intact or self.parameters.keys() != set(range(count)):
            return None
        return tuple(self.parameters[number] for number in range(count))

    def may_define(self, name: str) -> bool:
        """Return whether the scope defines a name or a broken line may define it."""
        return not self.has_all_names or name in self.broken


@dataclass(frozen=True, slots=True)
class ResolvedOperands:
    """The operands of an instruction in its scope.

    Attributes:
        scope: The scope of the instruction.
        names: Names of the operands; empty for an operand that is written inline.
        operands: The instructions with these names, None for unknown and inline ones.
        is_plain: Whether all operands are on earlier lines and no other instruction is named.
    """

    scope: ComputationScope
    names: tuple[str, ...]
    operands: tuple[InstructionLine | None, ...]
    is_plain: bool


@dataclass(frozen=True, slots=True)
class Callee:
    """A computation that an instruction calls.

    Attributes:
        attribute: The attribute that names it.
        name: Its name.
        span: Columns of the name, None if the computation is inline.
        computation: The computation, None if the file has none of this name.
    """

    attribute: str
    name: str
    span: TextSpan | None
    computation: ComputationLine | None


@query
def computation_scopes(file: DumpFile) -> "ComputationScopes":
    """Return the computations of a module text."""
    return ComputationScopes(file)


class ComputationScopes:
    """The scopes of a module text, computed on first access."""

    def __init__(self, file: DumpFile) -> None:
        self._file = file
        self._scopes: dict[ComputationLine, ComputationScope] = {}
        self._last_scope: ComputationScope | None = None
        self._last: tuple[InstructionLine, ResolvedOperands | None] | None = None
        self._last_callees: tuple[InstructionLine, list[Callee]] | None = None
        self._computations: dict[str, ComputationLine] = {}
        for computation in file.module.all_computations():
            if not isinstance(computation, InlineComputation):
                self._computations.setdefault(computation.name, computation)
        self.misses_heads = any(broken.is_head for broken in file.module.damaged)
        # XLA:GPU up to jax 0.7 prints the computation of a Triton kernel without a module.
        self.is_fragment = (
            file.module.header is None
            and not self.misses_heads
            and len(self._computations) == 1
            and not any(computation.is_entry for computation in self._computations.values())
        )

    def computation(self, name: str) -> ComputationLine | None:
        """Return the first computation of this name that is not inline."""
        return self._computations.get(name)

    def scope(self, head: ComputationLine) -> ComputationScope:
        """Return the scope that a computation opens."""
        known = self._scopes.get(head)
        if known is None:
            known = self._scopes[head] = _read_scope(self._file, head)
        return known

    def of(self, instruction: InstructionLine) -> ComputationScope | None:
        """Return the scope of an instruction; None after a closing brace or a broken head."""
        line = instruction.line
        inner = isinstance(instruction, InnerInstruction)
        last = None if inner else self._last_scope  # nearly always the right one
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
        """Return the operands of an instruction; None without a scope. Caches the last result."""
        if self._last is None or self._last[0] is not instruction:
            self._last = instruction, self._resolve(instruction)
        return self._last[1]

    def callees(self, instruction: InstructionLine) -> list[Callee]:
        """Return the callees of an instruction, named ones first. Caches the last result."""
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
    """Return the shapes of parameters and result in a head, or None without a signature."""
    text = head.signature
    close = closing_bracket(text, 0) if text.startswith("(") else None
    arrow = None if close is None else _RESULT.match(text, close)
    if close is None or arrow is None:
        return None
    shapes = [part.partition(":")[2].strip() for part in split_at_commas(text, 1, close)]
    return shapes, text[arrow.end() :].strip()


def split_at_commas(text: str, start: int, end: int) -> list[str]:
    """Return the parts between commas outside of brackets; empty for a blank text."""
    if not text[start:end].strip():
        return []
    stops = [*top_level_commas(text, start, end), end]
    starts = [start, *(stop + 1 for stop in stops)]
    return [text[first:stop].strip() for first, stop in zip(starts, stops, strict=False)]


def _read_scope(file: DumpFile, head: ComputationLine) -> ComputationScope:
    members: list[InstructionLine] = list(head.members)
    strays: list[InstructionLine] = []
    broken: set[str] = set()
    has_all_names = True
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
            has_all_names = has_all_names and name is not None
            broken.update(() if name is None else (name,))
    names: dict[str, InstructionLine] = {}
    parameters: dict[int, InstructionLine] = {}
    for member in members:
        names.setdefault(member.name, member)
        number = parameter_number(member)
        if number is not None:
            parameters.setdefault(number, member)
    has_all_names = (
        has_all_names and (inside or end is not None) and not _follows_instruction(file, head)
    )
    return ComputationScope(
        head, tuple(members), names, parameters, tuple(strays), frozenset(broken), has_all_names,
        end, cut,
    )  # fmt: skip


def _follows_instruction(file: DumpFile, head: ComputationLine) -> bool:
    """Return whether an instruction precedes a head.

    In that case the head can be a broken line of the same computation.
    """
    if isinstance(head, InlineComputation) or head.line == 0:
        return False
    above = file.records.at(head.line - 1)
    while isinstance(above, BlankLine) and above.line > 0:
        above = file.records.at(above.line - 1)
    return isinstance(above, InstructionLine)


_LocationTableRow = NameRow | LocationRow | FrameRow


class LocationTable:
    """The rows of a source-location table.

    ``is_whole`` is True if all lines of the tables are valid. ``misnumbered`` is the first row
    whose number is not its position, counted from 1; None if a line is broken.
    """

    def __init__(self, rows: Sequence[_LocationTableRow], is_whole: bool) -> None:
        self.rows = rows
        self._highest = max(len(rows), *(row.number for row in rows)) if rows else 0
        self.is_whole = is_whole
        numbered = enumerate(rows if is_whole else (), 1)
        self.misnumbered = next((row for place, row in numbered if row.number != place), None)

    def may_hold(self, number: int) -> bool:
        """Return whether the table may contain a row of this number.

        Ids refer to positions from 1. After a missing row, the remaining rows keep their printed
        numbers, so the highest printed number is valid too.
        """
        return not self.is_whole or 0 < number <= self._highest


@query
def location_tables(file: DumpFile) -> "LocationTables":
    """Return the tables of source locations of a module text."""
    return LocationTables(file)


class LocationTables:
    """The source-location tables of a module by name."""

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
        """Return the table of this name, or None if the module has none."""
        return self._tables.get(name)

    @cached_property
    def circles(self) -> dict[FrameRow, list[FrameRow]]:
        """The cycles of stack frames, each by its row with the highest id.

        In a cycle, each frame precedes its caller, and the first frame calls the last one. The
        result is empty if a row is missing or duplicated, because all following ids are
        unreliable.
        """
        table = self._tables.get("StackFrames")
        if table is None or not table.is_whole or table.misnumbered is not None:
            return {}
        first_walks = [0] * (len(self.frames) + 1)  # start of the first walk over each frame
        found: dict[FrameRow, list[FrameRow]] = {}
        for start in range(1, len(first_walks)):
            at: int | None = start
            path: list[int] = []
            while at is not None and at < len(first_walks) and not first_walks[at]:
                first_walks[at] = start
                path.append(at)
                at = self.frames[at - 1].parent
            if at is not None and at < len(first_walks) and first_walks[at] == start:
                circle = path[path.index(at) :]
                start_index = circle.index(max(circle))
                rows = [
                    self.frames[number - 1]
                    for number in circle[start_index:] + circle[:start_index]
                ]
                found[rows[0]] = rows
        return found
