"""Trip counts of loops, as XLA prints or their computations imply, and executions.

Modules of TPUs have no ``known_trip_count``. There, the number follows if the condition compares
an element of the state with a constant, and each iteration adds a constant to it, as in
``MatchTrivialLoopTripCount`` (while_loop_analysis.cc).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.dataflow import callees_first
from hlo_lsp.hlo.notation import TuplePath
from hlo_lsp.hlo.vocabulary import ResultKind
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.program.dataflow import ModuleFlow, ordered_callees
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_KNOWN_TRIP_COUNT = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"(\d{1,19})"')
_INTEGER_TYPE = re.compile(r"([su])(8|16|32|64)")
_INTEGER = re.compile(r"-?\d{1,20}")
_MAX_WALK_STEPS = 400  # Real loops need fewer than fifty.
_MAX_DEPTH = 60
_UNCHANGED = frozenset(
    {
        *(ResultKind.OPERAND, ResultKind.ELEMENT, ResultKind.BITCAST),
        *(ResultKind.TUPLE, ResultKind.COPY),
    }
)
_INLINED = frozenset({"fusion", "call"})
_SWAPPED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}


def printed_trip_count(instruction: InstructionText) -> int | None:
    """Return the number of iterations that XLA prints for a ``while``, or None."""
    config = instruction.attribute("backend_config")
    if instruction.opcode.text != "while" or config is None:
        return None
    found = _KNOWN_TRIP_COUNT.search(config.text)
    return None if found is None else int(found[1])


def trip_count(module: ModuleIndex, instruction: InstructionLine) -> int | None:
    """Return the number of iterations of a ``while``; None if it is unknown.

    Args:
        module: The module with the computations of the loop.
        instruction: The ``while``; other instructions have no number.
    """
    if instruction.opcode != "while":
        return None
    printed = printed_trip_count(instruction.parsed)
    return _Loops(module).trip_count(instruction) if printed is None else printed


class _Value(NamedTuple):
    """An element of a parameter of a computation, or zero, plus a number.

    ``place`` is the number of the parameter and the shape index in it.
    """

    place: TuplePath | None
    number: int


@dataclass(frozen=True, slots=True)
class _Call:
    """The fusion or call whose computation an instruction is in, and where that one is."""

    caller: InstructionLine
    outer: "_Call | None"


class _Loops:
    """Values of scalars in loops, as far as they follow from the text."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._flow = ModuleFlow(module)
        self._steps = 0

    def trip_count(self, loop: InstructionLine) -> int | None:
        """Return the number of iterations that the computations of a loop imply, or None."""
        compared = self._compared(loop)
        if compared is None:
            return None
        left, right, direction, element_type = compared
        if left.place is None:
            left, right, direction = right, left, _SWAPPED.get(direction, "")
        limits = _limits(element_type)
        if left.place is None or right.place is not None or limits is None:
            return None
        step = self._value(self._root_of_part(loop, "body"), left.place[1:], None)
        start = self._constant_at_start(loop, left.place)
        if step is None or step.place != left.place or start is None:
            return None
        start += left.number
        return _iterations(start, step.number, right.number, direction, limits)

    def _compared(self, loop: InstructionLine) -> tuple[_Value, _Value, str, str] | None:
        """Return what the condition of a loop compares, the direction, and the element type."""
        root, call = self._root_of_part(loop, "condition"), None
        while root is not None and root.opcode in _INLINED and self._may_walk():
            call = _Call(root, call)
            root = self._root_of_callee(root)
        if root is None or root.opcode != "compare" or root.attribute("type") is not None:
            return None
        direction = root.attribute("direction")
        operands = [self._flow.operand(root, number) for number in (0, 1)]
        types = {"" if one is None else _scalar_type(one) for one in operands}
        sides = (self._value(one, (), call) for one in operands)
        left, right = (self._changing(loop, side) for side in sides)
        if left is None or right is None or direction is None or len(types) != 1:
            return None
        return left, right, direction.text, types.pop()

    def _changing(self, loop: InstructionLine, value: _Value | None) -> _Value | None:
        """Return a value of the condition as a constant if the loop does not change it."""
        if value is None or value.place is None or not self._is_invariant(loop, value.place):
            return value
        start = self._constant_at_start(loop, value.place)
        return None if start is None else _Value(None, start + value.number)

    def _is_invariant(self, loop: InstructionLine, place: TuplePath, depth: int = 0) -> bool:
        root = self._root_of_part(loop, "body")
        return self._value(root, place[1:], None, depth) == _Value(place, 0)

    def _constant_at_start(self, loop: InstructionLine, place: TuplePath) -> int | None:
        """Return the constant that a part of the state has before the first iteration."""
        caller, number = loop, 0
        while self._may_walk():
            operand = self._flow.operand(caller, place[0])
            value = self._value(operand, place[1:], None)
            if value is None or value.place is None:
                return None if value is None else number + value.number
            # A parameter has the value in its only caller, if no iteration changes it.
            place, number = value.place, number + value.number
            home = self._module.computation_of(caller)
            callers = [] if home is None else self._module.callers(home)
            if len(callers) != 1 or callers[0].opcode not in {"while", *_INLINED}:
                return None
            caller = callers[0]
            if caller.opcode == "while" and not self._is_invariant(caller, place):
                return None
        return None

    def _may_walk(self) -> bool:
        self._steps += 1
        return self._steps <= _MAX_WALK_STEPS

    def _value(
        self,
        instruction: InstructionLine | None,
        path: TuplePath,
        call: _Call | None,
        depth: int = 0,
    ) -> _Value | None:
        """Return an element of a result if it is that of a parameter, or constant."""
        if instruction is None or depth > _MAX_DEPTH or not self._may_walk():
            return None
        opcode = instruction.opcode
        if not path and _limits(_scalar_type(instruction)) is None:
            return None
        if opcode == "parameter":
            return self._parameter(instruction, path, call, depth)
        if opcode == "constant":
            literal = _INTEGER.fullmatch(instruction.parsed.literal.text.strip())
            return None if literal is None or path else _Value(None, int(literal[0]))
        if opcode in {"add", "subtract"} and not path:
            return self._sum(instruction, call, depth)
        if opcode in _INLINED:
            root = self._root_of_callee(instruction)
            return self._value(root, path, _Call(instruction, call), depth + 1)
        if opcode == "while":
            if not self._is_invariant(instruction, (0, *path), depth + 1):
                return None
            return self._value(self._flow.operand(instruction, 0), path, call, depth + 1)
        sources = list(self._flow.sources(instruction, path))
        if len(sources) != 1 or sources[0][2] not in _UNCHANGED:
            return None
        source, rest, _ = sources[0]
        if not path and not rest and _scalar_type(source) != _scalar_type(instruction):
            return None
        return self._value(source, rest, call, depth + 1)

    def _sum(self, instruction: InstructionLine, call: _Call | None, depth: int) -> _Value | None:
        terms = [
            self._value(self._flow.operand(instruction, number), (), call, depth + 1)
            for number in (0, 1)
        ]
        one, other = terms
        if one is None or other is None:
            return None
        if instruction.opcode == "subtract":
            if other.place is not None:
                return None
            other = _Value(None, -other.number)
        if one.place is not None and other.place is not None:
            return None
        place = one.place if other.place is None else other.place
        return _Value(place, one.number + other.number)

    def _parameter(
        self, parameter: InstructionLine, path: TuplePath, call: _Call | None, depth: int
    ) -> _Value | None:
        number = parameter_number(parameter)
        if number is None:
            return None
        if call is not None:
            operand = self._flow.operand(call.caller, number)
            return self._value(operand, path, call.outer, depth + 1)
        return _Value((number, *path), 0)

    def _root_of_part(self, loop: InstructionLine, attribute: str) -> InstructionLine | None:
        callees = ordered_callees(self._module, loop)
        found = [one.computation for one in callees if one.attribute == attribute]
        return self._intact_root(found[0]) if len(found) == 1 else None

    def _root_of_callee(self, instruction: InstructionLine) -> InstructionLine | None:
        called = self._module.called_by(instruction)
        return self._intact_root(called[0]) if len(called) == 1 else None

    def _intact_root(self, head: ComputationLine | None) -> InstructionLine | None:
        computation = None if head is None else self._module.computation(head)
        return computation.root if computation is not None and computation.is_intact else None


def _scalar_type(instruction: InstructionLine) -> str:
    """Return the element type of a scalar, empty for other results."""
    shape = try_shape(instruction.shape)
    return shape.element_type if isinstance(shape, ArrayShape) and not shape.dims else ""


def _limits(element_type: str) -> tuple[int, int] | None:
    """Return the smallest and the largest number of an integer type, or None."""
    match = _INTEGER_TYPE.fullmatch(element_type)
    if match is None:
        return None
    bits = int(match[2])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if match[1] == "s" else (0, (1 << bits) - 1)


def _iterations(
    start: int, step: int, bound: int, direction: str, limits: tuple[int, int]
) -> int | None:
    """Return how often ``start + i * step`` satisfies a comparison until it no longer does.

    None if the number overflows before, or if the loop does not end.
    """
    low, high = limits
    size = high - low + 1
    step = (step + size // 2) % size - size // 2  # an addition of 2^32 - 1 subtracts 1
    if not all(low <= number <= high for number in (start, bound)):
        return None
    distance = bound - start
    if direction == "EQ":
        return int(distance == 0) if step or distance else None
    if direction == "NE":
        count = 0 if not distance else -1 if not step or distance % step else distance // step
    elif direction in {"LE", "GE"}:
        direction, distance = direction[0] + "T", distance + (1 if direction == "LE" else -1)
        count = _steps_until(distance, step, direction)
    else:
        count = _steps_until(distance, step, direction)
    return count if count >= 0 and low <= start + count * step <= high else None


def _steps_until(distance: int, step: int, direction: str) -> int:
    """Return after how many steps a distance is no longer ``LT`` or ``GT`` zero; -1 for never."""
    if direction == "GT":
        distance, step = -distance, -step
    elif direction != "LT":
        return -1
    if distance <= 0:
        return 0
    return -(-distance // step) if step > 0 else -1


@dataclass(frozen=True, slots=True)
class ExecutionCount:
    """The number of executions; not exact if a loop around has an unknown trip count.

    Of such a loop, one iteration counts.
    """

    count: int
    is_exact: bool = True


_ONCE = ExecutionCount(1)


class Executions:
    """The numbers of executions of the instructions of a module, each found on request.

    Each branch of a conditional counts as if it runs.
    """

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._counts: dict[ComputationLine, ExecutionCount] = {}

    def of(self, instruction: InstructionLine) -> ExecutionCount:
        """Return how often an instruction runs."""
        computation = self._module.computation_of(instruction)
        if computation is None:
            return _ONCE
        if computation not in self._counts:
            order = callees_first(computation, self._callers, self._counts.__contains__)
            for one in list(order):
                self._counts[one] = self._count(one)
        return self._counts[computation]

    def _callers(self, computation: ComputationLine) -> Iterator[ComputationLine]:
        for caller in self._module.callers(computation):
            home = self._module.computation_of(caller)
            if home is not None:
                yield home

    def _count(self, computation: ComputationLine) -> ExecutionCount:
        """Return the number for a computation whose callers have theirs."""
        if computation is self._module.entry:
            return _ONCE
        count, is_exact = 0, True
        for caller in self._module.callers(computation):
            checkpoint()
            home = self._module.computation_of(caller)
            around = _ONCE if home is None else self._counts.get(home, _ONCE)
            iterations = trip_count(self._module, caller) if caller.opcode == "while" else 1
            count += around.count * (1 if iterations is None else iterations)
            is_exact &= around.is_exact and iterations is not None
        return ExecutionCount(count, is_exact)
