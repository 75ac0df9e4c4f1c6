"""Facts about compiles on disk for Python files: the files that they name, and notes on lines."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from hlo_lsp.cost.chips import configured_chip
from hlo_lsp.ide.hover.stats import MIN_HOT_SHARE, describe_hot
from hlo_lsp.lsp.client import Client, Json
from hlo_lsp.lsp.fact_kinds import FactKind, Reading, Unit
from hlo_lsp.lsp.scheduling import Priority
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.folder_scan import ScannedFolder, SearchScope
from hlo_lsp.model.module_reader import ModuleReader
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import python_files
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.source_lines import LineMemory, module_memory
from hlo_lsp.stats.instruction_table import NO_INSTRUCTIONS, InstructionGroup, InstructionTable
from hlo_lsp.stats.measured_programs import ProfileTimes, TimeSources, program_table
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.document import Document
from hlo_lsp.text.remote import shown

F = TypeVar("F")
_MAX_BUFFERS = 500  # of one line, in an answer


@dataclass(frozen=True, slots=True)
class Note:
    """A line of an answer for one Python file of one compile."""

    file: str
    is_large: bool
    answer: Json


@dataclass(frozen=True, slots=True)
class CompileNotes:
    """The notes of a compile, the bytes at its peak, and the time of a run; 0 if it is unknown."""

    peak: int
    picoseconds: int
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class SourceCompile:
    """A compile with a buffer assignment.

    Attributes:
        files: Its memory files and its module text, without files that have no sizes.
        module: The name of the module, from the name of the file.
        written: The time (ns) of the last change of the assignment.
        size: The total size of the files in bytes.
        sources: The Python files that the module text names, if it was read.
    """

    assignment: Path
    files: tuple[Path, ...]
    text: Path | None
    module: str
    written: int
    size: int
    sources: frozenset[str] = frozenset()


_NO_NOTES = CompileNotes(0, 0, ())


class AssignmentKind(FactKind[SourceCompile, F]):
    """A kind of facts about the compiles of buffer assignments."""

    title = "Reading the memory of Python lines"
    max_scan_age_seconds = 3.0

    def units(self, folder: ScannedFolder) -> Iterator[Unit[SourceCompile]]:
        """Yield the compiles of the buffer assignments in a folder."""
        if folder.top.scope is SearchScope.REQUEST:
            return
        for name in sorted(name for name in folder.names if "assignment" in name):
            if suffix_of(name).role is FileRole.ASSIGNMENT and name in folder.listing:
                yield _unit(folder, folder.listing.compile_files(name))


class SourceCompiles(AssignmentKind[SourceCompile]):
    """The compiles with the Python files that they name."""

    priority = Priority.CHECK
    reads_compile = False  # the names follow from one text

    def reading(self, unit: Unit[SourceCompile]) -> Reading[SourceCompile]:
        """Return the function that reads the names."""
        return partial(_read_sources, compile_=unit.subject)


class CompileNotesKind(AssignmentKind[CompileNotes]):
    """The notes of the compiles that are shown.

    Attributes:
        shown: The assignments of these compiles.
        versions: The versions of open files.
    """

    priority = Priority.PREPARATION

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.shown: set[Path] = set()
        self.versions: dict[Path, int | None] = {}
        self._session = session

    def is_needed(self, unit: Unit[SourceCompile]) -> bool:
        """Return whether a compile is shown."""
        return unit.key in self.shown

    def stamp(self, unit: Unit[SourceCompile]) -> Hashable:
        """Return what the notes depend on: files, open texts, profiles, and settings."""
        versions = tuple(self.versions.get(path) for path in unit.subject.files)
        profiles = self._session.times.profiles_of(unit.key)
        return unit.stamp, versions, profiles, self._chip(unit), self._session.workspace.frames

    async def prepare(self, unit: Unit[SourceCompile]) -> None:
        """Wait until the profiles for a compile are read."""
        await self._session.times.wait([unit.key])

    def reading(self, unit: Unit[SourceCompile]) -> Reading[CompileNotes]:
        """Return the function that reads the notes, with open files as they are in the editor."""
        session, open_paths = self._session, self._session.workspace.open_paths
        files = [(path, open_paths[path]) for path in unit.subject.files if path in open_paths]
        return partial(
            _read_notes,
            assignment=unit.key,
            opened=[(file.uri, path, file.document.copy()) for path, file in files],
            times=(self._chip(unit), session.times.profiles_of(unit.key)),
            client=session.client,
        )

    def _chip(self, unit: Unit[SourceCompile]) -> str | None:
        """Return the name of the chip that the settings choose for a compile."""
        selection = self._session.selections.of(unit.key, self._session.settings.check)
        return selection.thresholds.chip


def _unit(folder: ScannedFolder, compile_: CompileFiles) -> Unit[SourceCompile]:
    path, module = compile_.path, folder.module(compile_)
    files = [
        file
        for file in compile_.files_read_together()
        if suffix_of(file.name).role not in ROLES_WITHOUT_SIZES
    ]
    stamps = tuple((file, module.stamps.get(file, (0, 0))) for file in files)
    size, name = sum(size for _, (_, size) in stamps), DumpName.of(path.name)
    written = module.stamps.get(path, (0, 0))[0]
    title = (name and name.module_name) or path.name
    subject = SourceCompile(path, tuple(files), compile_.module, title, written, size)
    return Unit(path, stamps, module, size, subject)


def _read_sources(reader: ModuleReader, compile_: SourceCompile) -> SourceCompile:
    try:
        lines = [] if compile_.text is None else reader.lines(compile_.text)
    except UnreadableError:
        lines = []
    return replace(compile_, sources=python_files(lines))


def _read_notes(
    reader: ModuleReader,
    assignment: Path,
    opened: Sequence[tuple[str, Path, Document]],
    times: tuple[str | None, tuple[ProfileTimes, ...]],
    client: Client,
) -> CompileNotes:
    workspace = reader.with_open(opened) if opened else reader.without_values
    try:
        dump = workspace.compile_of(workspace.file(assignment))
        memory = module_memory(dump)
    except UnreadableError:
        return _NO_NOTES
    if memory is None:
        return _NO_NOTES
    chip, profiles = times
    table = _table(dump, TimeSources(configured_chip(dump, chip), profiles))
    hot = {
        (group.source.file, group.source.line): group
        for group in table.groups(InstructionKey.LINE)
        if group.source is not None and group.is_timed
    }
    title = f"{memory.name} on {dump.backend.value}, {memory.peak}"
    about = memory.name, f"{title}\n{shown(assignment)}"
    notes = []
    for line in memory.lines:
        time = hot.pop((line.source.file, line.source.line), None)
        notes.append(_memory_note(client, table, about, line, time))
    for place, group in hot.items():
        notes.append(_time_note(client, table, about, place, group))
    return CompileNotes(memory.peak_bytes, round(table.run_ps), tuple(notes))


def _table(dump: Compile, sources: TimeSources) -> InstructionTable:
    """Return the instructions with their times; none if only their cost could be known."""
    if sources.chip is None and not sources.profiles:
        return NO_INSTRUCTIONS
    return program_table(dump, sources)


def _memory_note(
    client: Client,
    table: InstructionTable,
    about: tuple[str, str],
    line: LineMemory,
    time: InstructionGroup | None,
) -> Note:
    """Return the note of a line; ``about`` has the name of the module, and the tooltip."""
    text = str(line) if time is None else f"{line} · {describe_hot(table, time)}"
    shown = [(buffer.name, buffer.text, buffer.place) for buffer in line.buffers[:_MAX_BUFFERS]]
    answer = _answer(client, about, line.source.line, text, shown)
    answer |= {"bytes": line.bytes, "padding": line.padding}
    is_hot = time is not None and table.share(time) >= MIN_HOT_SHARE
    return Note(line.source.file, line.is_large or is_hot, answer)


def _time_note(
    client: Client,
    table: InstructionTable,
    about: tuple[str, str],
    place: tuple[str, int],
    time: InstructionGroup,
) -> Note:
    """Return the note of a line with time and no memory at the peak; it lists instructions."""
    shown = [
        (row.name, describe_hot(table, row), line.name_place)
        for row in time.rows[:_MAX_BUFFERS]
        if row.is_timed
        and table.dump is not None
        and (line := table.dump.instruction(row.name)) is not None
    ]
    answer = _answer(client, about, place[1], describe_hot(table, time), shown)
    return Note(place[0], table.share(time) >= MIN_HOT_SHARE, answer)


def _answer(
    client: Client,
    about: tuple[str, str],
    line: int,
    text: str,
    shown: Sequence[tuple[str, str, Place]],
) -> Json:
    """Return the answer for a line (from 1) without memory; it shows names, texts, and places."""
    module, tooltip = about
    locations = client.locations(place for _, _, place in shown)
    return {
        "line": line - 1,
        "module": module,
        "bytes": 0,
        "padding": 0,
        "text": text,
        "tooltip": tooltip,
        "buffers": [
            {"name": name, "text": words, "location": location}
            for (name, words, _), location in zip(shown, locations, strict=True)
        ],
    }
