"""Operands and callees of instructions, and the signatures of computations."""

import re
from dataclasses import dataclass

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import Computation
from hlo_lsp.model.query import query
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
)
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_texts

_RESULT = re.compile(r"\)\s*->\s*")


@dataclass(frozen=True, slots=True)
class ResolvedOperands:
    """The operands of an instruction in its scope.

    Attributes:
        scope: The scope of the instruction.
        names: Names of the operands; empty for an operand that is written inline.
        operands: The instructions with these names, None for unknown and inline ones.
        is_plain: Whether all operands are on earlier lines and no other instruction is named.
    """

    scope: Computation
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

    def scope(self, head: ComputationLine) -> Computation:
        """Return the scope that a computation opens."""
        return self._file.module.computation(head)

    def of(self, instruction: InstructionLine) -> Computation | None:
        """Return the scope of an instruction; None after a closing brace or a broken head."""
        module = self._file.module
        head = module.computation_of(instruction)
        scope = None if head is None else module.computation(head)
        if scope is None or scope.end is None or isinstance(instruction, InnerInstruction):
            return scope
        return scope if instruction.line < scope.end else None

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
    shapes = [part.partition(":")[2].strip() for part in comma_separated_texts(text, 1, close)]
    return shapes, text[arrow.end() :].strip()
