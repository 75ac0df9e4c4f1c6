"""The least time of an instruction on a chip, what bounds it, and sums over all executions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import fsum

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.operation import NO_COST, Cost
from hlo_lsp.text.amounts import PICOSECONDS


class Bound(Enum):
    """The resource that an instruction waits for at its least time."""

    COMPUTE = "compute"
    MEMORY = "memory"
    NETWORK = "network"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class LeastTime:
    """The least time of all executions in picoseconds, and what bounds it; None for no time.

    ``may_be_cached`` is true if data in the cache of the chip takes less time.
    """

    ps: float
    bound: Bound | None
    may_be_cached: bool = False


_NO_TIME = LeastTime(0.0, None)


def least_time(row: InstructionCost, chip: Chip) -> LeastTime:
    """Return the least time of an instruction: that of the resource that takes longest.

    On a GPU, the time of the memory is that of data that its cache does not hold.
    """
    if row.cost == NO_COST and not row.wire_bytes:
        return _NO_TIME
    times = resource_times(row, chip)
    bound = max(times, key=lambda key: times[key])
    if not times[bound]:
        return _NO_TIME
    return LeastTime(times[bound], bound, may_be_cached(bound, chip))


def resource_times(row: InstructionCost, chip: Chip) -> dict[Bound, float]:
    """Return the time of each resource for all executions of an instruction, in picoseconds."""
    if row.cost is None:
        return dict.fromkeys(Bound, 0.0)
    unit = row.executions * PICOSECONDS
    device_bytes = row.memory_bytes - row.host_bytes
    return {
        Bound.COMPUTE: unit * row.cost.flops / chip.peak_flops(row.element_bits),
        Bound.MEMORY: unit * device_bytes / chip.memory_bytes_per_second,
        Bound.NETWORK: unit * row.wire_bytes / (chip.network_bytes_per_second or float("inf")),
        Bound.HOST: unit * row.host_bytes / (chip.host_bytes_per_second or float("inf")),
    }


def may_be_cached(bound: Bound | None, chip: Chip) -> bool:
    """Return whether the cache of a chip can make a least time with this bound shorter."""
    return chip.has_cache and bound is Bound.MEMORY


def padding_flops(row: InstructionCost, chip: Chip) -> int:
    """Return the FLOPs that the matrix unit wastes at least in all executions of an instruction.

    They are those of the parts of the unit that dimensions of matrices leave without work.
    """
    if chip.matrix_unit is None:
        return 0
    return row.executions * sum(one.padding_flops(chip.matrix_unit) for one in row.products)


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
