"""The program of a dump that can be compiled again, and changes to it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import Any

from hlo_lsp.compiling.errors import CompileFailedError, similar
from hlo_lsp.compiling.settings import CompileSettings, program_text, settings_of, slice_with
from hlo_lsp.cost.chips import chips
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.memory.donated_arguments import DonationState, donated_arguments
from hlo_lsp.model.backend import Backend, backend_from_file_name
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles, compiles_below
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.program.donation import argument_name, donated_parameters
from hlo_lsp.program.stages import is_complete_module, module_at_buffer_assignment
from hlo_lsp.protos.names import text_name
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.remote import shown

Json = dict[str, Any]
_MAX_NAMES = 10
_MAX_DEVICES = 100_000  # a compiler needs memory for each; pods have 9,216
_COPY_SECONDS = 2  # between files of a folder that was copied or unpacked
_NO_TEXT = (
    "no text before optimizations, which XLA writes with --xla_dump_hlo_as_text; what it has"
    " optimized cannot be compiled again"
)
_OPTIMIZED = "an optimized module, which cannot be compiled again"
_TEXT_ENDINGS = frozenset({".hlo", ".txt", ".pb"})
_SEVERAL_TEXTS = "several module texts; save the one before optimizations in a file of its own"
_NO_CHIP = {
    "tpu": "the dump does not name its chip",
    "cuda": "the dump does not describe its GPU, for which XLA writes gpu_target_config.pbtxt",
    "rocm": "programs for GPUs of AMD can only be compiled for another chip",
}
_ELIDED = re.compile(r"\bconstant\(\{\.\.\.\}\)")


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes to a program before it is compiled again.

    Attributes:
        chip: The chip, such as ``v6e``; None for that of the dump.
        topology: The slice, such as ``v5e:4x4``; None for that of the dump.
        options: Values of options of the compiler by their names.
        donated: Names, patterns, or numbers of arguments to donate; empty for all that an output
            can use, None for no change. Numbers that are no texts can be of elements of a tuple.
        no_donation: Whether the donations of the program are removed.
        text: Another module text, None for that of the program.
    """

    chip: str | None = None
    topology: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    donated: tuple[str | int, ...] | None = None
    no_donation: bool = False
    text: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DumpedProgram:
    """A program that can be compiled again.

    Attributes:
        path: The module text before optimizations.
        text: Its content.
        original: The program as JAX passed it to the compiler; None if the dump lacks it, or if the
            text is newer.
        settings: The settings of its compile.
        arguments: The names of its parameters by their numbers.
        usable: The numbers of the parameters that an output can use, and that are not donated.
        dump: A file of the compiled module, None if the dump has only the text.
        first_line: The line of the file that the text begins at, from 0; a log has others before.
        is_newest: Whether the text is newer than the rest of the dump, such as after an edit.
    """

    path: Path
    text: str
    original: str | None
    settings: CompileSettings
    arguments: Mapping[int, str]
    usable: frozenset[int]
    dump: Path | None
    first_line: int
    is_newest: bool

    @property
    def names_compiler(self) -> bool:
        """True if the dump says which compiler it is of."""
        return bool(self.settings.rest.get("dumped_options"))

    @property
    def names_chip(self) -> bool:
        """True if the dump says what the program was compiled for."""
        return self.settings.platform == "cpu" or self.settings.topology is not None

    def without_edits(self, changes: Changes) -> Changes:
        """Return no changes; if the dump does not say what it is for, only the chip."""
        is_target_known = self.dump is not None and self.names_chip
        return Changes() if is_target_known else Changes(changes.chip, changes.topology)

    @property
    def known_options(self) -> dict[str, str]:
        """The options of the compiler that the dump lists, with their values."""
        dumped = self.settings.rest.get("dumped_options", {})
        return {**(dumped if isinstance(dumped, dict) else {}), **self.settings.options}

    def request(self, changes: Changes, folder: Path | None = None) -> Json:
        """Return the request for a compile that writes its dump into a folder.

        Raises:
            CompileFailedError: The chip or an argument is unknown, or no slice is large enough.
        """
        settings, rest = self.settings, dict(self.settings.rest)
        if settings.devices > _MAX_DEVICES:
            raise CompileFailedError(
                f"{shown(self.path)}: {settings.devices:,} devices are too many"
            )
        platform, topology = self._target(changes)
        if topology != settings.topology:
            rest["device_ids"] = ()  # of another slice
        text = self.text if changes.text is None else changes.text
        # XLA loses donations that name no output when it converts HLO.
        header = "" if changes.no_donation else text.partition("\n")[0]
        donated = donated_parameters(header)
        if changes.donated is not None:
            donated |= self._donated(changes.donated)
        return {
            **rest,
            "text": text,
            "mlir": self.original if changes.text is None else None,
            "platform": platform,
            "topology": topology,
            "replicas": settings.replicas,
            "partitions": settings.partitions,
            "inherited_options": dict(settings.options),
            "options": dict(changes.options),
            "donated": sorted(donated),
            "no_donation": changes.no_donation,
            "folder": None if folder is None else str(folder),
        }

    def _target(self, changes: Changes) -> tuple[str, str | None]:
        """Return the platform and the slice to compile for, None for the CPU."""
        settings = self.settings
        if changes.topology is not None:
            return "tpu", changes.topology
        own = settings.topology
        if changes.chip is None or (own is not None and own.startswith(f"{changes.chip}:")):
            if not self.names_chip:
                raise CompileFailedError(
                    f"{shown(self.path)}: {_NO_CHIP[settings.platform]}; choose one, such as v5e"
                )
            return settings.platform, own
        tpus = [name for name, chip in chips().items() if chip.targets]
        if changes.chip not in tpus:
            raise CompileFailedError(f"no TPU {changes.chip}{similar(changes.chip, tpus)}")
        found = slice_with(changes.chip, settings.devices)
        if found is None:
            raise CompileFailedError(
                f"no usual slice of {chips()[changes.chip].title} has {settings.devices:,} devices;"
                " name its topology"
            )
        return "tpu", found

    def _donated(self, wanted: tuple[str | int, ...]) -> set[int]:
        """Return the numbers of the parameters that names, patterns, or numbers stand for."""
        if not wanted:
            return set(self.usable)
        found = {one for one in wanted if isinstance(one, int)}
        for one in (one for one in wanted if isinstance(one, str)):
            pattern = one.replace("[", "[[]")  # names have brackets
            numbers = {
                number
                for number, name in self.arguments.items()
                if one == str(number) or fnmatchcase(name, pattern)
            }
            if not numbers:
                hint = similar(one, self.arguments.values())
                raise CompileFailedError(f"{shown(self.path)}: no argument {one}{hint}")
            found |= numbers
        return found

    def notes(self, edited: str | None) -> Iterator[str]:
        """Yield what a compile of the program, or of an edited text, leaves out."""
        if names := ", ".join(self.settings.left_out):
            yield f"options with paths or flags of programs are not carried over: {names}"
        is_original = edited is None and self.original is not None
        elided = len(_ELIDED.findall(edited or self.text))
        if elided and not is_original:
            what = count_noun(elided, "constant")
            yield f"the text omits the values of {what}; XLA compiles with other values"


def program_at(path: Path) -> DumpedProgram:
    """Return the program of a dump file, a lone module text, or a folder with one program.

    Raises:
        CompileFailedError: There is no such program, or it cannot be compiled again.
    """
    if not path.exists():
        raise CompileFailedError(f"{shown(path)}: No such file or directory")
    found = list(compiles_below(path))
    if len(found) > 1:  # XLA also writes files that are no module texts
        found = list({files.texts: files for files in found if files.texts}.values()) or [
            files for files in found if files.path.suffix in _TEXT_ENDINGS
        ]
    if not found:
        raise CompileFailedError(f"{shown(path)}: no module text in this folder")
    if len(found) > 1:
        names = ", ".join((*files.texts, files.path)[0].name for files in found[:_MAX_NAMES])
        more = ", ..." if len(found) > _MAX_NAMES else ""
        raise CompileFailedError(
            f"{shown(path)}: {len(found):,} programs; name a file of one: {names}{more}"
        )
    (files,) = found
    workspace = DumpWorkspace(ROLES_WITHOUT_SIZES)
    try:
        return _program(workspace, files)
    except UnreadableError as error:
        raise CompileFailedError(str(error)) from error


def is_compilable(file: DumpFile) -> bool:
    """Return whether a file is a module text before optimizations, or a lone one."""
    return is_program_text(file.path) and _problem(file) is None


def is_program_text(path: Path | None) -> bool:
    """Return whether a file, or a text without one, can be what is compiled of a program."""
    return path is None or _role(path) in {FileRole.BEFORE_OPTIMIZATIONS, FileRole.OTHER}


def _program(workspace: DumpWorkspace, files: CompileFiles) -> DumpedProgram:
    before = _unoptimized_text(files)
    whole = workspace.file(before)
    modules = [part for part in workspace.parts(whole) if part.kind is FileKind.MODULE]
    file = modules[0] if len(modules) == 1 else whole
    problem = _SEVERAL_TEXTS if len(modules) > 1 else _problem(file)
    if problem is not None:
        raise CompileFailedError(f"{shown(before)}: {problem}")
    names = (backend_from_file_name(one.name) for one in files.files)
    backend = next(
        (one for one in names if one is not Backend.UNKNOWN), workspace.compile_of(file).backend
    )
    of_compile = (*files.texts, *files.files)
    path = next((one for one in of_compile if _role(one).is_compiled), files.path)
    (compiled, *_) = (*workspace.compiles(workspace.file(path)), workspace.compile_of(file))
    is_compiled = before != path and module_at_buffer_assignment(compiled) is not None
    text, is_newest = "\n".join(file.lines), _is_newest(before, files)
    return DumpedProgram(
        before,
        text,
        None if is_newest else program_text(files),
        settings_of(files, text, backend),
        _arguments(file),
        _usable_arguments(compiled),
        path if is_compiled else None,
        file.first_line,
        is_newest,
    )


def _is_newest(path: Path, files: CompileFiles) -> bool:
    """Return whether a file is newer than all others of a compile, which XLA writes later."""
    others = (one.stat().st_mtime for one in files.files if one != path and one.exists())
    return path.stat().st_mtime > max(others, default=inf) + _COPY_SECONDS


def _arguments(file: DumpFile) -> dict[int, str]:
    return {number: argument_name(line) for number, line in file.module.parameters.items()}


def _usable_arguments(compiled: Compile) -> frozenset[int]:
    """Return the parameters that can be donated.

    JAX passes more than 2,000 arguments as the elements of one parameter.
    """
    return frozenset(
        one.number for one in donated_arguments(compiled) or () if one.state is DonationState.USABLE
    )


def _unoptimized_text(files: CompileFiles) -> Path:
    for path in (*files.texts, *files.files):  # texts, then protos
        if _role(path) is FileRole.BEFORE_OPTIMIZATIONS:
            return path
    if _role(files.path) is FileRole.OTHER:
        return files.path
    raise CompileFailedError(f"{shown(files.path)}: {_NO_TEXT}")


def _role(path: Path) -> FileRole:
    return suffix_of(text_name(path.name) or path.name).role


def _problem(file: DumpFile) -> str | None:
    """Return why a text cannot be compiled."""
    header = file.module.header
    if file.kind is not FileKind.MODULE or header is None:
        return "not an HLO module"
    if header.is_scheduled or not is_complete_module(file):
        return _OPTIMIZED if header.is_scheduled else "the text is not complete"
    return None
