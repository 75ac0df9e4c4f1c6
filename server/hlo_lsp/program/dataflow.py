"""Dataflow between the instructions of a module text."""

from collections.abc import Iterator

from hlo_lsp.hlo.dataflow import Dataflow
from hlo_lsp.hlo.notation import TuplePath
from hlo_lsp.hlo.vocabulary import ResultKind, opcode_spec
from hlo_lsp.model.computation import Callee
from hlo_lsp.model.module_index import ModuleIndex, parameter_number, selected_element
from hlo_lsp.model.shape import without_layout
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_WALK_STEPS = 400  # Real modules need fewer than ten.
# An instruction of these kinds is another name of a result, one of the others computes it.
_NAMING = frozenset({ResultKind.ELEMENT, ResultKind.ARGUMENT})
_MOVING = frozenset({ResultKind.COPY, ResultKind.REARRANGED})
_REARRANGING = frozenset({"bitcast", "copy", "reshape", "transpose"})


class ModuleFlow(Dataflow[InstructionLine, ComputationLine]):
    """The dataflow of a module text."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._last: tuple[InstructionLine, tuple[str, ...]] | None = None  # with its operands

    def _opcode(self, instruction: InstructionLine) -> str:
        if offloaded_computation(self._module, instruction) is not None:
            return "call"
        return self._module.opcode(instruction)

    def _operand_count(self, instruction: InstructionLine) -> int:
        return len(instruction.operands)

    def operand(self, instruction: InstructionLine, number: int) -> InstructionLine | None:
        """Return an operand of an instruction, or None if it is undefined or missing."""
        # A conditional can pass thousands of operands to one computation.
        if self._last is None or self._last[0] is not instruction:
            self._last = instruction, instruction.operands
        names = self._last[1]
        return self._module.operand(instruction, names[number]) if number < len(names) else None

    _operand = operand

    def _selected_element(self, instruction: InstructionLine) -> int | None:
        return selected_element(instruction)

    def _callees(self, caller: InstructionLine) -> list[tuple[str, ComputationLine | None]]:
        callees = ordered_callees(self._module, caller)
        return [(callee.attribute, callee.computation) for callee in callees]

    def _callers(self, computation: ComputationLine) -> list[InstructionLine]:
        return self._module.callers(computation)

    def _root(self, computation: ComputationLine) -> InstructionLine | None:
        return self._module.computation(computation).root

    def _parameter_place(self, parameter: InstructionLine) -> tuple[ComputationLine, int] | None:
        computation, number = self._module.computation_of(parameter), parameter_number(parameter)
        return None if computation is None or number is None else (computation, number)

    def _first_operand_users(self, instruction: InstructionLine) -> list[InstructionLine]:
        users = self._module.users(instruction)
        return [user for user in users if self.operand(user, 0) is instruction]

    def parameters(self, caller: InstructionLine, place: int) -> list[InstructionLine]:
        """Return the parameters that receive operand number ``place`` of a calling instruction.

        An async-update calls the computations of its async-start, with its operands after the
        first.
        """
        start = self.async_start(caller) if caller.opcode == "async-update" else caller
        passed = [] if start is None else self.passed_operands(start)
        if start is None or (caller, place) not in passed:
            return []
        return [
            parameter
            for computation in dict.fromkeys(self._module.called_by(start))
            for number, parameter in self._module.computation(computation).parameters.items()
            if passed.index((caller, place)) in self.operand_numbers(start, computation, number)
        ]

    def rearrangements(self, instruction: InstructionLine) -> Iterator[InstructionLine]:
        """Yield the instructions that only rearrange a result, also inside of fusions.

        XLA for CPUs changes the order of the dimensions of some convolutions. The metadata of the
        convolution are then those of the transpose of its result.
        """
        waiting = [instruction]
        for _ in range(_MAX_WALK_STEPS):
            if not waiting:
                break
            data = waiting.pop()
            for user in self._module.users(data):
                if user.opcode == "fusion":
                    for place, operand in enumerate(self._module.operands(user)):
                        waiting += self.parameters(user, place) if operand is data else []
                elif user.opcode in _REARRANGING:
                    yield user
                    waiting.append(user)

    def producers(self, instruction: InstructionLine, path: TuplePath) -> list[InstructionLine]:
        """Return the instructions that compute an element of a result.

        The search follows loops, fusions, calls, and branches. It returns several instructions
        where control flow merges.
        """
        found: dict[InstructionLine, None] = {}
        seen: set[tuple[InstructionLine, TuplePath]] = set()
        waiting = [(instruction, path)]
        while waiting and len(seen) <= _MAX_WALK_STEPS:
            instruction, path = place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            sources = [
                (source, rest)
                for source, rest, kind in self.sources(instruction, path)
                if kind in _NAMING or (path and kind not in _MOVING)
            ]
            waiting += reversed(sources)
            if not sources:
                found[instruction] = None
        return list(found)


def ordered_callees(module: ModuleIndex, caller: InstructionLine) -> list[Callee]:
    """Return the callees of an instruction, branches in operand order."""
    order = {name: number for number, name in enumerate(opcode_spec(caller.opcode).calls)}
    return sorted(module.callees(caller), key=lambda one: order.get(one.attribute, len(order)))


def offloaded_computation(
    module: ModuleIndex, instruction: InstructionLine
) -> ComputationLine | None:
    """Return the computation that a custom call runs with its operands, else None.

    XLA for TPU puts the work of the SparseCore into such a custom call. Its meaning is that of a
    ``call``. The computation of another custom call, such as the comparison of ``TopK``, has other
    parameters than the operands.
    """
    if instruction.opcode != "custom-call" or not instruction.called:
        return None
    callees = module.called_by(instruction)
    if len(callees) != 1:
        return None
    body = module.computation(callees[0])
    operands = [None if one is None else one.shape for one in module.operands(instruction)]
    parameters = [body.parameters.get(number) for number in range(len(operands))]
    if body.root is None or len(body.parameters) != len(operands):
        return None
    pairs = [(instruction.shape, body.root), *zip(operands, parameters, strict=True)]
    return callees[0] if all(_have_equal_shapes(*pair) for pair in pairs) else None


def _have_equal_shapes(shape: str | None, other: InstructionLine | None) -> bool:
    if shape is None or other is None:
        return False
    return without_layout(shape) == without_layout(other.shape)
