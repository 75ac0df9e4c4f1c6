"""The costs of the instructions of a module text, by XLA's conventions.

A loop counts as one iteration of its body and its condition, a custom call as -1.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.formulas import cost_of, has_formula
from hlo_lsp.cost.fusions import Access, fusion_accesses
from hlo_lsp.cost.operation import NO_COST, Cost, OperandIndex, Operation, SizeOf
from hlo_lsp.hlo.dataflow import callees_first
from hlo_lsp.hlo.vocabulary import INDEXED_OPCODES, CostRule, opcodes_where
from hlo_lsp.model.computation import Computation
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_FREE = opcodes_where(lambda opcode: opcode.cost is CostRule.FREE)
_NO_ARITHMETIC = frozenset(
    opcode
    for opcode in opcodes_where(lambda opcode: opcode.cost is CostRule.DATA)
    if opcode != "fusion" and not has_formula(opcode)
)
_INSTRUCTIONS_PER_CHECKPOINT = 100
_AccessKey = tuple[ComputationLine, str, bool, tuple[tuple[int, int], ...]]


class FusionIndex:
    """The work and the accesses of the fusions of a module, the same for costs with any sizes."""

    def __init__(self, operands: OperandIndex) -> None:
        self._operands = operands
        self._arithmetic = _Arithmetic(operands, _no_bytes, self)
        self._accesses: dict[_AccessKey, Sequence[Access]] = {}

    def arithmetic(self, body: Computation) -> Cost:
        """Return the cost of a fused computation without bytes."""
        return self._arithmetic.of_computation(body.head)

    def parts(self, fusion: InstructionLine) -> Iterator[tuple[InstructionLine, Cost]]:
        """Yield the instructions in a fusion that compute, also in fusions inside of it."""
        module, equal = self._operands.module, self._operands.equal
        waiting, seen = module.called_by(fusion)[:1], set[ComputationLine]()
        while waiting:
            head = waiting.pop()
            if head in seen:
                continue
            seen.add(head)
            # A computation of equal cost has other lines.
            for member, one in zip(
                module.members(head), module.members(equal.first(head)), strict=True
            ):
                if member.opcode == "fusion":
                    waiting += module.called_by(member)[:1]
                    continue
                cost = self._arithmetic.of(one)
                if cost.flops or cost.transcendentals:
                    yield member, cost

    def accesses(
        self,
        body: Computation,
        shape: str,
        *,
        by_users: bool,
        aliases: tuple[tuple[int, int], ...] = (),
    ) -> Sequence[Access]:
        """Return what a fusion with a result of this shape accesses."""
        key = body.head, shape, by_users, aliases
        known = self._accesses.get(key)
        if known is None:
            known = self._accesses[key] = fusion_accesses(
                self._operands, body, shape, by_users=by_users, aliases=aliases
            )
        return known


class ModuleCosts:
    """The costs of instructions and computations, each computed once."""

    _counts_users = True  # of a fusion inside of a fusion, as XLA does
    _callers_without_sum = frozenset(
        {"fusion"}
    )  # the costs of their callees are those without bytes

    def __init__(
        self, operands: OperandIndex, size_of: SizeOf, fusions: FusionIndex | None = None
    ) -> None:
        """Create the costs of a module.

        Args:
            operands: The operands of the instructions of the module.
            size_of: Returns the bytes of an array, or of a part of one.
            fusions: The fusions of the module, to share them with costs of other sizes.
        """
        self.operands = operands
        self.module = operands.module
        self.size_of = size_of
        self._fusions = FusionIndex(operands) if fusions is None else fusions
        self._costs: dict[InstructionLine, Cost] = {}
        self._computations: dict[ComputationLine, Cost] = {}
        self._costs_by_shapes: dict[tuple[str, str, tuple[str, ...]], Cost] = {}

    @property
    def fusions(self) -> FusionIndex:
        """The fusions of the module."""
        return self._fusions

    @property
    def total(self) -> Cost:
        """The cost of the entry computation."""
        entry = self.module.entry
        return NO_COST if entry is None else self.of_computation(entry)

    def of_computation(self, head: ComputationLine) -> Cost:
        """Return the sum of the costs in a computation; a recursive call costs nothing."""
        computations = self._computations
        if head not in computations:
            order = [*callees_first(head, self._called_from, computations.__contains__)]
            computations.update(dict.fromkeys(order, NO_COST))  # for texts that call themselves
            for one in order:
                computations[one] = self._sum(self.module.members(one))
        return computations[head]

    def _called_from(self, head: ComputationLine) -> Iterator[ComputationLine]:
        """Yield the computations whose costs are those of the instructions of a computation."""
        for member in self.module.members(head):
            checkpoint()
            if member.opcode not in self._callers_without_sum:
                yield from self.operands.called_by(member)

    def _sum(self, instructions: Iterable[InstructionLine]) -> Cost:
        flops = transcendentals = size = 0
        for number, instruction in enumerate(instructions):
            if number % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                checkpoint()
            cost = self.of(instruction)
            flops += cost.flops
            transcendentals += cost.transcendentals
            size += cost.bytes_accessed
        return NO_COST + Cost(flops, transcendentals, size)  # the sum is limited

    def of(self, instruction: InstructionLine) -> Cost:
        """Return the cost of an instruction, with that of the computations that it calls."""
        known = self._costs.get(instruction)
        if known is None:
            known = self._costs[instruction] = self._cost(instruction)
        return known

    def _cost(self, instruction: InstructionLine) -> Cost:
        opcode = instruction.opcode
        if opcode in _FREE:
            return NO_COST
        if opcode == "fusion":
            return self._fusion_cost(instruction)
        if has_formula(opcode):
            return cost_of(self.operation(instruction))
        return self._cost_by_shapes(
            instruction, lambda instruction: cost_of(self.operation(instruction))
        )

    def _cost_by_shapes(
        self, instruction: InstructionLine, compute: Callable[[InstructionLine], Cost]
    ) -> Cost:
        """Return a cost that depends only on the opcode and the shapes, each computed once."""
        key = instruction.opcode, instruction.shape, self.operands.shapes(instruction)
        known = self._costs_by_shapes.get(key)
        if known is None:
            known = self._costs_by_shapes[key] = compute(instruction)
        return known

    def _fusion_cost(self, fusion: InstructionLine) -> Cost:
        called = self.operands.called_by(fusion)
        if not called:
            return Cost(bytes_accessed=self.operation(fusion).bytes_of_all)
        body = self.module.computation(called[0])
        moving = next((one for one in body.members if one.opcode in INDEXED_OPCODES), None)
        if moving is not None and _attribute(fusion, "kind") == "kCustom":
            return self._indexed_cost(moving, fusion)
        return self._fused_arithmetic(body).with_bytes(self._fusion_bytes(body, fusion))

    def _indexed_cost(self, moving: InstructionLine, _fusion: InstructionLine) -> Cost:
        """Return the cost of a gather or a scatter that is the work of a fusion."""
        return self.of(moving)

    def _fusion_bytes(self, body: Computation, fusion: InstructionLine) -> int:
        shape = fusion.shape
        accesses = self._fusions.accesses(
            body, shape, by_users=self._counts_users, aliases=self._aliases(fusion)
        )
        return sum([self.size_of(shape, array) for shape, array in accesses])

    def _aliases(self, _fusion: InstructionLine) -> tuple[tuple[int, int], ...]:
        """Return the elements of a result that have the buffer of an operand, if that matters."""
        return ()

    def _fused_arithmetic(self, body: Computation) -> Cost:
        """Return the cost of a fused computation, whose bytes do not count."""
        return self._fusions.arithmetic(body)

    def operation(self, instruction: InstructionLine) -> Operation:
        """Return what an instruction does."""
        return Operation(
            instruction.opcode,
            instruction.shape,
            self.operands.shapes(instruction),
            partial(_attribute, instruction),
            partial(self._callees, instruction),
            self.size_of,
        )

    def _callees(self, instruction: InstructionLine, attribute: str) -> list[Cost]:
        return [
            self.of_computation(self.operands.equal.first(callee.computation))
            for callee in self.module.callees(instruction)
            if callee.attribute == attribute and callee.computation is not None
        ]


def _attribute(instruction: InstructionLine, name: str) -> str:
    value = instruction.attribute(name)
    return "" if value is None else value.text


def _no_bytes(_shape: str, _array: str | None = None, /) -> int:
    return 0


class _Arithmetic(ModuleCosts):
    """Costs without bytes, which fused computations have."""

    _callers_without_sum: frozenset[str] = frozenset()

    def _cost(self, instruction: InstructionLine) -> Cost:
        return NO_COST if instruction.opcode in _NO_ARITHMETIC else super()._cost(instruction)

    def _fusion_bytes(self, _body: Computation, _fusion: InstructionLine) -> int:
        return 0
