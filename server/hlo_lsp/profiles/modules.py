"""The compiles of profiled programs: which one ran, and those that the profile contains."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.shape import without_layout
from hlo_lsp.model.source import PROGRAM_FRAMES, FrameChoice
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.profiles.events import Profile, Program
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES, without_async_ending
from hlo_lsp.protos.conversion import convert_modules
from hlo_lsp.protos.converted_files import section_lines
from hlo_lsp.protos.profile_modules import ProfiledModule, modules_in
from hlo_lsp.text.document import Document

MIN_JOINED_SHARE = 0.9  # of the own time of a program; a compile with less is another one
# The primitives of JAX (jax/_src/lax/parallel.py), after which XLA names instructions.
_JAX_COLLECTIVE = re.compile(
    r"(?:unreduced_)?(?:all_gather|(?:ragged_)?all_to_all|pbroadcast|pmax|pmin|ppermute|precv|psend"
    r"|psum|reduce_scatter)(?:_invariant|_reduced)?(?:_start|_done)?"
)


def names_communication(name: str) -> bool:
    """Return whether the name of an instruction that no text describes is that of a collective."""
    base = without_async_ending(name.partition(".")[0])
    return base in COLLECTIVE_OPCODES or _JAX_COLLECTIVE.fullmatch(base) is not None


def entry_names(dump: Compile) -> frozenset[str]:
    """Return the names of the instructions of the entry computation."""
    file = dump.module_file
    entry = None if file is None else file.module.entry
    if file is None or entry is None:
        return frozenset()
    return frozenset(one.name for one in file.module.members(entry))


def modules_of(profile: Profile) -> list[ProfiledModule]:
    """Return the modules that a profile contains."""
    return modules_in(profile.planes)


def compiles_in(
    profile: Profile, path: Path, frames: FrameChoice = PROGRAM_FRAMES
) -> dict[int, Compile]:
    """Return the compiles of the programs that ran, by the id of the program.

    Args:
        profile: The profile.
        path: The file or folder of the profile, for messages.
        frames: The frames that can be the Python line of an instruction.
    """
    ran = {program.id for program in profile.programs}
    modules = {one.file_stem: one for one in modules_of(profile) if one.program_id in ran}
    lines = [""]
    for section in convert_modules(modules.values()).sections:
        lines += section_lines(section.name, section.lines, is_whole=section.is_whole)
    workspace = DumpWorkspace(frames=frames)
    file = workspace.open(path.absolute().as_uri(), path, Document.from_lines(lines))
    found = {}
    for dump in workspace.compiles(file):
        name = (dump.files[0].path or path).name
        stem = next((one for one in modules if name.startswith((f"{one}.", f"{one}-"))), None)
        if stem is not None:
            found[modules[stem].program_id] = dump
    return found


def result_shapes(dump: Compile, names: Iterable[str]) -> dict[str, str]:
    """Return the shapes of instructions, without layouts."""
    found = {}
    for name in names:
        checkpoint()
        line = dump.instruction(name)
        if line is not None:
            found[name] = without_layout(line.record.shape)
    return found


@dataclass(frozen=True, slots=True)
class Match:
    """A compile with the name of a program, and the part of the time that it explains.

    Attributes:
        dump: The compile.
        share: The share of the own time that is in instructions with the same name and shape.
        instructions: The number of these instructions.
        has_number: Whether the names of its files have the number of the program.
    """

    dump: Compile
    share: float
    instructions: int
    has_number: bool

    @property
    def is_same(self) -> bool:
        """True if the program is of this compile, and not of another one of the same function."""
        return self.share >= MIN_JOINED_SHARE

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """A key that is largest for the compile of the program."""
        return self.is_same, self.has_number, self.instructions


def has_name(dump: Compile, program: Program) -> bool:
    """Return whether a compile has the name of a program."""
    return dump.module_header is not None and dump.module_header.name == program.name


def match_of(
    dump: Compile, program: Program, own_times: Mapping[str, int], shapes: Mapping[str, str]
) -> Match:
    """Return how much of the time of a program a compile with its name explains.

    Compiles of one function for arrays of other sizes have the same names, so the shapes count.

    Args:
        dump: The compile.
        program: The program.
        own_times: The picoseconds of the instructions that ran, by name.
        shapes: Their shapes without layouts, as far as the profile has them.
    """
    known = result_shapes(dump, own_times)
    same = [name for name, shape in known.items() if shapes.get(name, shape) == shape]
    total = sum(own_times.values())
    if total:
        share = sum(own_times[name] for name in same) / total
    else:
        share = len(same) / max(1, len(own_times))
    has_number = program.id is not None and any(
        file.path is not None and file.path.name.startswith(f"module_{program.id:04}.")
        for file in dump.files
    )
    return Match(dump, share, len(same), has_number)
