"""The measured times of compiles: which program of which profile each one is."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.profiles.events import Program
from hlo_lsp.profiles.files import TRACE_ENDINGS, XPLANE_ENDINGS, profile_run, read_profile
from hlo_lsp.profiles.measured import ProgramTime
from hlo_lsp.profiles.modules import compiles_in, has_name, match_of, result_shapes
from hlo_lsp.stats.instruction_table import InstructionTable, cost_table, measured_table
from hlo_lsp.stats.joined_profile import join
from hlo_lsp.text.disk import UnreadableError, names_in

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
