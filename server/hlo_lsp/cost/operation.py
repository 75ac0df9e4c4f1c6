"""An operation whose cost is computed: an instruction with the shapes of its operands.

The operands, users, and callees of a module are read once for each computation.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.shape import ArrayShape, Shape, arrays_of, element_texts, try_shape
from hlo_lsp.program.computation_forms import ComputationForms
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_NUMBER = re.compile(r"\d{1,18}")


# Calls of calls in a text that no compiler wrote can run more often than a float can count.
_MAX_AMOUNT = 1 << 200


@dataclass(frozen=True, slots=True)
class Cost:
    """The FLOPs, the transcendental functions, and the bytes read and written."""

    flops: int = 0
    transcendentals: int = 0
    bytes_accessed: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            min(self.flops + other.flops, _MAX_AMOUNT),
            min(self.transcendentals + other.transcendentals, _MAX_AMOUNT),
            min(self.bytes_accessed + other.bytes_accessed, _MAX_AMOUNT),
        )

    def times(self, count: int) -> "Cost":
        """Return the cost of this many executions."""
        return Cost(
            min(self.flops * count, _MAX_AMOUNT),
            min(self.transcendentals * count, _MAX_AMOUNT),
            min(self.bytes_accessed * count, _MAX_AMOUNT),
        )

    def with_bytes(self, count: int) -> "Cost":
        """Return the same computation with another number of bytes."""
        return Cost(self.flops, self.transcendentals, count)

    def maximum(self, other: "Cost") -> "Cost":
        """Return the larger number of each kind."""
        return Cost(
            max(self.flops, other.flops),
            max(self.transcendentals, other.transcendentals),
            max(self.bytes_accessed, other.bytes_accessed),
        )


NO_COST = Cost()


class SizeOf(Protocol):
    """A function that returns bytes in memory."""

    def __call__(self, shape: str, array: str | None = None, /) -> int:
        """Return the bytes of an array, or of the table of a tuple.

        Args:
            shape: The shape as text.
            array: The array of which ``shape`` is a part, by default the shape itself. A part is in
                the memory space of its array: a slice can be in another one.
        """
        ...


@dataclass(frozen=True, slots=True)
class Operation:
    """An opcode with its shapes, its attributes, and the costs of the computations that it calls.

    Attributes:
        shape: The shape of the result as text.
        operands: The shapes of the operands as texts, empty for unknown ones.
        attribute: Returns the text of an attribute, empty if it is missing.
        callees: Returns the costs of the computations that an attribute names.
        size_of: Returns the bytes of an array, or of a part of one.
    """

    opcode: str
    shape: str
    operands: tuple[str, ...]
    attribute: Callable[[str], str]
    callees: Callable[[str], list[Cost]]
    size_of: SizeOf

    def operand(self, number: int) -> str:
        """Return the shape of an operand, empty if it is missing."""
        return self.operands[number] if number < len(self.operands) else ""

    def callee(self, attribute: str = "to_apply") -> Cost:
        """Return the cost of the computation that an attribute names."""
        return next(iter(self.callees(attribute)), NO_COST)

    def numbers(self, attribute: str) -> list[int]:
        """Return the numbers in an attribute, none if it is missing."""
        return list(map(int, _NUMBER.findall(self.attribute(attribute))))

    def leaf_bytes(self, shape: str) -> int:
        """Return the bytes of all arrays of a shape."""
        return sum(map(self.size_of, leaf_texts(shape)))

    @property
    def bytes_of_all(self) -> int:
        """The bytes of all operands and of the arrays of the result."""
        return self.leaf_bytes(self.shape) + sum(map(self.size_of, self.operands))

    @property
    def elements(self) -> int:
        """The number of elements of the result, of all its arrays if it is a tuple."""
        return element_count(self.shape)


@lru_cache(maxsize=1 << 13)
def element_count(shape: str) -> int:
    """Return the number of elements of all arrays of a shape; 0 for an unknown number."""
    return sum(array.elements or 0 for array in _arrays(try_shape(shape)))


def _arrays(shape: Shape | None) -> list[ArrayShape]:
    return [array for array in arrays_of(shape) if array.element_type not in {"token", "opaque"}]


@lru_cache(maxsize=1 << 13)
def dimensions(shape: str) -> tuple[int, ...]:
    """Return the sizes of the dimensions of an array; none for another shape."""
    parsed = try_shape(shape)
    return tuple(d.size or 0 for d in parsed.dims) if isinstance(parsed, ArrayShape) else ()


@lru_cache(maxsize=1 << 12)
def leaf_texts(shape: str) -> tuple[str, ...]:
    """Return the texts of the arrays of a shape."""
    elements = element_texts(shape)
    if elements is None:
        return (shape,) if shape else ()
    return tuple(leaf for element in elements for leaf in leaf_texts(element))


_Operands = Sequence[InstructionLine | None]


class OperandIndex:
    """Operands and callees by instruction, and users by computation, all read on request."""

    def __init__(self, module: ModuleIndex) -> None:
        self.module = module
        self._operands: dict[InstructionLine, _Operands] = {}
        self._shapes: dict[InstructionLine, tuple[str, ...]] = {}
        self.equal = ComputationForms(module, ignores_metadata=True)
        self._called: dict[InstructionLine, Sequence[ComputationLine]] = {}
        self._users: dict[Computation, dict[InstructionLine, list[InstructionLine]]] = {}

    def of(self, instruction: InstructionLine) -> _Operands:
        """Return the operands of an instruction; None for undefined ones."""
        known = self._operands.get(instruction)
        if known is None:
            scope = self.module.scope_of(instruction)
            if isinstance(scope, ComputationLine):
                self._read(self.module.computation(scope))
            known = self._operands.get(instruction)
        if known is None:  # an instruction outside of computations, or an element of a tuple
            known = self._operands[instruction] = self.module.operands(instruction)
        return known

    def shapes(self, instruction: InstructionLine) -> tuple[str, ...]:
        """Return the shapes of the operands of an instruction; empty ones for undefined ones."""
        known = self._shapes.get(instruction)
        if known is None:
            found = self.of(instruction)
            known = tuple(["" if one is None else one.shape for one in found])
            self._shapes[instruction] = known
        return known

    def called_by(self, instruction: InstructionLine) -> Sequence[ComputationLine]:
        """Return the computations that an instruction calls, or others of equal cost."""
        known = self._called.get(instruction)
        if known is None:
            known = [self.equal.first(one) for one in self.module.called_by(instruction)]
            self._called[instruction] = known
        return known

    def _read(self, body: Computation) -> None:
        find = body.names.get
        for member in body.members:
            checkpoint()
            self._operands[member] = [
                body.instruction(name) if "#" in name else find(name) for name in member.operands
            ]

    def users(self, body: Computation, value: InstructionLine) -> Sequence[InstructionLine]:
        """Return the instructions of a computation that have a value as an operand, in order."""
        known = self._users.get(body)
        if known is None:
            known = self._users[body] = {}
            for member in body.members:
                checkpoint()
                for operand in dict.fromkeys(self.of(member)):
                    if operand is not None:
                        known.setdefault(operand, []).append(member)
        return known.get(value, ())
