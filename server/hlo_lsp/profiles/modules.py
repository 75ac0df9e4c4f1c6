"""The module texts of profiled programs, and what they say about instructions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.memory.data_origin import origin_of
from hlo_lsp.memory.grouping import split_scopes
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import PROGRAM_FRAMES, FrameChoice, SourceLine
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.profiles.events import Profile, Program
from hlo_lsp.program.phases import phase_of
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES, is_communication
from hlo_lsp.protos.conversion import convert_modules
from hlo_lsp.protos.profile_modules import ProfiledModule, modules_in
from hlo_lsp.protos.reading import section_lines
from hlo_lsp.text.document import Document


@dataclass(frozen=True, slots=True)
class InstructionFacts:
    """The facts of a module text about an instruction.

    Attributes:
        opcode: The opcode.
        source: The Python line, None if no instruction on the way of its data has one.
        op_name: The operation name, empty if it has none.
        scope: The scopes of the operation name.
        phase: ``forward``, ``backward``, ``rematerialized``, or ``other``.
        communicates: Whether it is a collective, or starts or ends one.
    """

    opcode: str
    source: SourceLine | None
    op_name: str
    scope: str
    phase: str
    communicates: bool


def instruction_facts(dump: Compile, name: str) -> InstructionFacts | None:
    """Return what a compile says about an instruction, None if it does not have it."""
    located = dump.instruction(name)
    if located is None:
        return None
    text = located.record.parsed
    origin = None
    stack = dump.stack(text)
    op_name = text.metadata.get("op_name", "")
    if not stack or not op_name:
        origin = origin_of(dump, name, None)
    source = dump.frames.line_of(stack)
    if source is None and origin is not None and origin.argument is None:
        source = origin.source
    if not op_name and origin is not None and origin.argument is None:
        op_name = origin.op_name or ""
    scopes = split_scopes(op_name) if op_name else ()
    return InstructionFacts(
        located.record.opcode,
        source,
        op_name,
        "/".join(scopes[:-1] or scopes),
        phase_of(name, op_name),
        is_communication(located.file.module, located.record),
    )


def names_communication(name: str) -> bool:
    """Return whether the name of an instruction that no text describes is that of a collective."""
    stem = name.partition(".")[0]
    for ending in ("-start", "-done", "-update"):
        stem = stem.removesuffix(ending)
    return stem in COLLECTIVE_OPCODES


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


def match_compiles(
    programs: Mapping[Program, Sequence[str]], dumps: Iterable[Compile]
) -> dict[Program, Compile]:
    """Return the compile of each program: of those with its name, the one with most instructions.

    Args:
        programs: The names of the instructions that ran in each program.
        dumps: The compiles.
    """
    by_name: dict[str, list[Compile]] = {}
    for dump in dumps:
        header = dump.module_header
        if header is not None:
            by_name.setdefault(header.name, []).append(dump)
    found = {}
    for program, names in programs.items():
        counts = [
            (sum(dump.instruction(name) is not None for name in names), dump)
            for dump in by_name.get(program.name, ())
        ]
        best = max(counts, key=lambda one: one[0], default=None)
        if best is not None and best[0]:
            found[program] = best[1]
    return found
