"""The least time of an instruction on a chip, and what bounds it."""

from dataclasses import dataclass
from enum import Enum

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.operation import NO_COST
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
