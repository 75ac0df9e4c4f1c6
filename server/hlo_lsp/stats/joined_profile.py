"""Profiles joined with module texts: each program with its compile, and its instructions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.display.phrases import join_limited
from hlo_lsp.model.compile import Compile
from hlo_lsp.profiles.events import Profile, ProfileRun, Program, UnnamedTime
from hlo_lsp.profiles.measured import ProgramTime, program_time
from hlo_lsp.profiles.modules import (
    Match,
    entry_names,
    has_name,
    match_of,
    names_communication,
    result_shapes,
)
from hlo_lsp.stats.instruction_table import InstructionTable, measured_table, owners_of

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
