"""Computations of a module text, and calls of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.model.unprinted_instructions import element_of
from hlo_lsp.syntax.instruction_text import TextSpan, split_element
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InlineComputation,
    InstructionLine,
)
from hlo_lsp.syntax.statements import is_balanced


class Callee(NamedTuple):
    """A computation that an instruction calls.

    Attributes:
        span: Columns of the name, None if the computation is inline.
        computation: The computation, None if the file has none of this name.
    """

    attribute: str
    name: str
    span: TextSpan | None
    computation: ComputationLine | None


@dataclass(frozen=True, slots=True, eq=False)
class Computation:
    """A computation up to its closing brace. An edit inside of it makes a new object.

    Attributes:
        head: The line that opens the computation.
        members: Its instructions in text order.
        names: The first instruction of each name.
        parameters: Its parameters by number.
        strays: Instructions after the closing brace, which belong to no computation.
        broken: Names that broken lines seem to define.
        has_all_names: False if lines are missing or a broken line may define any name.
        closing: The closing brace, None if it is missing or the body is inline.
        is_cut: Whether a broken line in the first column replaces the closing brace.
    """

    head: ComputationLine
    members: tuple[InstructionLine, ...]
    names: Mapping[str, InstructionLine]
    parameters: Mapping[int, InstructionLine]
    strays: tuple[InstructionLine, ...]
    broken: frozenset[str]
    has_all_names: bool
    closing: ComputationEnd | None
    is_cut: bool

    @property
    def end(self) -> int | None:
        """Line of the closing brace, None if it is missing or the body is inline."""
        return None if self.closing is None else self.closing.line

    @property
    def is_inside(self) -> bool:
        """True if the body is part of another record or of the head."""
        return isinstance(self.head, InlineComputation) or bool(self.head.members)

    @property
    def is_closed(self) -> bool:
        """True if the body has its closing brace."""
        return self.is_inside or self.closing is not None or self.closing_member is not None

    @property
    def closing_member(self) -> InstructionLine | None:
        """The last instruction, if the closing brace is at its end."""
        last = self.members[-1] if self.closing is None and self.members else None
        return last if last is not None and is_balanced("{" + last.text[last.column :], 0) else None

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
        last = self.members[-1] if self.members else None
        if last is None or last.is_root:
            return last
        marked = next((member for member in self.members if member.is_root), None)
        return last if marked is None and self.is_intact else marked

    @property
    def counted_parameters(self) -> tuple[InstructionLine, ...] | None:
        """The parameters by number, or None if lines are broken or numbers are missing."""
        count = sum(member.opcode == "parameter" for member in self.members)
        if not self.is_intact or self.parameters.keys() != set(range(count)):
            return None
        return tuple(self.parameters[number] for number in range(count))

    def instruction(self, operand: str) -> InstructionLine | None:
        """Return the first instruction of a name, or the element that ``tuple#1`` names."""
        element = split_element(operand)
        if element is None:
            return self.names.get(operand)
        holder = self.instruction(element[0])
        return None if holder is None else element_of(holder, element[1])

    def may_define(self, operand: str) -> bool:
        """Return whether a broken line may define an operand."""
        return not self.has_all_names or operand.partition("#")[0] in self.broken
