"""The definitions of the values at the places of a module (hlo_dataflow_analysis.cc)."""

from collections.abc import Container, Iterator
from typing import Any

from hlo_lsp.hlo.dataflow import Dataflow
from hlo_lsp.hlo.vocabulary import CALLING_OPCODES, ResultKind
from hlo_lsp.protos.instructions import InstructionPrinter
from hlo_lsp.protos.shapes import decoded

_MAX_FORWARDING_STEPS = 10_000
Place = tuple[int, tuple[int, ...]]  # the id of an instruction, and a shape index
_MOVING = frozenset({ResultKind.COPY, ResultKind.REARRANGED})


class ValueFlow(Dataflow[int, int]):
    """Follows values from the instructions that forward them to those that define them.

    Instructions and computations are their ids. Instructions that are not known to forward a value
    define it. Fused computations have no values.
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
        self._async_users: dict[int, list[int]] = {}
        for one in self._instructions.values():
            if one.opcode in CALLING_OPCODES:
                for number in one.called_computation_ids:
                    self.callers.setdefault(number, []).append(one)
            if one.opcode.startswith("async-"):
                for number in one.operand_ids[:1]:
                    self._async_users.setdefault(number, []).append(one.id)

    def definition(self, place: Place) -> Place | None:
        """Return where the value at a place is defined; None if that does not follow."""
        path: list[Place] = []
        here: Place | None = place
        for _ in range(_MAX_FORWARDING_STEPS):
            if here is None or here in self._defined or here in self._known:
                break
            path.append(here)
            # Where several values meet, a value is defined, so that any source leads to the same.
            source = next(self.sources(*here), None)
            here = None if source is None or source[2] in _MOVING else source[:2]
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

    def _opcode(self, instruction: int) -> str:
        return getattr(self._instructions.get(instruction), "opcode", "")

    def _operand_count(self, instruction: int) -> int:
        return len(self._instructions[instruction].operand_ids)

    def _operand(self, instruction: int, number: int) -> int | None:
        one = self._instructions.get(instruction)
        ids = () if one is None else one.operand_ids
        return int(ids[number]) if number < len(ids) else None

    def _selected_element(self, instruction: int) -> int:
        return int(self._instructions[instruction].tuple_index)

    def _callees(self, caller: int) -> list[tuple[str, int]]:
        one = self._instructions[caller]
        if one.opcode not in CALLING_OPCODES:
            return []
        # The body of a loop is the first one.
        ids = one.called_computation_ids
        return [("" if at else "body", int(each)) for at, each in enumerate(ids)]

    def _callers(self, computation: int) -> Iterator[int]:
        return (int(caller.id) for caller in self.callers.get(computation, ()))

    def _root(self, computation: int) -> int:
        return self.root(computation)

    def _parameter_place(self, parameter: int) -> tuple[int, int]:
        return self.parent(parameter), int(self._instructions[parameter].parameter_number)

    def _first_operand_users(self, instruction: int) -> list[int]:
        return self._async_users.get(instruction, [])


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
