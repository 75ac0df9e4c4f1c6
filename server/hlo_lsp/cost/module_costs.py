"""The costs of the instructions of a module text, by XLA's conventions.

A loop counts as one iteration of its body and its condition, a custom call as -1.
"""

from collections.abc import Iterable
from functools import partial

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.formulas import cost_of
from hlo_lsp.cost.fusions import fusion_bytes
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import NO_COST, Cost, Operation, SizeOf
from hlo_lsp.hlo.vocabulary import CostRule, opcodes_where, vocabulary
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_START = "-start"
_FREE = opcodes_where(lambda opcode: opcode.cost is CostRule.FREE)
_INSTRUCTIONS_PER_CHECKPOINT = 100


class ModuleCosts:
    """The costs of instructions and computations, each computed once."""

    _counts_users = True  # of a fusion inside of a fusion, as XLA does

    def __init__(
        self,
        operands: OperandIndex,
        size_of: SizeOf,
        arithmetic: "ModuleCosts | None" = None,
    ) -> None:
        """Create the costs of a module.

        Args:
            operands: The operands of the instructions of the module.
            size_of: Returns the bytes of an array, or of a part of one.
            arithmetic: Costs of other sizes, whose FLOPs in fusions are not counted again.
        """
        self._arithmetic = arithmetic
        self.operands = operands
        self.module = operands.module
        self.size_of = size_of
        self._costs: dict[InstructionLine, Cost] = {}
        self._computations: dict[ComputationLine, Cost] = {}

    @property
    def total(self) -> Cost:
        """The cost of the entry computation."""
        entry = self.module.entry
        return NO_COST if entry is None else self.of_computation(entry)

    def of_computation(self, head: ComputationLine) -> Cost:
        """Return the sum of the costs in a computation; a recursive call costs nothing."""
        known = self._computations.get(head)
        if known is None:
            self._computations[head] = NO_COST
            known = self._computations[head] = self._sum(self.module.members(head))
        return known

    def _sum(self, instructions: Iterable[InstructionLine]) -> Cost:
        flops = transcendentals = size = 0
        for number, instruction in enumerate(instructions):
            if number % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
            cost = self.of(instruction)
            flops += cost.flops
            transcendentals += cost.transcendentals
            size += cost.bytes_accessed
        return Cost(flops, transcendentals, size)

    def of(self, instruction: InstructionLine) -> Cost:
        """Return the cost of an instruction, with that of the computations that it calls."""
        known = self._costs.get(instruction)
        if known is None:
            known = self._costs[instruction] = self._cost(instruction)
        return known

    def _cost(self, instruction: InstructionLine) -> Cost:
        if instruction.opcode in _FREE:
            return NO_COST
        operation = self.operation(instruction)
        if operation.opcode != "fusion":
            return cost_of(operation)
        called = self.module.called_by(instruction)
        if not called:
            return Cost(bytes_accessed=operation.bytes_of_all)
        body = self.module.computation(called[0])
        if operation.attribute("kind") == "kCustom":
            for member in body.members:
                if member.opcode in {"gather", "scatter"}:
                    return self.of(member)
        size = fusion_bytes(self.operands, body, operation, by_users=self._counts_users)
        if self._arithmetic is not None:
            return self._arithmetic.of(instruction).with_bytes(size)
        return self.of_computation(body.head).with_bytes(size)

    def operation(self, instruction: InstructionLine) -> Operation:
        """Return what an instruction does: for ``slice-start``, a ``slice``."""
        opcode, shape = instruction.opcode, instruction.shape
        if opcode.endswith(_START) and opcode not in vocabulary().opcodes:
            results = element_texts(shape) or ()
            opcode, shape = opcode.removesuffix(_START), next(iter(results[1:]), shape)
        return Operation(
            opcode,
            shape,
            tuple("" if one is None else one.shape for one in self.operands.of(instruction)),
            partial(_attribute, instruction),
            partial(self._callees, instruction),
            self.size_of,
        )

    def _callees(self, instruction: InstructionLine, attribute: str) -> list[Cost]:
        return [
            self.of_computation(callee.computation)
            for callee in self.module.callees(instruction)
            if callee.attribute == attribute and callee.computation is not None
        ]


def _attribute(instruction: InstructionLine, name: str) -> str:
    value = instruction.attribute(name)
    return "" if value is None else value.text
