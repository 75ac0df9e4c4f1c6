"""The cost of a module as it runs: physical sizes, loops by trip count, library calls by name.

The two halves of an asynchronous operation count once, at its start.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.indexed_slices import indexed_cost
from hlo_lsp.cost.library_calls import library_call_cost
from hlo_lsp.cost.matrix_products import MatrixProduct, matrix_product
from hlo_lsp.cost.module_costs import FusionIndex, ModuleCosts
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import NO_COST, Cost, SizeOf
from hlo_lsp.cost.wire import is_collective, wire_bytes
from hlo_lsp.hlo.call_order import callees_first
from hlo_lsp.hlo.dataflow import started_element
from hlo_lsp.hlo.vocabulary import CALLING_OPCODES, INDEXED_OPCODES, PRODUCT_OPCODES
from hlo_lsp.model.backend import HOST_MEMORY_SPACE
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.shape import element_texts, is_unbounded
from hlo_lsp.program.dataflow import offloaded_computation, ordered_callees
from hlo_lsp.program.transfers import fused_collective, fused_collective_kind
from hlo_lsp.program.trip_counts import trip_count
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_ENDS = ("-done", "-update")
_ASYNC_START = 'custom_call_target="AsyncCollectiveStart"'
_CYCLES = re.compile(r'"estimated_cycles":"(\d{1,18})"')  # 2^63 - 1 for an unknown number
_NARROW_ARRAY = re.compile(r"(?:[su]([1248])|f([468])e\w+)\[")
_WIDE_BITS = 16
_IN_HOST_MEMORY = f"S({HOST_MEMORY_SPACE})"
_MAX_EXECUTIONS = (1 << 63) - 1  # a number of XLA; nested loops of a damaged text run more often
_NO_CODE = frozenset({"opt-barrier", "tuple"})
_STARTS = ("all-gather-start", "collective-permute-start", "copy-start")
# The element of the result that has the data; that of `send` is a token.
_RESULT_ELEMENTS = {**{one: started_element(one) or 0 for one in _STARTS}, "recv": 0, "send": 2}
_FUSED_RESULT_ELEMENT = 1  # of a fusion that starts a collective
_ALIAS = re.compile(r"\{(\d{1,9})\}: \((\d{1,9}), \{\}")


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


class ExecutedCosts(ModuleCosts):
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
        found = fusion.attribute("output_to_operand_aliasing")
        pairs = () if found is None else _ALIAS.findall(found.text)
        return tuple((int(element), int(number)) for element, number in pairs)

    def _fused_arithmetic(self, body: Computation) -> Cost:
        if self._contains_custom_call(body.head):
            return self.of_computation(body.head)
        return super()._fused_arithmetic(body)

    def _contains_custom_call(self, head: ComputationLine) -> bool:
        """Return whether a fused computation, or a fusion inside of it, has a custom call."""
        known = self._has_custom_call
        if head not in known:
            for each in callees_first(head, self._fused_in, known.__contains__):
                members = self.module.members(each)
                known[each] = any(one.opcode == "custom-call" for one in members) or any(
                    known.get(one, False) for one in self._fused_in(each)
                )
        return known[head]

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
        known = self._products
        if head not in known:
            order = [*callees_first(head, self._fused_in, known.__contains__)]
            known.update(dict.fromkeys(order, ()))  # for damaged texts that call themselves
            for each in order:
                body = self.module.computation(each)
                if self._fusions.arithmetic(body).flops:
                    known[each] = [one for line in body.members for one in self.products(line)]
        return known[head]

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
    costs = ExecutedCosts(operands, size_of, fusions)
    schedule = _Schedule(costs)
    memory = ExecutedCosts(operands, memory_size_of, fusions)
    host = ExecutedCosts(operands, host_size_of, fusions)
    rows = tuple(schedule.instructions(memory, host))
    return ExecutedCost(
        rows,
        tuple(schedule.unknown_loops),
        dict(schedule.unknown_calls),
        schedule.conditionals,
        tuple(_unbounded(rows)),
        missing_part,
    )


def _unbounded(rows: Sequence[InstructionCost]) -> Iterator[str]:
    """Yield the names of instructions whose results have an unknown size."""
    for one in rows:
        checkpoint()
        if is_unbounded(one.instruction.shape):
            yield one.instruction.name


class _Work(NamedTuple):
    """The FLOPs and bytes of a computation, and what is unknown in it."""

    size: tuple[int, int]
    unknown_calls: tuple[str, ...]
    unknown_loops: tuple[str, ...]


class _Schedule:
    """The instructions of the schedule, with the number of their executions."""

    def __init__(self, costs: ExecutedCosts) -> None:
        self._costs = costs
        self._module = costs.module
        self._callees: dict[ComputationLine, list[tuple[ComputationLine, int]]] = {}
        self.unknown_loops: list[str] = []
        self._works: dict[ComputationLine, _Work] = {}
        self._collectives: dict[ComputationLine, Sequence[InstructionLine]] = {}
        self.unknown_calls: Counter[str] = Counter()
        self.conditionals = 0
        # The channels of collectives that a fusion starts, and later fusions continue and end.
        self._started: set[tuple[ComputationLine | None, str]] = set()

    def instructions(self, memory: ExecutedCosts, host: ExecutedCosts) -> Iterator[InstructionCost]:
        """Yield the costs in the order of the text, computation by computation."""
        for computation, count in self._executions().items():
            for member in self._module.members(computation):
                checkpoint()
                if count and not self._calls_schedule(member):
                    yield self._instruction(member, computation, count, memory, host)

    def _instruction(
        self,
        instruction: InstructionLine,
        computation: ComputationLine,
        count: int,
        memory: ExecutedCosts,
        host: ExecutedCosts,
    ) -> InstructionCost:
        cost = self._costs.of(instruction)
        unknown = self._costs.unknown_in(instruction)
        self.unknown_calls.update(unknown)
        is_unknown = instruction in self._costs.unknown_calls
        return InstructionCost(
            instruction,
            computation,
            None if is_unknown else cost,
            memory.of(instruction).bytes_accessed if cost.bytes_accessed else 0,
            self._wire_bytes(instruction),
            count,
            host.of(instruction).bytes_accessed if self._uses_host(instruction) else 0,
            self._element_bits(instruction) if cost.flops else _WIDE_BITS,
            tuple(self._costs.products(instruction)) if cost.flops else (),
            _estimated_cycles(instruction),
            bool(unknown) and not is_unknown,
        )

    def _uses_host(self, instruction: InstructionLine) -> bool:
        """Return whether the result or an operand of an instruction is in host memory."""
        shapes = (instruction.shape, *self._costs.operands.shapes(instruction))
        return any(_IN_HOST_MEMORY in shape for shape in shapes)

    def _element_bits(self, instruction: InstructionLine) -> int:
        shapes = self._costs.operands.shapes(instruction)
        found = filter(None, map(_NARROW_ARRAY.match, shapes))
        widths = (int(one[1] or one[2]) for one in found)
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
        found = 0
        for member in members:
            channel = member.attribute("channel_id")
            key = home, "" if channel is None else channel.text
            if is_start and channel is not None:
                self._started.add(key)
            elif key in self._started:
                continue  # a later part of the collective, or its end
            if is_collective(member.opcode):
                kind = fused_collective_kind(self._module, member)
                found += wire_bytes(self._costs.operation(member), self._module, kind)
        return found

    def _collective_parts(self, head: ComputationLine) -> Sequence[InstructionLine]:
        """Return the collectives, and the starts of others, in a fused computation."""
        known = self._collectives.get(head)
        if known is None:
            known = self._collectives[head] = [
                member
                for member in self._module.members(head)
                if is_collective(member.opcode) or _ASYNC_START in member.text
            ]
        return known

    def _executions(self) -> dict[ComputationLine, int]:
        """Return how often each computation of the schedule runs, callers first."""
        entry = self._module.entry
        if entry is None:
            return {}
        counts = {entry: 1}
        order = self._callers_first(entry)
        for computation in order:
            for callee, times in self._callees[computation]:
                count = counts.get(callee, 0) + counts.get(computation, 0) * times
                counts[callee] = min(count, _MAX_EXECUTIONS)
        return {computation: counts.get(computation, 0) for computation in order}

    def _callers_first(self, entry: ComputationLine) -> list[ComputationLine]:
        done: dict[ComputationLine, None] = {}
        waiting: list[tuple[ComputationLine, bool]] = [(entry, False)]
        while waiting:
            computation, is_walked = waiting.pop()
            if is_walked:
                done[computation] = None
            elif computation not in self._callees:
                self._callees[computation] = list(self._calls(computation))
                waiting.append((computation, True))
                waiting += [(callee, False) for callee, _ in self._callees[computation]]
        return list(reversed(done))

    def _calls(self, computation: ComputationLine) -> Iterator[tuple[ComputationLine, int]]:
        """Yield the computations that a computation runs, each with the number of executions."""
        for member in self._module.members(computation):
            checkpoint()
            if not self._calls_schedule(member):
                continue
            callees = [
                (one.attribute, one.computation)
                for one in ordered_callees(self._module, member)
                if one.computation is not None
            ]
            if member.opcode == "conditional":
                self.conditionals += 1
                callees = self._largest(callees)
            times, known = 1, None
            if member.opcode == "while":
                known = trip_count(self._module, member)
                times = 1 if known is None else known
                if known is None:
                    self.unknown_loops.append(member.name)
            for attribute, callee in callees:
                # The condition runs once more than the body, when it ends the loop.
                yield callee, times + (attribute == "condition" and known is not None)

    def _largest(
        self, branches: list[tuple[str, ComputationLine]]
    ) -> list[tuple[str, ComputationLine]]:
        """Return the branch with the most work; what is unknown in others is unknown of both."""
        works = [self._work(callee) for _, callee in branches]
        at = max(range(len(works)), key=lambda one: works[one].size, default=0)
        for number, work in enumerate(works):
            if number != at:
                self.unknown_calls.update(work.unknown_calls)
                self.unknown_loops += work.unknown_loops
        return branches[at : at + 1]

    def _work(self, computation: ComputationLine) -> _Work:
        """Return the work of a computation each time it runs, with all that it calls."""
        works = self._works
        if computation not in works:
            for one in callees_first(computation, self._scheduled_in, works.__contains__):
                works[one] = self._own_work(one)
        return works[computation]

    def _scheduled_in(self, computation: ComputationLine) -> Iterator[ComputationLine]:
        """Yield the computations in the schedule that a computation calls."""
        for member in self._module.members(computation):
            if self._calls_schedule(member):
                yield from self._module.called_by(member)

    def _own_work(self, computation: ComputationLine) -> _Work:
        """Return the work of a computation, of whose callees it is known."""
        none = _Work((0, 0), (), ())  # for damaged texts that call themselves
        flops = bytes_accessed = 0
        calls: list[str] = []
        loops: list[str] = []
        for member in self._module.members(computation):
            checkpoint()
            if not self._calls_schedule(member):
                cost = self._costs.of(member)
                flops, bytes_accessed = flops + cost.flops, bytes_accessed + cost.bytes_accessed
                calls += self._costs.unknown_in(member)
                continue
            times: int | None = 1
            if member.opcode == "while":
                times = trip_count(self._module, member)
                loops += [member.name] if times is None else []
            works = [self._works.get(one, none) for one in self._module.called_by(member)]
            sizes = [one.size for one in works]
            if member.opcode == "conditional":
                sizes = [max(sizes, default=(0, 0))]
            repeats = 1 if times is None else times
            flops += repeats * sum(one for one, _ in sizes)
            bytes_accessed += repeats * sum(one for _, one in sizes)
            for one in works:
                calls += one.unknown_calls
                loops += one.unknown_loops
        return _Work((flops, bytes_accessed), tuple(calls), tuple(loops))

    def _calls_schedule(self, instruction: InstructionLine) -> bool:
        """Return whether the instructions of called computations count instead of this one."""
        return (
            instruction.opcode in CALLING_OPCODES
            or offloaded_computation(self._module, instruction) is not None
        )


def _estimated_cycles(instruction: InstructionLine) -> int | None:
    match = _CYCLES.search(instruction.text)
    return None if match is None else int(match[1])
