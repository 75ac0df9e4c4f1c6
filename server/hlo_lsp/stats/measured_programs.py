"""Profiles joined with module texts: which program of which profile each compile is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.program_cost import ProgramCost, program_cost
from hlo_lsp.display.phrases import join_limited
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.profiles.events import Profile, ProfileRun, Program, UnnamedTime
from hlo_lsp.profiles.files import profile_run, read_profile
from hlo_lsp.profiles.measured import ProgramTime, program_time
from hlo_lsp.profiles.modules import (
    Match,
    compiles_in,
    entry_names,
    has_name,
    match_of,
    names_communication,
    result_shapes,
)
from hlo_lsp.protos.names import TRACE_ENDINGS, XPLANE_ENDINGS
from hlo_lsp.stats.instruction_table import InstructionTable, cost_table, measured_table, owners_of
from hlo_lsp.text.disk import UnreadableError, names_in

_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class JoinedProgram:
    """The time of a program, and the compile that it is of.

    Attributes:
        dump: Its compile, None if it is unknown.
        matches: The named compiles with its name, the one that explains most of it first.
        is_profiled: Whether the profile contains the module.
    """

    time: ProgramTime
    dump: Compile | None
    matches: tuple[Match, ...] = ()
    is_profiled: bool = False

    @property
    def other_dumps(self) -> list[Compile]:
        """The other compiles that explain nearly all of the time."""
        return [match.dump for match in self.matches[1:] if match.is_same]

    @property
    def equal_dumps(self) -> list[Compile]:
        """The other compiles that explain as much; none if the profile contains the module."""
        others = () if self.is_profiled else self.matches[1:]
        return [
            match.dump for match in others if match.is_same and match.rank == self.matches[0].rank
        ]

    @property
    def refused(self) -> Match | None:
        """The best compile with the name of the program, if it is of another compile."""
        best = next(iter(self.matches), None)
        return None if best is None or best.is_same else best

    def table(self, cost: ProgramCost | None = None) -> InstructionTable:
        """Return the measured instructions, with their costs if these are needed."""
        table = measured_table(self.dump, cost, self.time)
        return replace(table, rows=tuple(row for row in table.rows if row.measured is not None))


@dataclass(frozen=True, slots=True)
class JoinedProfile:
    """All programs of a profile, the one with most time first, and what belongs to none."""

    programs: tuple[JoinedProgram, ...]
    unnamed: dict[str, UnnamedTime]
    notes: tuple[str, ...]
    run: ProfileRun | None = None


def join(
    profile: Profile, compiles: dict[int, Compile], dumps: Iterable[Compile] = ()
) -> JoinedProfile:
    """Return the time of all programs with the compiles that they are of.

    Args:
        profile: The profile.
        compiles: The compiles that the profile contains, by the id of the program.
        dumps: Other compiles, which take precedence; those of a program have its name.
    """
    dumps = list(dumps)
    programs = []
    for program in profile.programs:
        own = None if program.id is None else compiles.get(program.id)
        matches = _matches(profile, program, own, dumps)
        dump = next((match.dump for match in matches if match.is_same), own)
        time = _time(profile, program, dump)
        programs.append(JoinedProgram(time, dump, matches, is_profiled=own is not None))
    programs.sort(key=lambda joined: (-joined.time.duration_ps, joined.time.program.name))
    notes = list(profile.notes)
    if dumps and programs and not any(joined.matches for joined in programs):
        modules = [dump.module_header.name for dump in dumps if dump.module_header is not None]
        listed = join_limited(list(dict.fromkeys(modules)), _MAX_NAMES) or "no module texts"
        notes.append(f"no named dump is of a compile in this profile; they are of {listed}")
    return JoinedProfile(tuple(programs), profile.unnamed, tuple(notes), profile.run)


def _matches(
    profile: Profile, program: Program, own: Compile | None, dumps: Iterable[Compile]
) -> tuple[Match, ...]:
    """Return how compiles with the name of a program match, the best first."""
    named = [dump for dump in dumps if has_name(dump, program)]
    if not named:
        return ()
    time = program_time(program, profile.programs[program], frozenset(), names_communication)
    own_times = {instruction.name: instruction.own_ps for instruction in time.instructions}
    shapes = {} if own is None else result_shapes(own, own_times)
    matches = [match_of(dump, program, own_times, shapes) for dump in named]
    return tuple(sorted(matches, key=lambda match: match.rank, reverse=True))


def _time(profile: Profile, program: Program, dump: Compile | None) -> ProgramTime:
    devices = profile.programs[program]
    names = {event.instruction for found in devices.values() for event in found.events}
    owners = {} if dump is None else owners_of(dump, tuple(sorted(names)))

    def communicates(name: str) -> bool:
        owner = owners.get(name)
        return names_communication(name) if owner is None else owner.communicates

    entry = frozenset[str]() if dump is None else entry_names(dump)
    return program_time(program, devices, entry, communicates)


_RUNS = Path("plugins", "profile")  # the folder in which JAX writes a folder for each run


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
        program.time.program: result_shapes(
            program.dump, (instruction.name for instruction in program.time.instructions)
        )
        for program in joined.programs
        if program.dump is not None
    }
    programs = tuple(program.time for program in joined.programs)
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
class TimeSources:
    """The chip for least times, and the profiles for measured times, the first one preferred."""

    chip: Chip | None = None
    profiles: tuple[ProfileTimes, ...] = ()


def measured_program(dump: Compile, profiles: tuple[ProfileTimes, ...]) -> ProgramTime | None:
    """Return the program of a compile in the first profile that has it.

    ``profiles.modules.match_of`` decides, as for commands.
    """
    for profile in profiles:
        matches = []
        for program in profile.programs:
            if not has_name(dump, program.program) or not program.own_ps:
                continue
            own_times = {time.name: time.own_ps for time in program.instructions}
            shapes = profile.shapes.get(program.program, {})
            match = match_of(dump, program.program, own_times, shapes)
            if match.is_same:
                matches.append((match, program))
        if matches:
            return max(matches, key=lambda pair: pair[0].rank)[1]
    return None


@query
def program_table(dump: Compile, sources: TimeSources) -> InstructionTable:
    """Return the instructions of a compile, with measured times if there is a profile of it."""
    measured = measured_program(dump, sources.profiles)
    if measured is None:
        return cost_table(dump, sources.chip) or InstructionTable(dump, None, None, ())
    return measured_table(dump, program_cost(dump, sources.chip), measured)
