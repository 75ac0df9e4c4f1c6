"""Dataflow between the instructions of a module text."""

import re

from hlo_lsp.hlo.dataflow import Dataflow, TuplePath
from hlo_lsp.hlo.vocabulary import ResultKind, opcode_spec
from hlo_lsp.model.computation import Callee
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_INDEX = re.compile(r"\s*\d{1,9}\s*")  # of an element of a tuple
_MAX_WALK_STEPS = 400  # Real modules need fewer than ten.
# An instruction of these kinds is another name of a result, one of the others computes it.
_NAMING = frozenset({ResultKind.ELEMENT, ResultKind.ARGUMENT})
_MOVING = frozenset({ResultKind.COPY, ResultKind.REARRANGED})


class ModuleFlow(Dataflow[InstructionLine, ComputationLine]):
    """The dataflow of a module text."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module

    def _opcode(self, instruction: InstructionLine) -> str:
        return instruction.opcode

    def _operand_count(self, instruction: InstructionLine) -> int:
        return len(instruction.operands)

    def _operand(self, instruction: InstructionLine, number: int) -> InstructionLine | None:
        names = instruction.operands
        return self._module.operand(instruction, names[number]) if number < len(names) else None

    def _selected_element(self, instruction: InstructionLine) -> int | None:
        index = instruction.parsed.attribute("index")
        return None if index is None or not _INDEX.fullmatch(index.text) else int(index.text)

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
        return [user for user in users if self._operand(user, 0) is instruction]

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

    def element_sources(
        self, tuple_instruction: InstructionLine, number: int
    ) -> list[InstructionLine]:
        """Return the instructions that compute element ``number`` of a tuple.

        The search follows loops, fusions, calls, and branches. It returns several instructions
        where control flow merges.
        """
        found: dict[InstructionLine, None] = {}
        self._trace(tuple_instruction, (number,), set(), found)
        return list(found)

    def _trace(
        self,
        instruction: InstructionLine,
        path: TuplePath,
        seen: set[tuple[InstructionLine, TuplePath]],
        found: dict[InstructionLine, None],
    ) -> None:
        if (instruction, path) in seen or len(seen) > _MAX_WALK_STEPS:
            return
        seen.add((instruction, path))
        sources = [
            (source, rest)
            for source, rest, kind in self.sources(instruction, path)
            if kind in _NAMING or (path and kind not in _MOVING)
        ]
        for source, rest in sources:
            self._trace(source, rest, seen, found)
        if not sources:
            found[instruction] = None


def ordered_callees(module: ModuleIndex, caller: InstructionLine) -> list[Callee]:
    """Return the callees of an instruction, branches in operand order."""
    order = {name: number for number, name in enumerate(opcode_spec(caller.opcode).calls)}
    return sorted(module.callees(caller), key=lambda one: order.get(one.attribute, len(order)))


_KNOWN_TRIP_COUNT = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"(\d{1,19})"')


def trip_count(instruction: InstructionText) -> int | None:
    """Return the number of iterations of a ``while``; None if XLA did not determine it."""
    config = instruction.attribute("backend_config")
    if instruction.opcode.text != "while" or config is None:
        return None
    found = _KNOWN_TRIP_COUNT.search(config.text)
    return None if found is None else int(found[1])
