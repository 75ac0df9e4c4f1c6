"""The cost of a compile in both conventions, and sums over its instructions."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import ExecutedCost, InstructionCost, executed_cost
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import Cost
from hlo_lsp.cost.roofline import Bound, least_time
from hlo_lsp.cost.xla import xla_costs, xla_size
from hlo_lsp.memory.grouping import split_scopes
from hlo_lsp.model.backend import is_on_chip
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import Target, sizes_of_text, target_of
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.phases import phase_of

_NO_LINE, _NO_SCOPE = "no Python line", "no scope"


class CostKey(Enum):
    """A property that the instructions of a group have in common."""

    LINE = "line"
    SCOPE = "scope"
    OPCODE = "opcode"
    PHASE = "phase"
    COMPUTATION = "computation"
    INSTRUCTION = "instruction"


@dataclass(frozen=True, slots=True)
class CostGroup:
    """Instructions with one key, and the sums of their costs over all executions.

    Attributes:
        source: The Python line if the name is one.
        memory_bytes: The bytes of ``cost`` outside of on-chip memory.
        seconds: The least time, None without a chip.
        bound: The resource that bounds most of this time, None for no time.
        unknown: The number of instructions of unknown cost.
    """

    name: str
    source: SourceLine | None
    instructions: int
    executions: int
    cost: Cost
    memory_bytes: int
    wire_bytes: int
    seconds: float | None
    bound: Bound | None
    unknown: int

    @property
    def intensity(self) -> float | None:
        """The FLOPs for each byte of memory traffic, None without traffic."""
        return self.cost.flops / self.memory_bytes if self.memory_bytes else None


@dataclass(frozen=True, slots=True)
class ProgramCost:
    """The cost of a compile; ``chip`` is None if it is unknown."""

    dump: Compile
    chip: Chip | None
    xla: Cost
    executed: ExecutedCost

    @property
    def total(self) -> CostGroup:
        """All instructions as one group."""
        return self._group("", None, list(self.executed.instructions))

    def groups(self, key: CostKey) -> list[CostGroup]:
        """Return the groups by a key, those with the most time, else the most FLOPs, first."""
        members: dict[str, list[InstructionCost]] = {}
        sources: dict[str, SourceLine | None] = {}
        for one in self.executed.instructions:
            if one.cost is None or one.cost != Cost() or one.wire_bytes:
                name, source = self._name(one, key)
                members.setdefault(name, []).append(one)
                sources[name] = source
        groups = [self._group(name, sources[name], each) for name, each in members.items()]
        return sorted(groups, key=_order)

    def _group(
        self, name: str, source: SourceLine | None, members: list[InstructionCost]
    ) -> CostGroup:
        totals = [one.total for one in members]
        times = dict.fromkeys(Bound, 0.0)
        for one in members if self.chip is not None else ():
            assert self.chip is not None
            least = least_time(one, self.chip)
            if least.bound is not None:
                times[least.bound] += least.seconds
        longest = max(times, key=lambda bound: times[bound])
        return CostGroup(
            name,
            source,
            len(members),
            sum(one.executions for one in members),
            Cost(
                sum(one.flops for one in totals),
                sum(one.transcendentals for one in totals),
                sum(one.bytes_accessed for one in totals),
            ),
            sum(one.memory_bytes * one.executions for one in members),
            sum(one.wire_bytes * one.executions for one in members),
            None if self.chip is None else sum(times.values()),
            longest if times[longest] else None,
            sum(one.cost is None for one in members),
        )

    def _name(self, one: InstructionCost, key: CostKey) -> tuple[str, SourceLine | None]:
        if key is CostKey.OPCODE:
            return one.instruction.opcode, None
        if key is CostKey.COMPUTATION:
            return one.computation.name, None
        if key is CostKey.INSTRUCTION:
            return one.instruction.name, None
        metadata = one.instruction.parsed.metadata
        op_name = metadata.get("op_name", "")
        if key is CostKey.SCOPE:
            return "/".join(split_scopes(op_name)[:-1]) or _NO_SCOPE, None
        if key is CostKey.PHASE:
            return phase_of(one.instruction.name, op_name), None
        source = self.dump.frames.line_of(self.dump.stack_of(metadata))
        if source is None:
            return f"{_NO_LINE}: {one.instruction.opcode}", None
        return str(source), source


def _order(group: CostGroup) -> tuple[float, int, int, str]:
    cost = group.cost
    return (-(group.seconds or 0.0), -cost.flops, -cost.bytes_accessed, group.name)


def program_cost(dump: Compile, chip: Chip | None) -> ProgramCost | None:
    """Return the cost of a compile, or None without a module text.

    Args:
        dump: The compile.
        chip: The chip for times; without one, there are no times.
    """
    file = dump.module_file
    if file is None:
        return None
    operands = OperandIndex(file.module)
    executed = executed_cost(operands, *_physical_sizes(dump))
    return ProgramCost(dump, chip, xla_costs(operands).total, executed)


def _physical_sizes(dump: Compile) -> tuple[Callable[[str], int], Callable[[str], int]]:
    """Return functions for the bytes of an array in memory, and outside of on-chip memory."""
    target = target_of(dump)
    sizes: dict[str, int] = {}
    memory_sizes: dict[str, int] = {}

    def size_of(text: str) -> int:
        size = sizes.get(text)
        if size is None:
            size = sizes[text] = _physical_size(text, target)
        return size

    def memory_size_of(text: str) -> int:
        size = memory_sizes.get(text)
        if size is None:
            shape = try_shape(text)
            space = shape.memory_space if isinstance(shape, ArrayShape) else 0
            size = 0 if is_on_chip(space, target.backend) else size_of(text)
            memory_sizes[text] = size
        return size

    return size_of, memory_size_of


def _physical_size(text: str, target: Target) -> int:
    size = sizes_of_text(text, target).bytes
    return xla_size(text) if size is None else size
