"""The rates that the instructions of a profile achieved, by their cost and their measured time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.cost.roofline import least_time
from hlo_lsp.profiles.joined import JoinedProgram
from hlo_lsp.profiles.measured import InstructionTime
from hlo_lsp.program.transfers import ASYNC_ENDINGS

_PICOSECONDS = 10**12


@dataclass(frozen=True, slots=True)
class AchievedWork:
    """The FLOPs and bytes of instructions in their own time, with all their executions.

    Attributes:
        memory_bytes: The bytes of memory traffic outside of on-chip memory.
        least_seconds: The least time on the chip, None without one.
        own_ps: The own time in picoseconds.
    """

    flops: int
    memory_bytes: int
    least_seconds: float | None
    own_ps: int

    @property
    def flops_per_second(self) -> float:
        """The achieved FLOP/s."""
        return self.flops * _PICOSECONDS / self.own_ps

    @property
    def bytes_per_second(self) -> float:
        """The achieved bytes/s of memory traffic."""
        return self.memory_bytes * _PICOSECONDS / self.own_ps

    @property
    def roofline_share(self) -> float | None:
        """The share of the least time in the own time, None without a chip."""
        seconds = self.least_seconds
        return None if seconds is None else seconds * _PICOSECONDS / self.own_ps


def work_of(program: JoinedProgram, chip: Chip | None) -> dict[str, AchievedWork]:
    """Return the work of the instructions of a program by their names.

    Instructions without own time, of unknown cost, or that are halves of an asynchronous operation
    are left out.
    """
    cost = None if program.dump is None else program_cost(program.dump, chip)
    if cost is None:
        return {}
    costs = {one.instruction.name: one for one in cost.executed.instructions}
    found = {}
    for one in program.instructions:
        known = costs.get(one.time.name)
        work = None if known is None else achieved_work(known, one.time, chip)
        if work is not None:
            found[one.time.name] = work
    return found


def achieved_work(
    one: InstructionCost, time: InstructionTime, chip: Chip | None
) -> AchievedWork | None:
    """Return the work of an instruction; None if ``work_of`` leaves it out."""
    if one.cost is None or not time.own_ps or one.instruction.opcode.endswith(ASYNC_ENDINGS):
        return None
    least = None if chip is None else least_time(one, chip).seconds / one.executions
    return AchievedWork(
        one.cost.flops * time.occurrences,
        one.memory_bytes * time.occurrences,
        None if least is None else least * time.occurrences,
        time.own_ps,
    )


def total_work(names: Iterable[str], work: Mapping[str, AchievedWork]) -> AchievedWork | None:
    """Return the work of several instructions as one, None if that of none is known."""
    found = [work[name] for name in names if name in work]
    if not found:
        return None
    seconds = [one.least_seconds for one in found if one.least_seconds is not None]
    return AchievedWork(
        sum(one.flops for one in found),
        sum(one.memory_bytes for one in found),
        sum(seconds) if seconds else None,
        sum(one.own_ps for one in found),
    )
