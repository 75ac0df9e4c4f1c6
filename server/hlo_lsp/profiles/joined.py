"""Profiles joined with module texts: time by Python line, scope, opcode, phase, and instruction."""

from collections.abc import Iterable
from dataclasses import dataclass

from hlo_lsp.display.phrases import join_limited
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.profiles.events import Profile, ProfileRun, Program, UnnamedTime
from hlo_lsp.profiles.measured import InstructionTime, ProgramTime, program_time
from hlo_lsp.profiles.modules import (
    Match,
    entry_names,
    has_name,
    match_of,
    names_communication,
    result_shapes,
)
from hlo_lsp.program.instruction_owners import (
    InstructionFacts,
    InstructionKey,
    group_of,
    instruction_facts,
)

_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class JoinedInstruction:
    """The time of an instruction with its facts, None if no module text has the instruction."""

    time: InstructionTime
    facts: InstructionFacts | None


@dataclass(frozen=True, slots=True)
class JoinedProgram:
    """The time of a program with the facts about its instructions.

    Attributes:
        dump: Its compile, None if it is unknown.
        matches: The named compiles with its name, the one that explains most of it first.
        is_profiled: Whether the profile contains the module.
    """

    time: ProgramTime
    instructions: tuple[JoinedInstruction, ...]
    dump: Compile | None
    matches: tuple[Match, ...] = ()
    is_profiled: bool = False

    @property
    def other_dumps(self) -> list[Compile]:
        """The other compiles that explain nearly all of the time."""
        return [one.dump for one in self.matches[1:] if one.is_same]

    @property
    def equal_dumps(self) -> list[Compile]:
        """The other compiles that explain as much; none if the profile contains the module."""
        others = () if self.is_profiled else self.matches[1:]
        return [one.dump for one in others if one.is_same and one.rank == self.matches[0].rank]

    @property
    def refused(self) -> Match | None:
        """The best compile with the name of the program, if it is of another compile."""
        best = next(iter(self.matches), None)
        return None if best is None or best.is_same else best

    @property
    def unjoined(self) -> list[JoinedInstruction]:
        """The instructions that no module text has."""
        return [one for one in self.instructions if one.facts is None]


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """Instructions of one group, and the sums of their occurrences and times in picoseconds.

    ``source`` is the Python line if the name is one.
    """

    name: str
    source: SourceLine | None
    occurrences: int
    total_ps: int
    own_ps: int
    instructions: tuple[JoinedInstruction, ...]


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
    """Return the time of all programs with the facts of their modules.

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
        best = next((one.dump for one in matches if one.is_same), own)
        programs.append(_joined(profile, program, best, matches, is_profiled=own is not None))
    programs.sort(key=lambda one: (-one.time.duration_ps, one.time.program.name))
    notes = list(profile.notes)
    if dumps and programs and not any(one.matches for one in programs):
        modules = [one.module_header.name for one in dumps if one.module_header is not None]
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
    own_times = {one.name: one.own_ps for one in time.instructions}
    shapes = {} if own is None else result_shapes(own, own_times)
    matches = [match_of(dump, program, own_times, shapes) for dump in named]
    return tuple(sorted(matches, key=lambda one: one.rank, reverse=True))


def _joined(
    profile: Profile,
    program: Program,
    dump: Compile | None,
    matches: tuple[Match, ...],
    *,
    is_profiled: bool,
) -> JoinedProgram:
    devices = profile.programs[program]
    names = sorted({event.instruction for one in devices.values() for event in one.events})
    facts = {} if dump is None else instruction_facts(dump, names)

    def communicates(name: str) -> bool:
        known = facts.get(name)
        return names_communication(name) if known is None else known.communicates

    entry = frozenset[str]() if dump is None else entry_names(dump)
    time = program_time(program, devices, entry, communicates)
    joined = tuple(JoinedInstruction(one, facts.get(one.name)) for one in time.instructions)
    return JoinedProgram(time, joined, dump, matches, is_profiled)


def grouped(program: JoinedProgram, key: InstructionKey) -> list[TimeGroup]:
    """Return the groups of instructions, the one with most own time first."""
    members: dict[str, list[JoinedInstruction]] = {}
    sources: dict[str, SourceLine | None] = {}
    for one in program.instructions:
        name = group_of(one.time.name, one.facts, key)
        members.setdefault(name, []).append(one)
        is_line = key is InstructionKey.LINE
        sources[name] = one.facts.source if is_line and one.facts is not None else None
    found = [
        TimeGroup(
            name,
            sources[name],
            sum(one.time.occurrences for one in group),
            sum(one.time.total_ps for one in group),
            sum(one.time.own_ps for one in group),
            tuple(group),
        )
        for name, group in members.items()
    ]
    return sorted(found, key=lambda one: (-one.own_ps, one.name))
