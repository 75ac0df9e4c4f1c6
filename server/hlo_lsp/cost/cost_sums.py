"""Sums of the costs of instructions over all executions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.operation import Cost
from hlo_lsp.cost.roofline import Bound, least_time, padding_flops, resource_times


@dataclass(frozen=True, slots=True)
class CostSum:
    """The sums of the costs of some instructions over all executions.

    Attributes:
        memory_bytes: The bytes of ``cost`` outside of on-chip memory.
        least_ps: The least time in picoseconds, None without a chip.
        unknown: The number of instructions of unknown cost.
        padding_flops: The FLOPs that the matrix unit wastes at least, because dimensions of
            matrices do not fill it; None without a chip with such a unit.
        estimated_cycles: The estimates of the compiler, None if it prints none.
        bound_ps: The least times of the instructions by what bounds each; they add up to
            ``least_ps``. Zeros without a chip.
        resource_ps: The time that each resource takes for all instructions. Zeros without a chip.
    """

    instructions: int
    executions: int
    cost: Cost
    memory_bytes: int
    wire_bytes: int
    least_ps: float | None
    unknown: int
    padding_flops: int | None
    estimated_cycles: int | None
    bound_ps: Mapping[Bound, float] = field(hash=False)
    resource_ps: Mapping[Bound, float] = field(hash=False)

    @property
    def bound(self) -> Bound | None:
        """The resource that bounds most of the least time, None for no time."""
        longest = max(self.bound_ps, key=lambda bound: self.bound_ps[bound])
        return longest if self.bound_ps[longest] else None

    @property
    def intensity(self) -> float | None:
        """The FLOPs for each byte of memory traffic, None without traffic."""
        return self.cost.flops / self.memory_bytes if self.memory_bytes else None


def cost_sum(rows: Iterable[InstructionCost], chip: Chip | None) -> CostSum:
    """Return the sums of the costs of instructions; times only with a chip."""
    count = executions = memory = wire = unknown = padding = 0
    flops = transcendentals = size = 0
    bounds: dict[Bound, list[float]] = {bound: [] for bound in Bound}
    resources: dict[Bound, list[float]] = {bound: [] for bound in Bound}
    cycles: int | None = None
    for row in rows:
        checkpoint()
        total = row.total
        count += 1
        flops += total.flops
        transcendentals += total.transcendentals
        size += total.bytes_accessed
        executions += row.executions
        memory += row.memory_bytes * row.executions
        wire += row.wire_bytes * row.executions
        unknown += row.cost is None
        if row.estimated_cycles is not None:
            cycles = (cycles or 0) + row.executions * row.estimated_cycles
        if chip is None:
            continue
        padding += padding_flops(row, chip)
        for resource, time in resource_times(row, chip).items():
            resources[resource].append(time)
        least = least_time(row, chip)
        if least.bound is not None:
            bounds[least.bound].append(least.ps)
    # Exact sums, so that the order of instructions does not change which group has more time.
    bound_ps = {bound: fsum(times) for bound, times in bounds.items()}
    return CostSum(
        count,
        executions,
        Cost(flops, transcendentals, size),
        memory,
        wire,
        None if chip is None else fsum(bound_ps.values()),
        unknown,
        None if chip is None or chip.matrix_unit is None else padding,
        cycles,
        bound_ps,
        {resource: fsum(times) for resource, times in resources.items()},
    )
