"""The time of the instructions of a compile, measured and at least, for editors."""

import heapq
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.cost.chips import Chip, can_run
from hlo_lsp.cost.cost_facts import CostFacts, cost_facts
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.source import SourceLine
from hlo_lsp.profiles.achieved import achieved_work
from hlo_lsp.profiles.events import Program
from hlo_lsp.profiles.files import TRACE_ENDINGS, XPLANE_ENDINGS, profile_run, read_profile
from hlo_lsp.profiles.joined import join
from hlo_lsp.profiles.measured import InstructionTime, ProgramTime
from hlo_lsp.profiles.modules import compiles_in, has_name, match_of, result_shapes
from hlo_lsp.program.instruction_owners import (
    InstructionFacts,
    InstructionKey,
    group_of,
    instruction_facts,
)
from hlo_lsp.text.disk import UnreadableError, names_in

_RUNS = Path("plugins", "profile")  # the folder in which JAX writes a folder for each run
_SECOND_PS = 10**12


@dataclass(frozen=True, slots=True, eq=False)
class ProfileTimes:
    """The times of the programs of a profile, without its events.

    Attributes:
        path: The file or folder.
        programs: The one with most time first.
        shapes: The shapes of the instructions that ran, for each program that the profile contains.
        damages: What could not be read, for the user.
    """

    path: Path
    programs: tuple[ProgramTime, ...]
    shapes: Mapping[Program, Mapping[str, str]]
    damages: tuple[str, ...]


def read_profile_times(path: Path) -> ProfileTimes:
    """Return the times in a profile.

    Raises:
        UnreadableError: The file cannot be read, or is not a profile of a program.
    """
    profile = read_profile(profile_run(path))
    joined = join(profile, compiles_in(profile, path))
    if not joined.programs:
        reason = f"{path}: no instruction of XLA ran in this profile"
        raise UnreadableError("\n".join([*dict.fromkeys(profile.damages), reason]))
    shapes = {
        one.time.program: result_shapes(one.dump, (each.name for each in one.time.instructions))
        for one in joined.programs
        if one.dump is not None
    }
    programs = tuple(one.time for one in joined.programs)
    return ProfileTimes(path, programs, shapes, tuple(dict.fromkeys(profile.damages)))


def profile_beside(folder: Path) -> Path | None:
    """Return the newest profile in the folder of a dump or in ``plugins/profile`` below it."""
    runs = folder / _RUNS
    places = [*sorted((runs / name for name in names_in(runs)), reverse=True), folder]
    found = {place: names_in(place) for place in places}
    for endings in (XPLANE_ENDINGS, TRACE_ENDINGS):
        for place, names in found.items():
            profiles = [name for name in names if name.endswith(endings)]
            if profiles:  # a run has a file for each host
                return folder / max(profiles) if place is folder else place
    return None


@dataclass(frozen=True, slots=True)
class MeasuredTimes:
    """The measured time of a compile.

    Attributes:
        program: The program in the profile.
        instructions: By name.
        computations: The sums of the own times of the instructions of computations, by their name.
        own_ps: The sum of the own times of all instructions.
    """

    program: ProgramTime
    instructions: Mapping[str, InstructionTime]
    computations: Mapping[str, int]
    own_ps: int

    @property
    def executions(self) -> int:
        """The number of runs on all devices."""
        return max(1, len(self.program.executions))


@query
def measured_times(dump: Compile, profiles: tuple[ProfileTimes, ...]) -> MeasuredTimes | None:
    """Return the times of the program of a compile in the first profile that has it.

    ``profiles.modules.match_of`` decides, as for commands.
    """
    for profile in profiles:
        found = []
        for one in filter(lambda each: has_name(dump, each.program), profile.programs):
            own_times = {each.name: each.own_ps for each in one.instructions}
            match = match_of(dump, one.program, own_times, profile.shapes.get(one.program, {}))
            if match.is_same and one.own_ps:
                found.append((match, one))
        if found:
            return _measured(dump, max(found, key=lambda each: each[0].rank)[1])
    return None


def _measured(dump: Compile, program: ProgramTime) -> MeasuredTimes:
    instructions = {one.name: one for one in program.instructions}
    computations: Counter[str] = Counter()
    for name, one in instructions.items():
        if dump.instruction(name) is not None:
            computations[_computation(dump, name)] += one.own_ps
    return MeasuredTimes(program, instructions, computations, program.own_ps)


def _computation(dump: Compile, name: str) -> str:
    """Return the name of the computation of an instruction, empty if it is unknown."""
    line, file = dump.instruction(name), dump.module_file
    if line is None or file is None or line.file is not file:
        return ""
    computation = file.module.computation_of(line.record)
    return "" if computation is None else computation.name


@dataclass(frozen=True, slots=True)
class TimeSources:
    """The chip for least times, and the profiles for measured times, the first one preferred."""

    chip: Chip | None = None
    profiles: tuple[ProfileTimes, ...] = ()


@dataclass(frozen=True, slots=True)
class HotInstruction:
    """An instruction that takes much of the time of a run; ``seconds`` of one run.

    The time is measured or the least one, which ``may_be_cached`` shortens.
    """

    name: str
    seconds: float
    share: float
    is_measured: bool
    may_be_cached: bool = False


@dataclass(frozen=True, slots=True)
class HotGroup:
    """Instructions with a key in common, the one with most time first.

    Attributes:
        name: What they have in common.
        source: The Python line, if that is what they have in common; else None.
        instructions: The instructions.
    """

    name: str
    source: SourceLine | None
    instructions: tuple[HotInstruction, ...]

    @property
    def seconds(self) -> float:
        """The time of one run."""
        return sum(one.seconds for one in self.instructions)

    @property
    def share(self) -> float:
        """The share of the time of a run."""
        return sum(one.share for one in self.instructions)

    @property
    def is_measured(self) -> bool:
        """False if the time is the least one."""
        return all(one.is_measured for one in self.instructions)

    @property
    def may_be_cached(self) -> bool:
        """True if data in the cache of the chip takes less than the least time."""
        return any(one.may_be_cached for one in self.instructions)


@dataclass(frozen=True, slots=True)
class TimeFacts:
    """The known times of a compile."""

    cost: CostFacts | None
    measured: MeasuredTimes | None
    roofline: Chip | None = None  # the chip of the cost if the measured program can be for it

    def hottest(self, count: int = sys.maxsize) -> list[HotInstruction]:
        """Return the instructions with the most time, measured if there is a profile."""
        if self.measured is not None:
            runs, total = self.measured.executions * _SECOND_PS, self.measured.own_ps
            measured = self.measured.instructions.values()
            return [
                HotInstruction(one.name, one.own_ps / runs, one.own_ps / total, is_measured=True)
                for one in heapq.nsmallest(count, measured, lambda one: (-one.own_ps, one.name))
            ]
        known = {} if self.cost is None else self.cost.instructions
        least = [(-(one.seconds or 0.0), name) for name, one in known.items() if one.seconds]
        total_seconds = -sum(seconds for seconds, _ in least)
        return [
            HotInstruction(
                name,
                -seconds,
                -seconds / total_seconds,
                is_measured=False,
                may_be_cached=known[name].may_be_cached,
            )
            for seconds, name in heapq.nsmallest(count, least)
        ]

    def roofline_share(self, name: str) -> float | None:
        """Return the least time of an execution as a share of the measured one, or None."""
        cost = None if self.cost is None else self.cost.instructions.get(name)
        time = None if self.measured is None else self.measured.instructions.get(name)
        if self.cost is None or cost is None or time is None:
            return None
        work = achieved_work(cost.cost, time, self.roofline)
        return (None if work is None else work.roofline_share) or None


@query
def time_facts(dump: Compile, sources: TimeSources) -> TimeFacts:
    """Return the time of a compile, at least and measured."""
    chip = sources.chip
    roofline = chip if chip is not None and can_run(chip, dump) else None
    cost, measured = cost_facts(dump, chip), measured_times(dump, sources.profiles)
    return TimeFacts(cost, measured, roofline)


def hot_groups(
    dump: Compile,
    facts: TimeFacts,
    key: InstructionKey,
    known: Mapping[str, InstructionFacts] | None = None,
) -> list[HotGroup]:
    """Return the instructions with time by a key, the group with most time first.

    ``known`` are the facts of these instructions, if they are known.
    """
    hot = facts.hottest()
    if known is None:
        known = instruction_facts(dump, (one.name for one in hot))
    members: dict[str, list[HotInstruction]] = {}
    for one in hot:
        members.setdefault(group_of(one.name, known.get(one.name), key), []).append(one)
    groups = []
    for name, found in members.items():
        first = known.get(found[0].name) if key is InstructionKey.LINE else None
        groups.append(HotGroup(name, None if first is None else first.source, tuple(found)))
    return sorted(groups, key=lambda group: (-group.seconds, group.name))
