"""The cost of a module as it runs: physical sizes, loops by trip count, library calls by name."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.execution_counts import ExecutionCounts
from hlo_lsp.cost.fusions import is_collective
from hlo_lsp.cost.matrix_products import MatrixProduct
from hlo_lsp.cost.module_costs import FusionIndex
from hlo_lsp.cost.operation import NO_COST, Cost, OperandIndex, Operation, SizeOf
from hlo_lsp.cost.physical_costs import PhysicalCosts
from hlo_lsp.hlo.vocabulary import SendRule, opcode_spec
from hlo_lsp.model.backend import HOST_MEMORY_SPACE
from hlo_lsp.model.device_groups import (
    GroupList,
    GroupMode,
    ShardingError,
    group_mode,
    parse_device_groups,
)
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.shape import is_unbounded
from hlo_lsp.program.transfers import fused_collective_kind
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

# The bytes that each of some devices sends, from their number and the bytes of operands or result.
_SENT_BYTES: dict[SendRule, Callable[[int, int], int]] = {
    SendRule.OPERANDS: lambda _, moved: moved,
    SendRule.RESULT: lambda _, moved: moved,
    SendRule.OPERANDS_TO_OTHERS: lambda size, moved: (size - 1) * moved,
    SendRule.PIECES_TO_OTHERS: lambda size, moved: (size - 1) * moved // size,
    SendRule.PIECES_TO_OTHERS_TWICE: lambda size, moved: 2 * (size - 1) * moved // size,
}


def wire_bytes(operation: Operation, module: ModuleIndex, kind: str | None = None) -> int:
    """Return the bytes that each device sends for a collective; 0 for other opcodes.

    The factors are those of ring algorithms, as in the bus bandwidth of nccl-tests.

    Args:
        operation: The collective.
        module: The module that it is in.
        kind: The opcode whose rule applies, that of the operation by default.
    """
    rule = opcode_spec(kind or operation.opcode.removesuffix("-start")).sends
    sent_bytes = _SENT_BYTES.get(rule)
    if sent_bytes is None:
        return 0
    shapes = [operation.shape] if rule is SendRule.RESULT else operation.operands
    size = max(1, _group_size(operation, module))
    return sent_bytes(size, sum(map(operation.leaf_bytes, shapes)))


def _group_size(operation: Operation, module: ModuleIndex) -> int:
    """Return the number of devices in the largest group of a collective."""
    try:
        groups = parse_device_groups(operation.attribute("replica_groups") or "{}")
    except ShardingError:
        return 1
    if not isinstance(groups, GroupList):
        size = groups.size
    elif groups.groups:
        size = max(map(len, groups.groups))
    else:
        return module.partition_count * module.replica_count
    is_whole = _mode(operation) is GroupMode.WHOLE_REPLICAS
    return size * module.partition_count if is_whole else size


def _mode(operation: Operation) -> GroupMode:
    return group_mode(
        operation.opcode,
        channel=bool(operation.attribute("channel_id")),
        global_ids=operation.attribute("use_global_device_ids") == "true",
    )


_ASYNC_START = 'custom_call_target="AsyncCollectiveStart"'
_CYCLES = re.compile(r'"estimated_cycles":"(\d{1,18})"')  # 2^63 - 1 for an unknown number
_NARROW_ARRAY = re.compile(r"(?:[su]([1248])|f([468])e\w+)\[")
_WIDE_BITS = 16
_IN_HOST_MEMORY = f"S({HOST_MEMORY_SPACE})"


@dataclass(frozen=True, slots=True)
class InstructionCost:
    """The cost of an instruction of the schedule each time it runs.

    Attributes:
        cost: The cost of one execution, None if it is unknown.
        memory_bytes: The bytes of ``cost`` that are not in on-chip memory.
        wire_bytes: The bytes that the device sends to others.
        executions: How often the instruction runs, at least.
        host_bytes: The bytes of ``memory_bytes`` that are in host memory.
        element_bits: 16, or fewer if an operand has narrower numbers: 8 or 4.
        products: The matrix products of one execution.
        estimated_cycles: The estimate of the compiler for one execution, None if it prints none.
        is_lower_bound: True if a custom call in the fusion is of unknown cost.
        is_complete: False if it may run more often, in a loop of unknown trip count.
    """

    instruction: InstructionLine
    computation: ComputationLine
    cost: Cost | None
    memory_bytes: int
    wire_bytes: int
    executions: int
    host_bytes: int = 0
    element_bits: int = 16
    products: tuple[MatrixProduct, ...] = ()
    estimated_cycles: int | None = None
    is_lower_bound: bool = False
    is_complete: bool = True

    @property
    def is_known(self) -> bool:
        """True if the cost of all executions is known, with all custom calls."""
        return self.cost is not None and self.is_complete and not self.is_lower_bound

    @property
    def total(self) -> Cost:
        """The cost of all executions; nothing if it is unknown."""
        return NO_COST if self.cost is None else self.cost.times(self.executions)


@dataclass(frozen=True, slots=True)
class ExecutedCost:
    """The costs of the instructions of a schedule.

    Attributes:
        unknown_loops: The loops whose trip count is unknown; one iteration counts.
        unknown_calls: The number of custom calls of unknown cost, by their target.
        conditionals: The number of conditionals; the branch with the most FLOPs counts.
        unbounded: The instructions whose result has an unbounded dimension, and no known size.
        missing_part: Why the text is only a part of the program, None if it is whole.
    """

    instructions: tuple[InstructionCost, ...]
    unknown_loops: tuple[str, ...]
    unknown_calls: dict[str, int]
    conditionals: int
    unbounded: tuple[str, ...] = ()
    missing_part: str | None = None

    @property
    def complete(self) -> bool:
        """False if the sums are lower bounds, because something in the program is unknown."""
        return not (self.unknown_loops or self.unknown_calls or self.unbounded or self.missing_part)


def executed_cost(
    operands: OperandIndex,
    size_of: SizeOf,
    memory_size_of: SizeOf,
    host_size_of: SizeOf,
    fusions: FusionIndex | None = None,
    *,
    missing_part: str | None = None,
) -> ExecutedCost:
    """Return the costs of a module as it runs.

    Args:
        operands: The operands of the instructions of the module.
        size_of: Returns the bytes of an array in memory.
        memory_size_of: Returns the same, but 0 for an array in on-chip memory.
        host_size_of: Returns the same, but 0 for an array that is not in host memory.
        fusions: The fusions of the module, to share them with costs of other sizes.
        missing_part: Why the text is only a part of the program, None if it is whole.
    """
    fusions = FusionIndex(operands) if fusions is None else fusions
    costs, memory, host = (
        PhysicalCosts(operands, size, fusions) for size in (size_of, memory_size_of, host_size_of)
    )
    schedule, instructions = ExecutionCounts(costs), _InstructionCosts(costs, memory, host)
    rows = tuple(starmap(instructions.row, schedule.instructions()))
    return ExecutedCost(
        rows,
        tuple(schedule.unknown_loops),
        dict(schedule.unknown_calls + instructions.unknown_calls),
        schedule.conditionals,
        tuple(_unbounded(rows)),
        missing_part,
    )


def _unbounded(rows: Sequence[InstructionCost]) -> Iterator[str]:
    """Yield the names of instructions whose results have an unknown size."""
    for row in rows:
        checkpoint()
        if is_unbounded(row.instruction.shape):
            yield row.instruction.name


class _InstructionCosts:
    """The costs of the instructions of a schedule, and the custom calls of unknown cost in them."""

    def __init__(self, costs: PhysicalCosts, memory: PhysicalCosts, host: PhysicalCosts) -> None:
        self._costs, self._memory, self._host = costs, memory, host
        self._module = costs.module
        self._collectives: dict[ComputationLine, Sequence[InstructionLine]] = {}
        self.unknown_calls: Counter[str] = Counter()
        # The channels of collectives that a fusion starts, and later fusions continue and end.
        self._started: set[tuple[ComputationLine | None, str]] = set()

    def row(
        self,
        instruction: InstructionLine,
        computation: ComputationLine,
        count: int,
        is_complete: bool,
    ) -> InstructionCost:
        """Return the cost of an instruction that runs so often."""
        cost = self._costs.of(instruction)
        unknown = self._costs.unknown_in(instruction)
        self.unknown_calls.update(unknown)
        is_unknown = instruction in self._costs.unknown_calls
        return InstructionCost(
            instruction,
            computation,
            None if is_unknown else cost,
            self._memory.of(instruction).bytes_accessed if cost.bytes_accessed else 0,
            self._wire_bytes(instruction),
            count,
            self._host.of(instruction).bytes_accessed if self._uses_host(instruction) else 0,
            self._element_bits(instruction) if cost.flops else _WIDE_BITS,
            tuple(self._costs.products(instruction)) if cost.flops else (),
            _estimated_cycles(instruction),
            bool(unknown) and not is_unknown,
            is_complete,
        )

    def _uses_host(self, instruction: InstructionLine) -> bool:
        """Return whether the result or an operand of an instruction is in host memory."""
        shapes = (instruction.shape, *self._costs.operands.shapes(instruction))
        return any(_IN_HOST_MEMORY in shape for shape in shapes)

    def _element_bits(self, instruction: InstructionLine) -> int:
        shapes = self._costs.operands.shapes(instruction)
        matches = filter(None, map(_NARROW_ARRAY.match, shapes))
        widths = (int(match[1] or match[2]) for match in matches)
        # Numbers of 6 bits have the rate of 8 bits.
        return min((4 if bits <= 4 else 8 for bits in widths), default=_WIDE_BITS)

    def _wire_bytes(self, instruction: InstructionLine) -> int:
        opcode = instruction.opcode
        if is_collective(opcode):
            return wire_bytes(self._costs.operation(instruction), self._module)
        if opcode != "fusion":
            return 0
        members = [
            member
            for computation in self._costs.operands.called_by(instruction)
            for member in self._collective_parts(computation)
        ]
        is_start = any(_ASYNC_START in member.text for member in members)
        home = self._module.computation_of(instruction)
        sent = 0
        for member in members:
            channel = member.attribute("channel_id")
            key = home, "" if channel is None else channel.text
            if is_start and channel is not None:
                self._started.add(key)
            elif key in self._started:
                continue  # a later part of the collective, or its end
            if is_collective(member.opcode):
                kind = fused_collective_kind(self._module, member)
                sent += wire_bytes(self._costs.operation(member), self._module, kind)
        return sent

    def _collective_parts(self, head: ComputationLine) -> Sequence[InstructionLine]:
        """Return the collectives, and the starts of others, in a fused computation."""
        collectives = self._collectives.get(head)
        if collectives is None:
            collectives = self._collectives[head] = [
                member
                for member in self._module.members(head)
                if is_collective(member.opcode) or _ASYNC_START in member.text
            ]
        return collectives


def _estimated_cycles(instruction: InstructionLine) -> int | None:
    match = _CYCLES.search(instruction.text)
    return None if match is None else int(match[1])
