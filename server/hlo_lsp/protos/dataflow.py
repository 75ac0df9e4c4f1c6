"""The definitions of the values at the places of a module (hlo_dataflow_analysis.cc)."""

from collections.abc import Container, Iterator
from typing import Any

from hlo_lsp.hlo.vocabulary import ResultKind, opcodes_running_callees, opcodes_with
from hlo_lsp.protos.instructions import InstructionPrinter
from hlo_lsp.protos.shapes import decoded

_MAX_FORWARDING_STEPS = 10_000
Place = tuple[int, tuple[int, ...]]  # the id of an instruction, and a shape index
_PASSING_OPCODES = opcodes_with(ResultKind.OPERAND) | {"all-reduce-done", "async-update"}
# These return the result of an asynchronous operation, which is element 0 or 1 of its start.
_DONE_ELEMENTS = {
    "copy-done": 0,
    "async-done": 1,
    "all-gather-done": 1,
    "collective-permute-done": 1,
}
_CALLERS = opcodes_running_callees()


class ValueFlow:
    """Follows values from the instructions that forward them to those that define them.

    Instructions that are not known to forward a value define it.
    """

    def __init__(self, printer: InstructionPrinter, defined: Container[Place]) -> None:
        self._instructions = printer.instructions
        self._computations = printer.computations
        self._defined = defined
        self._known: dict[Place, Place | None] = {}
        self._parents = {
            one.id: computation.id
            for computation in printer.computations.values()
            for one in computation.instructions
        }
        self.callers: dict[int, list[Any]] = {}
        for one in self._instructions.values():
            if one.opcode in _CALLERS:
                for number in one.called_computation_ids:
                    self.callers.setdefault(number, []).append(one)

    def definition(self, place: Place) -> Place | None:
        """Return where the value at a place is defined; None if that does not follow."""
        path: list[Place] = []
        here: Place | None = place
        for _ in range(_MAX_FORWARDING_STEPS):
            if here is None or here in self._defined or here in self._known:
                break
            path.append(here)
            here = self._source(here)
        found = self._known.get(here, here) if here is not None else None
        if found is not None and found not in self._defined:
            found = None
        for each in path:
            self._known[each] = found
        return found

    def computation_name(self, number: int) -> str:
        """Return the name of a computation."""
        computation = self._computations.get(number)
        return "" if computation is None else decoded(computation.name)

    def parent(self, number: int) -> int:
        """Return the computation of an instruction."""
        return int(self._parents.get(number, -1))

    def root(self, number: int) -> int:
        """Return the root of a computation."""
        computation = self._computations.get(number)
        return -1 if computation is None else int(computation.root_id)

    def _source(self, place: Place) -> Place | None:
        """Return the place whose value an instruction forwards to a place of its result."""
        number, index = place
        one = self._instructions.get(number)
        if one is None:
            return None
        opcode, operands = one.opcode, one.operand_ids
        if opcode == "parameter":
            return self._argument(one, index)
        if opcode == "call" and one.called_computation_ids:
            return self.root(one.called_computation_ids[0]), index
        if opcode == "conditional" and one.called_computation_ids:
            return self.root(one.called_computation_ids[0]), index
        if not operands:
            return None
        if opcode == "async-update" and len(operands) > 1:
            return self._bound(one, index)
        if opcode in _PASSING_OPCODES or opcode == "while" or (opcode == "copy" and index):
            return operands[0], index
        if opcode == "get-tuple-element":
            return operands[0], (int(one.tuple_index), *index)
        if opcode == "tuple" and index and index[0] < len(operands):
            return operands[index[0]], index[1:]
        if opcode in _DONE_ELEMENTS:
            return operands[0], (_DONE_ELEMENTS[opcode], *index)
        return self._started(one, opcode, index)

    def _bound(self, update: Any, index: tuple[int, ...]) -> Place | None:
        """Return the source of an element of an update that adds operands to its start."""
        start = self.async_start(update)
        if start is None or not index:
            return None
        if index[0] == 1 and start.called_computation_ids:
            return self.root(start.called_computation_ids[0]), index[1:]
        given = [*start.operand_ids, *update.operand_ids[1:]]
        if index[0] == 0 and len(index) > 1 and index[1] < len(given):
            return given[index[1]], index[2:]
        return update.operand_ids[0], index

    def async_start(self, one: Any) -> Any:
        """Return the start of an asynchronous operation, given one of its steps, or None."""
        for _ in range(_MAX_FORWARDING_STEPS):
            if one is None or one.opcode == "async-start":
                return one
            known = one.opcode.startswith("async-") and one.operand_ids
            one = self._instructions.get(one.operand_ids[0]) if known else None
        return None

    def _started(self, one: Any, opcode: str, index: tuple[int, ...]) -> Place | None:
        """Return the source of an element of the result of an asynchronous start."""
        operands = one.operand_ids
        if opcode == "copy-start" and index == (1,):
            return operands[0], ()
        if opcode == "recv-done" and index[:1] == (0,):
            return operands[0], index
        if opcode == "send" and index[:1] == (0,):
            return operands[0], index[1:]
        if opcode == "async-start" and index[:1] == (1,) and one.called_computation_ids:
            return self.root(one.called_computation_ids[0]), index[1:]
        if index[:1] != (0,) or not opcode.endswith("-start"):
            return None
        if opcode != "async-start" and len(operands) == 1:
            return operands[0], index[1:]
        is_known = len(index) > 1 and index[1] < len(operands)
        return (operands[index[1]], index[2:]) if is_known else None

    def _argument(self, parameter: Any, index: tuple[int, ...]) -> Place | None:
        for caller in self.callers.get(self.parent(parameter.id), ())[:1]:
            number = int(parameter.parameter_number)
            if caller.opcode == "conditional":
                number += 1 + list(caller.called_computation_ids).index(self.parent(parameter.id))
            if number < len(caller.operand_ids):
                return caller.operand_ids[number], index
        return None


def shape_indices(shape: Any) -> Iterator[tuple[int, ...]]:
    """Yield the index of every part of a shape, the whole first."""
    stack: list[tuple[tuple[int, ...], Any]] = [((), shape)]
    while stack:
        index, part = stack.pop()
        yield index
        inner = enumerate(part.tuple_shapes)
        stack += [((*index, number), each) for number, each in inner]


def place_of(location: Any) -> Place:
    """Return the place of a ``LogicalBufferProto.Location``."""
    return int(location.instruction_id), tuple(location.shape_index)
