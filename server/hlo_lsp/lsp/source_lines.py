"""The request ``hlo/sourceLines``: the lines of a Python file that own memory or take time.

Clients show the lines themselves, so that Python files do not get a second language server.
"""

import asyncio
import os
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from hlo_lsp.cost.chips import configured_chip
from hlo_lsp.ide.hover.stats import MIN_HOT_SHARE, describe_hot
from hlo_lsp.lsp.client import Client, Json, path_of
from hlo_lsp.lsp.custom_requests import (
    SOURCE_LINES_CHANGED_METHOD,
    SOURCE_LINES_METHOD,
    SourceLinesParams,
)
from hlo_lsp.lsp.fact_kinds import FactKind, Reading, Unit
from hlo_lsp.lsp.scheduling import Priority, Refresh, run_in_slices
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import PythonNotes
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.folder_scan import ScannedFolder, SearchScope
from hlo_lsp.model.module_reader import ModuleReader
from hlo_lsp.model.source import SourceFiles, python_files
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.source_lines import LineMemory, module_memory
from hlo_lsp.stats.instruction_table import NO_INSTRUCTIONS, InstructionGroup, InstructionTable
from hlo_lsp.stats.measured_programs import ProfileTimes, TimeSources, program_table
from hlo_lsp.text.disk import UnreadableError, file_stamp, read_document
from hlo_lsp.text.document import Document, moved_lines
from hlo_lsp.text.inert import printable_json

F = TypeVar("F")
_REFRESH_INTERVAL_SECONDS = 3

_MAX_BUFFERS = 500  # of one line, in an answer
_MIN_AGE_DIFFERENCE_NS = 60 * 10**9  # a dump is written some time after its program is read


@dataclass(frozen=True, slots=True)
class _Note:
    """A line of an answer for one Python file of one compile."""

    file: str
    is_large: bool
    answer: Json


@dataclass(frozen=True, slots=True)
class _SourceCompile:
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


@dataclass(frozen=True, slots=True)
class _CompiledText:
    """A Python file as it was when its lines were first shown for a compile.

    ``is_newer`` is true if the file had already changed since the compile.
    """

    written: int
    lines: list[str]
    is_newer: bool


class _AssignmentKind(FactKind[_SourceCompile, F]):
    """A kind of facts about the compiles of buffer assignments."""

    title = "Reading the memory of Python lines"
    max_scan_age_seconds = 3.0

    def units(self, folder: ScannedFolder) -> Iterator[Unit[_SourceCompile]]:
        """Yield the compiles of the buffer assignments in a folder."""
        if folder.top.scope is SearchScope.REQUEST:
            return
        for name in sorted(name for name in folder.names if "assignment" in name):
            if suffix_of(name).role is FileRole.ASSIGNMENT and name in folder.listing:
                yield _unit(folder, folder.listing.compile_files(name))


class _SourceCompiles(_AssignmentKind[_SourceCompile]):
    """The compiles with the Python files that they name."""

    priority = Priority.CHECK

    def reads_compile(self, _: Unit[_SourceCompile]) -> bool:
        """Return False: the names follow from one text."""
        return False

    def reading(self, unit: Unit[_SourceCompile]) -> Reading[_SourceCompile]:
        """Return the function that reads the names."""
        return partial(_read_sources, compile_=unit.subject)


class _Notes(_AssignmentKind[list[_Note]]):
    """The notes of the compiles that are shown.

    Attributes:
        shown: The assignments of these compiles.
        versions: The versions of open files.
        number: It changes if other frames own the buffers, or another chip applies.
    """

    priority = Priority.PREPARATION

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.shown: set[Path] = set()
        self.versions: dict[Path, int | None] = {}
        self.number = 0
        self._session = session

    def is_needed(self, unit: Unit[_SourceCompile]) -> bool:
        """Return whether a compile is shown."""
        return unit.key in self.shown

    def stamp(self, unit: Unit[_SourceCompile]) -> Hashable:
        """Return what the notes depend on: files, open texts, profiles, and settings."""
        versions = tuple(self.versions.get(path) for path in unit.subject.files)
        return unit.stamp, versions, self._session.times.profiles_of(unit.key), self.number

    async def prepare(self, unit: Unit[_SourceCompile]) -> None:
        """Wait until the profiles for a compile are read."""
        await self._session.times.wait([unit.key])

    def reading(self, unit: Unit[_SourceCompile]) -> Reading[list[_Note]]:
        """Return the function that reads the notes, with open files as they are in the editor."""
        session, open_paths = self._session, self._session.workspace.open_paths
        files = [(path, open_paths[path]) for path in unit.subject.files if path in open_paths]
        options = session.selections.of(unit.key, session.settings.check).thresholds
        return partial(
            _read_notes,
            assignment=unit.key,
            opened=[(file.uri, path, file.document.copy()) for path, file in files],
            times=(options.chip, session.times.profiles_of(unit.key)),
            client=session.client,
        )


def _unit(folder: ScannedFolder, compile_: CompileFiles) -> Unit[_SourceCompile]:
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
    subject = _SourceCompile(path, tuple(files), compile_.module, title, written, size)
    return Unit(path, stamps, module, size, subject)


def _read_sources(reader: ModuleReader, compile_: _SourceCompile) -> _SourceCompile:
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
) -> list[_Note]:
    workspace = reader.with_open(opened) if opened else reader.without_values
    try:
        dump = workspace.compile_of(workspace.file(assignment))
        memory = module_memory(dump)
    except UnreadableError:
        return []
    if memory is None:
        return []
    chip, profiles = times
    table = _table(dump, TimeSources(configured_chip(dump, chip), profiles))
    hot = {
        (group.source.file, group.source.line): group
        for group in table.groups(InstructionKey.LINE)
        if group.source is not None and group.is_timed
    }
    tooltip = f"{memory.name}, {memory.peak}\n{assignment.name}"
    notes = []
    for line in memory.lines:
        time = hot.pop((line.source.file, line.source.line), None)
        notes.append(_memory_note(client, table, (memory.name, tooltip), line, time))
    for place, group in hot.items():
        notes.append(_time_note(client, table, (memory.name, tooltip), place, group))
    return notes


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
) -> _Note:
    """Return the note of a line; ``about`` has the name of the module, and the tooltip."""
    module, tooltip = about
    locations = client.locations(buffer.place for buffer in line.buffers[:_MAX_BUFFERS])
    buffers = [
        {"name": buffer.name, "text": buffer.text, "location": location}
        for buffer, location in zip(line.buffers, locations, strict=False)
    ]
    answer: Json = {
        "line": line.source.line - 1,
        "module": module,
        "bytes": line.bytes,
        "padding": line.padding,
        "text": str(line) if time is None else f"{line} · {describe_hot(table, time)}",
        "tooltip": tooltip,
        "buffers": buffers,
    }
    is_hot = time is not None and table.share(time) >= MIN_HOT_SHARE
    return _Note(line.source.file, line.is_large or is_hot, answer)


def _time_note(
    client: Client,
    table: InstructionTable,
    about: tuple[str, str],
    place: tuple[str, int],
    time: InstructionGroup,
) -> _Note:
    """Return the note of a line with time and no memory at the peak; it lists instructions.

    ``about`` has the name of the module, and the tooltip.
    """
    (module, tooltip), (file, line_number) = about, place
    rows = [
        (row, line)
        for row in time.rows[:_MAX_BUFFERS]
        if row.is_timed
        and table.dump is not None
        and (line := table.dump.instruction(row.name)) is not None
    ]
    locations = client.locations(line.name_place for _, line in rows)
    instructions = [
        {"name": row.name, "text": describe_hot(table, row), "location": location}
        for (row, _), location in zip(rows, locations, strict=True)
    ]
    answer: Json = {
        "line": line_number - 1,
        "module": module,
        "bytes": 0,
        "padding": 0,
        "text": describe_hot(table, time),
        "tooltip": tooltip,
        "buffers": instructions,
    }
    return _Note(file, table.share(time) >= MIN_HOT_SHARE, answer)


class SourceLines(Service):
    """Reads the compiles of Python files in the background, and answers from those read so far.

    The compiles are those below the workspace folders and beside open dumps.
    """

    def __init__(self, session: Session, notify: Callable[[str, Json], None]) -> None:
        self._session = session
        self._notify = notify
        self._compiles = _SourceCompiles()
        self._notes = _Notes(session)
        session.index.add(self._compiles, self._notes)
        self._refresh = Refresh(self._read)
        self._started: set[Path] = set()  # the files that were requested before the last refresh
        self._next_refresh = 0.0  # the time (monotonic)
        self._texts: dict[tuple[Path, Path], _CompiledText] = {}  # by assignment and Python file
        self._requested: dict[Path, list[Json]] = {}  # the last lines of each file, as compiled

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of its requests."""
        return {SOURCE_LINES_METHOD: self.answer}

    async def answer(self, params: SourceLinesParams) -> Json | None:
        """Return the known lines of a Python file; a notification follows if they change."""
        path = path_of(params.uri)
        if path is None:
            return None
        self._requested[path] = await run_in_slices(partial(self._lines, path))
        current = None if params.text is None else Document(params.text).lines
        lines = await run_in_slices(partial(self._lines, path, current))
        self._session.index.search_beside_open()
        self.files_changed()
        return {"lines": printable_json(lines)}

    def changed(self, _: DumpFile) -> None:
        """Read an edited compile again."""
        self.files_changed()

    def closed(self, _: DumpFile) -> None:
        """Read the compile on disk."""
        self.files_changed()

    def files_changed(self) -> None:
        """Read the compiles that have changed."""
        if self._requested:
            self._refresh.schedule()

    def folders_changed(self) -> None:
        """Read the compiles of the new workspace folders."""
        self.files_changed()

    def settings_changed(self) -> None:
        """Choose other lines, and read compiles whose times are known now."""
        self.files_changed()

    def facts_changed(self) -> None:
        """Read the lines again, because other frames own the buffers, or other times are known."""
        self._notes.number += 1
        self.files_changed()

    def reload(self) -> None:
        """Read all lines again."""
        self.files_changed()

    async def _read(self) -> None:
        """Read what is needed, after a pause because each edit triggers this, and notify."""
        pause = self._next_refresh - time.monotonic()
        await asyncio.sleep(0 if self._requested.keys() - self._started else max(0, pause))
        self._next_refresh = time.monotonic() + _REFRESH_INTERVAL_SECONDS
        self._started = set(self._requested)
        session, index = self._session, self._session.index
        if session.settings.python_notes is not PythonNotes.OFF:
            await index.read(self._compiles)
            self._notes.shown = await run_in_slices(self._shown)
            opened = session.workspace.open_paths.items()
            self._notes.versions = {path: session.version(file.uri) for path, file in opened}
            await index.read(self._notes)
        compiles = self._compiles.values()
        self._texts = {key: text for key, text in self._texts.items() if key[0] in compiles}
        lines = {path: await run_in_slices(partial(self._lines, path)) for path in self._requested}
        if any(self._requested[path] != notes for path, notes in lines.items()):
            self._notify(SOURCE_LINES_CHANGED_METHOD, {})

    def _shown(self) -> set[Path]:
        """Return the assignments of the compiles that are shown."""
        return {
            compile_.assignment
            for path in self._requested
            for compile_, _ in self._chosen(self._test(path))
        }

    def _test(self, path: Path) -> "_FileTest":
        return _FileTest(SourceFiles(self._session.settings.source_map), path)

    def _chosen(self, is_path: "_FileTest") -> Iterator[tuple[_SourceCompile, int]]:
        """Yield one compile of each module that names a Python file, and how many there are.

        This is the newest one, or the newest of those with open files.
        """
        modules: dict[str, list[_SourceCompile]] = {}
        for compile_ in self._compiles.values().values():
            if any(map(is_path, compile_.sources)):
                modules.setdefault(compile_.module, []).append(compile_)
        open_paths = self._session.workspace.open_paths.keys()
        for compiles in modules.values():
            yield (
                max(
                    compiles,
                    key=lambda compile_: (
                        not open_paths.isdisjoint(compile_.files),
                        compile_.written,
                        compile_.size,
                    ),
                ),
                len(compiles),
            )

    def _lines(self, path: Path, current: list[str] | None = None) -> list[Json]:
        """Return the lines of a Python file in their order, those with most bytes first.

        Args:
            path: The Python file.
            current: Its text in the editor; None for the lines as compiled.
        """
        setting = self._session.settings.python_notes
        if setting is PythonNotes.OFF:
            return []
        is_path = self._test(path)
        lines: list[Json] = []
        for compile_, count in self._chosen(is_path):
            about = "" if count == 1 else f"\nthe newest of {count} compiles of this module"
            compiled = self._compiled_text(compile_, path)
            if compiled.is_newer:
                about += f"\n{path.name} is newer than the dump: lines may have moved"
            moved = None if current is None else moved_lines(compiled.lines, current)
            for note in self._notes.fact(compile_.assignment) or ():
                if (note.is_large or setting is PythonNotes.ALL) and is_path(note.file):
                    compiled_line: int = note.answer["line"]
                    line: int | None = compiled_line
                    tooltip = note.answer["tooltip"] + about
                    if moved is not None and compiled_line < len(moved):
                        line = moved[compiled_line]
                    if line is not None:
                        lines.append({**note.answer, "line": line, "tooltip": tooltip})
        if len({line["module"] for line in lines}) > 1:
            lines = [{**line, "text": f"{line['module']}: {line['text']}"} for line in lines]
        return sorted(lines, key=lambda line: (line["line"], -line["bytes"], line["module"]))

    def _compiled_text(self, compile_: _SourceCompile, path: Path) -> _CompiledText:
        """Return the text of a Python file that the lines of a compile refer to.

        A file that is saved without another compile keeps its text here.
        """
        key = compile_.assignment, path
        text = self._texts.get(key)
        if text is None or text.written != compile_.written:
            changed = (file_stamp(path) or (0, 0))[0]
            is_newer = changed > compile_.written + _MIN_AGE_DIFFERENCE_NS
            text = self._texts[key] = _CompiledText(compile_.written, _read_lines(path), is_newer)
        return text


class _FileTest:
    """A test whether a name in a dump is the name of a local file."""

    def __init__(self, sources: SourceFiles, path: Path) -> None:
        self._sources = sources
        self._real_path = os.path.realpath(path)
        self._known: dict[str, bool] = {}

    def __call__(self, name: str) -> bool:
        if name not in self._known:
            found = self._sources.resolve(name)
            self._known[name] = found is not None and os.path.realpath(found) == self._real_path
        return self._known[name]


def _read_lines(path: Path) -> list[str]:
    try:
        return read_document(path).lines
    except UnreadableError:
        return []
