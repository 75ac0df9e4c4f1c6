"""The costs of instructions with physical sizes, and library calls by name.

The two halves of an asynchronous operation count once, at its start.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from hlo_lsp.cost.indexed_slices import indexed_cost
from hlo_lsp.cost.library_calls import library_call_cost
from hlo_lsp.cost.matrix_products import MatrixProduct, matrix_product
from hlo_lsp.cost.module_costs import FusionIndex, ModuleCosts
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import NO_COST, Cost, SizeOf
from hlo_lsp.hlo.call_order import callees_first
from hlo_lsp.hlo.dataflow import started_element
from hlo_lsp.hlo.vocabulary import INDEXED_OPCODES, PRODUCT_OPCODES
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.shape import element_texts
from hlo_lsp.program.transfers import fused_collective
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_ENDS = ("-done", "-update")
_NO_CODE = frozenset({"opt-barrier", "tuple"})
_STARTS = ("all-gather-start", "collective-permute-start", "copy-start")
# The element of the result that has the data; that of `send` is a token.
_RESULT_ELEMENTS = {
    **{opcode: started_element(opcode) or 0 for opcode in _STARTS},
    "recv": 0,
    "send": 2,
}
_FUSED_RESULT_ELEMENT = 1  # of a fusion that starts a collective
_ALIAS = re.compile(r"\{(\d{1,9})\}: \((\d{1,9}), \{\}")


class PhysicalCosts(ModuleCosts):
    """The costs of instructions without those of the computations that are in the schedule."""

    _counts_users = False

    def __init__(
        self, operands: OperandIndex, size_of: SizeOf, fusions: FusionIndex | None = None
    ) -> None:
        super().__init__(operands, size_of, fusions)
        self.unknown_calls: dict[InstructionLine, str] = {}
        self._has_custom_call: dict[ComputationLine, bool] = {}
        self._products: dict[ComputationLine, Sequence[MatrixProduct]] = {}

    def _cost(self, instruction: InstructionLine) -> Cost:
        cost = self._cost_of_part(instruction)
        if cost is not None:
            return cost
        opcode = instruction.opcode
        if opcode in INDEXED_OPCODES:
            return self._indexed_cost(instruction, instruction)
        if opcode != "custom-call":
            return super()._cost(instruction)
        return self._call_cost(instruction)

    def _cost_of_part(self, instruction: InstructionLine) -> Cost | None:
        """Return the cost of a part of an asynchronous operation, which counts at its start.

        None means another instruction.
        """
        opcode = instruction.opcode
        if opcode.endswith(_ENDS) or opcode in _NO_CODE:
            return NO_COST
        if opcode in _RESULT_ELEMENTS:
            return self._cost_by_shapes(instruction, self._start_cost)
        part, collective = fused_collective(self.module, instruction) or ("", instruction)
        if part == "Start":
            return self.of(collective).with_bytes(self._start_cost(instruction).bytes_accessed)
        return NO_COST if part else None

    def _call_cost(self, instruction: InstructionLine) -> Cost:
        operation = self.operation(instruction)
        cost = library_call_cost(operation)
        if cost is None:
            target = operation.attribute("custom_call_target").strip('"')
            self.unknown_calls[instruction] = target
        return cost or NO_COST

    def _indexed_cost(self, moving: InstructionLine, fusion: InstructionLine) -> Cost:
        return indexed_cost(self.operation(moving), fusion.shape)

    def _aliases(self, fusion: InstructionLine) -> tuple[tuple[int, int], ...]:
        aliasing = fusion.attribute("output_to_operand_aliasing")
        pairs = () if aliasing is None else _ALIAS.findall(aliasing.text)
        return tuple((int(element), int(number)) for element, number in pairs)

    def _fused_arithmetic(self, body: Computation) -> Cost:
        if self._contains_custom_call(body.head):
            return self.of_computation(body.head)
        return super()._fused_arithmetic(body)

    def _contains_custom_call(self, head: ComputationLine) -> bool:
        """Return whether a fused computation, or a fusion inside of it, has a custom call."""
        calls = self._has_custom_call
        if head not in calls:
            for callee in callees_first(head, self._fused_in, calls.__contains__):
                opcodes = (member.opcode for member in self.module.members(callee))
                calls[callee] = "custom-call" in opcodes or any(
                    calls.get(fused, False) for fused in self._fused_in(callee)
                )
        return calls[head]

    def _fused_in(self, head: ComputationLine) -> Iterator[ComputationLine]:
        """Yield the computations of the fusions in a computation."""
        for member in self.module.members(head):
            if member.opcode == "fusion":
                yield from self.operands.called_by(member)

    def _start_cost(self, instruction: InstructionLine) -> Cost:
        """Return the bytes that an operation reads, and those of one element of its result."""
        element = _RESULT_ELEMENTS.get(instruction.opcode, _FUSED_RESULT_ELEMENT)
        results = (element_texts(instruction.shape) or ())[element : element + 1]
        operation = self.operation(instruction)
        shapes = (*operation.operands, *results)
        return Cost(bytes_accessed=sum(map(operation.leaf_bytes, shapes)))

    def products(self, instruction: InstructionLine) -> Iterator[MatrixProduct]:
        """Yield the matrix products in an instruction or in its fusion."""
        if instruction.opcode in PRODUCT_OPCODES:
            product = matrix_product(self.operation(instruction))
            if product is not None:
                yield product
        elif instruction.opcode == "fusion":
            for computation in self.operands.called_by(instruction):
                yield from self._products_in(computation)

    def _products_in(self, head: ComputationLine) -> Sequence[MatrixProduct]:
        products = self._products
        if head not in products:
            order = [*callees_first(head, self._fused_in, products.__contains__)]
            products.update(dict.fromkeys(order, ()))  # for damaged texts that call themselves
            for callee in order:
                body = self.module.computation(callee)
                if self._fusions.arithmetic(body).flops:
                    products[callee] = [*chain.from_iterable(map(self.products, body.members))]
        return products[head]

    def unknown_in(self, instruction: InstructionLine) -> list[str]:
        """Return the targets of the unknown custom calls in an instruction or its fusion."""
        if instruction in self.unknown_calls:
            return [self.unknown_calls[instruction]]
        if not self.unknown_calls or instruction.opcode != "fusion":
            return []
        return [
            self.unknown_calls[member]
            for computation in self.operands.called_by(instruction)
            for member in self.module.members(computation)
            if member in self.unknown_calls
        ]
