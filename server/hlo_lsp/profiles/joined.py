"""Profiles joined with module texts: time by Python line, scope, opcode, phase, and instruction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hlo_lsp.display.phrases import join_limited
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.profiles.events import Profile, ProfileRun, Program, UnnamedTime
from hlo_lsp.profiles.measured import InstructionTime, ProgramTime, program_time
from hlo_lsp.profiles.modules import (
    entry_names,
    match_compiles,
    names_communication,
)
from hlo_lsp.program.instruction_owners import (
    InstructionFacts,
    InstructionKey,
    group_of,
    instruction_facts,
)

MIN_JOINED_SHARE = 0.9  # of the time of a program; a text with less of it is of another compile
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
        other_dumps: Compiles that could be its compile as well.
        foreign_dump: A compile of this name that lacks too much of what ran to be its compile.
        is_profiled: Whether the profile contains the module.
    """

    time: ProgramTime
    instructions: tuple[JoinedInstruction, ...]
    dump: Compile | None
    other_dumps: tuple[Compile, ...] = ()
    foreign_dump: Compile | None = None
    is_profiled: bool = False

    @property
    def unjoined(self) -> list[JoinedInstruction]:
        """The instructions that no module text has."""
        return [one for one in self.instructions if one.facts is None]

    @property
    def joined_share(self) -> float:
        """The share of the own times that is in instructions of the text."""
        total = sum(one.time.own_ps for one in self.instructions)
        missing = sum(one.time.own_ps for one in self.unjoined)
        return 1 - missing / total if total else float(not self.unjoined)


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
    names = {
        program: sorted({event.instruction for one in devices.values() for event in one.events})
        for program, devices in profile.programs.items()
    }
    dumps = list(dumps)
    matched = match_compiles(names, dumps, compiles)
    programs = []
    for program in profile.programs:
        own = None if program.id is None else compiles.get(program.id)
        dumps_of = matched.get(program) or ([] if own is None else [own])
        joined = _joined(profile, program, names[program], dumps_of)
        if own is not None:
            joined = replace(joined, is_profiled=True)
        elif joined.dump is not None and joined.joined_share < MIN_JOINED_SHARE:
            without = _joined(profile, program, names[program], [])
            joined = replace(without, foreign_dump=joined.dump)
        programs.append(joined)
    programs.sort(key=lambda one: (-one.time.duration_ps, one.time.program.name))
    notes = list(profile.notes)
    if dumps and programs and not matched:
        modules = [one.module_header.name for one in dumps if one.module_header is not None]
        listed = join_limited(list(dict.fromkeys(modules)), _MAX_NAMES) or "no module texts"
        notes.append(f"no named dump is of a compile in this profile; they are of {listed}")
    return JoinedProfile(tuple(programs), profile.unnamed, tuple(notes), profile.run)


def _joined(
    profile: Profile, program: Program, names: Sequence[str], dumps: Sequence[Compile]
) -> JoinedProgram:
    dump = next(iter(dumps), None)
    facts = {} if dump is None else instruction_facts(dump, names)

    def communicates(name: str) -> bool:
        known = facts.get(name)
        return names_communication(name) if known is None else known.communicates

    entry = frozenset[str]() if dump is None else entry_names(dump)
    time = program_time(program, profile.programs[program], entry, communicates)
    joined = tuple(JoinedInstruction(one, facts.get(one.name)) for one in time.instructions)
    return JoinedProgram(time, joined, dump, tuple(dumps[1:]))


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
