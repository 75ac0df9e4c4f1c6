"""The request ``hlo/sourceLines``: the lines of a Python file that own memory or take time.

Clients show the lines themselves, so that Python files do not get a second language server.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pygls.lsp.server import LanguageServer

from hlo_lsp.ide.hover.times import MIN_HOT_SHARE, describe_hot
from hlo_lsp.lsp.client import Json, path_of, workspace_folders
from hlo_lsp.lsp.custom_requests import SOURCE_LINES_CHANGED_METHOD, SourceLinesParams
from hlo_lsp.lsp.progress import reading_progress
from hlo_lsp.lsp.scheduling import run_in_slices, start_task
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import PythonNotes
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import FolderSnapshot
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.model.source_compiles import SourceCompile, SourceCompiles
from hlo_lsp.model.symbol_reading import search_folders
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.profiles.time_facts import HotGroup, ProfileTimes, hot_groups, time_facts
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.source_lines import LineMemory, module_memory
from hlo_lsp.text.disk import UnreadableError, file_stamp, read_document
from hlo_lsp.text.document import Document, moved_lines
from hlo_lsp.text.inert import printable_json

_SCAN_INTERVAL_SECONDS = 3  # between two scans, because each edit triggers one

_MAX_BUFFERS = 500  # of one line, in an answer
_MIN_AGE_DIFFERENCE_NS = 60 * 10**9  # a dump is written some time after its program is read


@dataclass(frozen=True, slots=True)
class _Note:
    """A line of an answer for one Python file of one compile."""

    file: str
    is_large: bool
    answer: Json


_ReadState = tuple[SourceCompile, tuple[ProfileTimes, ...]]


@dataclass(frozen=True, slots=True)
class _CompiledText:
    """A Python file as it was when its lines were first shown for a compile.

    ``is_newer`` is true if the file had already changed since the compile.
    """

    written: int
    lines: list[str]
    is_newer: bool


class SourceLines:
    """Reads the compiles of Python files in the background, and answers from those read so far.

    The compiles are those below the workspace folders and beside open dumps. Of several compiles
    of one module the newest applies, or the newest of those with open files.
    """

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._server = server
        self._session = session
        self._notify = notify
        self._compiles = SourceCompiles()
        # By assignment, with what was read. Notes of a changed compile are kept until it is read.
        self._notes: dict[Path, tuple[_ReadState, list[_Note]]] = {}
        self._texts: dict[tuple[Path, Path], _CompiledText] = {}  # by assignment and Python file
        self._requested: dict[Path, list[Json]] = {}  # the last lines of each file, as compiled
        self._reading: asyncio.Task[None] | None = None
        self._is_outdated = False  # since the last scan
        self._is_stopped = False  # the user has cancelled reading
        self._scanned: set[Path] = set()  # the Python files that were known in the last scan
        self._next_scan = 0.0  # the time (monotonic) of the next scan

    async def answer(self, params: SourceLinesParams) -> Json | None:
        """Return the known lines of a Python file; a notification follows if they change."""
        path = path_of(params.uri)
        if path is None:
            return None
        self._requested[path] = await run_in_slices(partial(self._lines, path))
        current = None if params.text is None else Document(params.text).lines
        lines = await run_in_slices(partial(self._lines, path, current))
        self.scan()
        return {"lines": printable_json(lines)}

    def scan(self) -> None:
        """Scan for changed compiles, and read them."""
        self._is_outdated = True
        if self._reading is None and not self._is_stopped and self._requested:
            self._reading = start_task(self._read())

    def folders_changed(self) -> None:
        """Read the compiles of the new workspace folders."""
        self._is_stopped = False
        self.scan()

    def facts_changed(self) -> None:
        """Read the lines again, because other frames own the buffers, or other times are known."""
        self._notes = {}  # not of what is being read
        self.scan()

    async def _read(self) -> None:
        try:
            while self._is_outdated and not self._is_stopped:
                is_new = self._requested.keys() - self._scanned
                pause = self._next_scan - time.monotonic()
                await asyncio.sleep(0 if is_new else max(0, pause))
                self._is_outdated = False
                self._scanned = set(self._requested)
                await self._read_changes()
                self._next_scan = time.monotonic() + _SCAN_INTERVAL_SECONDS
        finally:
            self._reading = None
        lines = {path: await run_in_slices(partial(self._lines, path)) for path in self._requested}
        if any(self._requested[path] != found for path, found in lines.items()):
            self._notify(SOURCE_LINES_CHANGED_METHOD, {})

    async def _read_changes(self) -> None:
        if self._session.settings.python_notes is PythonNotes.OFF:
            return
        opened = self._session.workspace.open_paths
        folders = search_folders(workspace_folders(self._server), opened)
        give_way = self._session.foreground.give_way
        scan = partial(self._compiles.scan, folders, self._version)
        await run_in_slices(scan, give_way=give_way)
        found = self._compiles.found
        known = {path: notes for path, notes in self._notes.items() if path in found}
        self._notes = known
        self._texts = {key: text for key, text in self._texts.items() if key[0] in found}
        wanted = {one for path in self._requested for one, _ in self._chosen(path)}
        await self._session.times.wait(one.assignment for one in wanted)
        unread = [
            one for one in wanted if known.get(one.assignment, (None,))[0] != self._state(one)
        ]
        total = sum(one.size for one in unread)
        title = "Reading the memory of Python lines"
        with reading_progress(self._server, title, total) as progress:
            done = 0
            for one in unread:
                progress.report(one.assignment.name, 100 * done // max(total, 1))
                state = self._state(one)
                notes = await run_in_slices(partial(self._read_notes, one), give_way=give_way)
                known[one.assignment] = state, notes
                done += one.size
                if progress.is_cancelled:
                    self._is_stopped = True
                    return

    def _state(self, compile_: SourceCompile) -> _ReadState:
        return compile_, self._session.times.profiles_of(compile_.assignment)

    def _read_notes(self, compile_: SourceCompile) -> list[_Note]:
        """Return the lines of a compile, with open files as they are in the editor."""
        # Of one compile, so that its files do not stay in memory.
        own = FolderSnapshot.of_compile(compile_.assignment.parent, compile_.names)
        workspace = DumpWorkspace(ROLES_WITHOUT_SIZES, self._session.workspace.frames, own)
        for path in compile_.files:
            file = self._session.workspace.open_paths.get(path)
            if file is not None:
                workspace.open(file.uri, path, file.document.copy())
        try:
            dump = workspace.compile_of(workspace.file(compile_.assignment))
            found = module_memory(dump)
        except UnreadableError:
            return []
        hot = {
            (one.source.file, one.source.line): one
            for one in self._hot_lines(dump)
            if one.source is not None
        }
        if found is None:
            return []
        tooltip = f"{found.name}, {found.peak}\n{compile_.assignment.name}"
        notes = []
        for line in found.lines:
            time = hot.pop((line.source.file, line.source.line), None)
            notes.append(self._note(found.name, tooltip, line, time))
        return [*notes, *(self._time_note(dump, found.name, tooltip, *one) for one in hot.items())]

    def _hot_lines(self, dump: Compile) -> list[HotGroup]:
        """Return the lines with time; none if only the cost of the program could be known."""
        sources = self._session.times.sources(dump)
        if sources.chip is None and not sources.profiles:
            return []
        return hot_groups(dump, time_facts(dump, sources), InstructionKey.LINE)

    def _note(self, module: str, tooltip: str, line: LineMemory, time: HotGroup | None) -> _Note:
        locations = self._session.client.locations(
            buffer.place for buffer in line.buffers[:_MAX_BUFFERS]
        )
        buffers = [
            {"name": buffer.name, "text": buffer.text, "location": location}
            for buffer, location in zip(line.buffers, locations, strict=False)
        ]
        answer: Json = {
            "line": line.source.line - 1,
            "module": module,
            "bytes": line.bytes,
            "padding": line.padding,
            "text": str(line) if time is None else f"{line} · {describe_hot(time)}",
            "tooltip": tooltip,
            "buffers": buffers,
        }
        is_hot = time is not None and time.share >= MIN_HOT_SHARE
        return _Note(line.source.file, line.is_large or is_hot, answer)

    def _time_note(
        self, dump: Compile, module: str, tooltip: str, place: tuple[str, int], time: HotGroup
    ) -> _Note:
        """Return the note of a line with time and no memory at the peak; it lists instructions."""
        file, line_number = place
        found = [
            (one, line)
            for one in time.instructions[:_MAX_BUFFERS]
            if (line := dump.instruction(one.name)) is not None
        ]
        locations = self._session.client.locations(line.name_place for _, line in found)
        instructions = [
            {"name": one.name, "text": describe_hot(one), "location": location}
            for (one, _), location in zip(found, locations, strict=True)
        ]
        answer: Json = {
            "line": line_number - 1,
            "module": module,
            "bytes": 0,
            "padding": 0,
            "text": describe_hot(time),
            "tooltip": tooltip,
            "buffers": instructions,
        }
        return _Note(file, time.share >= MIN_HOT_SHARE, answer)

    def _lines(self, path: Path, current: list[str] | None = None) -> list[Json]:
        """Return the lines of a Python file in their order, those with most bytes first.

        Args:
            path: The Python file.
            current: Its text in the editor; None for the lines as compiled.
        """
        setting = self._session.settings.python_notes
        if setting is PythonNotes.OFF:
            return []
        is_path = _FileTest(SourceFiles(self._session.settings.source_map), path)
        found: list[Json] = []
        for compile_, count in self._chosen(path):
            about = "" if count == 1 else f"\nthe newest of {count} compiles of this module"
            compiled = self._compiled_text(compile_, path)
            if compiled.is_newer:
                about += f"\n{path.name} is newer than the dump: lines may have moved"
            _, notes = self._notes.get(compile_.assignment, (None, []))
            moved = None if current is None else moved_lines(compiled.lines, current)
            for note in notes:
                if (note.is_large or setting is PythonNotes.ALL) and is_path(note.file):
                    compiled_line: int = note.answer["line"]
                    line: int | None = compiled_line
                    tooltip = note.answer["tooltip"] + about
                    if moved is not None and compiled_line < len(moved):
                        line = moved[compiled_line]
                    if line is not None:
                        found.append({**note.answer, "line": line, "tooltip": tooltip})
        if len({line["module"] for line in found}) > 1:
            found = [{**line, "text": f"{line['module']}: {line['text']}"} for line in found]
        return sorted(found, key=lambda line: (line["line"], -line["bytes"], line["module"]))

    def _compiled_text(self, compile_: SourceCompile, path: Path) -> _CompiledText:
        """Return the text of a Python file that the lines of a compile refer to.

        A file that is saved without another compile keeps its text here.
        """
        key = compile_.assignment, path
        known = self._texts.get(key)
        if known is None or known.written != compile_.written:
            changed = (file_stamp(path) or (0, 0))[0]
            is_newer = changed > compile_.written + _MIN_AGE_DIFFERENCE_NS
            known = self._texts[key] = _CompiledText(compile_.written, _read_lines(path), is_newer)
        return known

    def _chosen(self, path: Path) -> Iterator[tuple[SourceCompile, int]]:
        """Yield one compile of each module that names a Python file, and how many there are."""
        is_path = _FileTest(SourceFiles(self._session.settings.source_map), path)
        modules: dict[str, list[SourceCompile]] = {}
        for compile_ in self._compiles.found.values():
            if any(map(is_path, compile_.sources)):
                modules.setdefault(compile_.module, []).append(compile_)
        open_paths = self._session.workspace.open_paths.keys()
        for compiles in modules.values():
            yield (
                max(
                    compiles,
                    key=lambda one: (not open_paths.isdisjoint(one.files), one.written, one.size),
                ),
                len(compiles),
            )

    def _version(self, path: Path) -> int | None:
        """Return the client's version of an open file, None for other files."""
        file = self._session.workspace.open_paths.get(path)
        return None if file is None else self._session.version(file.uri)


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
