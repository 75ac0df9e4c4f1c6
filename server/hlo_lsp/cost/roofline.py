"""The least time of an instruction on a chip, and what bounds it."""

from dataclasses import dataclass
from enum import Enum

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.text.amounts import format_seconds

IF_IN_CACHE = "(less if in cache)"


class Bound(Enum):
    """The resource that an instruction waits for at its least time."""

    COMPUTE = "compute"
    MEMORY = "memory"
    NETWORK = "network"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class LeastTime:
    """The least time of all executions in seconds, and what bounds it; None for no time."""

    seconds: float
    bound: Bound | None


def least_time(one: InstructionCost, chip: Chip) -> LeastTime:
    """Return the least time of an instruction: that of the resource that takes longest.

    On a GPU, the time of the memory is that of data that its cache does not hold.
    """
    times = resource_seconds(one, chip)
    bound = max(times, key=lambda key: times[key])
    return LeastTime(times[bound], bound if times[bound] else None)


def resource_seconds(one: InstructionCost, chip: Chip) -> dict[Bound, float]:
    """Return the time of each resource for all executions of an instruction, in seconds."""
    if one.cost is None:
        return dict.fromkeys(Bound, 0.0)
    device_bytes = one.memory_bytes - one.host_bytes
    return {
        Bound.COMPUTE: one.executions * one.cost.flops / chip.peak_flops(one.element_bits),
        Bound.MEMORY: one.executions * device_bytes / chip.memory_bytes_per_second,
        Bound.NETWORK: one.executions
        * one.wire_bytes
        / (chip.network_bytes_per_second or float("inf")),
        Bound.HOST: one.executions * one.host_bytes / (chip.host_bytes_per_second or float("inf")),
    }


def describe_least(seconds: float, *, may_be_cached: bool) -> str:
    """Return ``at least 1.53 ms``, or ``1.53 ms (less if in cache)``, which is no lower bound."""
    time = format_seconds(seconds)
    return f"{time} {IF_IN_CACHE}" if may_be_cached else f"at least {time}"


def may_be_cached(bound: Bound | None, chip: Chip) -> bool:
    """Return whether the cache of a chip can make a least time with this bound shorter."""
    return chip.has_cache and bound is Bound.MEMORY


def padding_flops(one: InstructionCost, chip: Chip) -> int:
    """Return the FLOPs that the matrix unit wastes at least in all executions of an instruction.

    They are those of the parts of the unit that dimensions of matrices leave without work.
    """
    if chip.matrix_unit is None:
        return 0
    return one.executions * sum(each.padding_flops(chip.matrix_unit) for each in one.products)
