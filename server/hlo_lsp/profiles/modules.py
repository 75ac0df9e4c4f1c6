"""The module texts of profiled programs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.shape import without_layout
from hlo_lsp.model.source import PROGRAM_FRAMES, FrameChoice
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.profiles.events import Profile, Program
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES, without_async_ending
from hlo_lsp.protos.conversion import convert_modules
from hlo_lsp.protos.profile_modules import ProfiledModule, modules_in
from hlo_lsp.protos.reading import section_lines
from hlo_lsp.text.document import Document

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


def has_number(dump: Compile, program: Program) -> bool:
    """Return whether the names of the files of a compile have the number of a program."""
    return program.id is not None and any(
        file.path is not None and file.path.name.startswith(f"module_{program.id:04}.")
        for file in dump.files
    )


def result_shapes(dump: Compile, names: Iterable[str]) -> dict[str, str]:
    """Return the shapes of instructions, without layouts."""
    found = {name: dump.instruction(name) for name in names}
    return {
        name: without_layout(one.record.shape) for name, one in found.items() if one is not None
    }


def match_compiles(
    programs: Mapping[Program, Sequence[str]],
    dumps: Iterable[Compile],
    profiled: Mapping[int, Compile],
) -> dict[Program, list[Compile]]:
    """Return the compiles of each program: of those with its name, that with most instructions.

    Of several, it is the one with the number of the program. Compiles of one function for arrays
    of other sizes have the same names, so the shapes must be those in the profile, and no
    instruction of the module in the profile may be missing. A profile without modules does not
    distinguish these compiles: the first one precedes the others.

    Args:
        programs: The names of the instructions that ran in each program.
        dumps: The compiles.
        profiled: The compiles that the profile contains, by the id of the program.
    """
    by_name: dict[str, list[Compile]] = {}
    for dump in dumps:
        header = dump.module_header
        if header is not None:
            by_name.setdefault(header.name, []).append(dump)
    found = {}
    for program, names in programs.items():
        own = None if program.id is None else profiled.get(program.id)
        shapes = {} if own is None else result_shapes(own, names)
        counts = []
        for dump in by_name.get(program.name, ()):
            others = result_shapes(dump, names)
            if all(others.get(name) == shape for name, shape in shapes.items()):
                counts.append((len(others), has_number(dump, program), dump))
        best = max(counts, key=lambda one: one[:2], default=None)
        if best is not None and best[0]:
            equal = [one[2] for one in counts if own is None and one[:2] == best[:2]]
            found[program] = equal or [best[2]]
    return found
