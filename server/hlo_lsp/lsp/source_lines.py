"""The request ``hlo/sourceLines``: the lines of a Python file that own memory or take time.

Clients show the lines themselves, so that Python files do not get a second language server.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hlo_lsp.lsp.client import Json, path_of
from hlo_lsp.lsp.custom_requests import (
    SOURCE_LINES_CHANGED_METHOD,
    SOURCE_LINES_METHOD,
    SourceLinesParams,
)
from hlo_lsp.lsp.scheduling import Refresh, run_in_slices
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import PythonNotes
from hlo_lsp.lsp.source_notes import CompileNotesKind, SourceCompile, SourceCompiles
from hlo_lsp.memory.savings import largest_first
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import DumpName
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.text.disk import UnreadableError, file_stamp, read_document
from hlo_lsp.text.document import Document, moved_lines
from hlo_lsp.text.inert import printable_json

_REFRESH_INTERVAL_SECONDS = 3
_MIN_AGE_DIFFERENCE_NS = 60 * 10**9  # a dump is written some time after its program is read


@dataclass(frozen=True, slots=True)
class _ShownCompile:
    """A compile that is shown; ``others`` are those of its module that are not shown."""

    compile: SourceCompile
    is_open: bool
    others: tuple[SourceCompile, ...]

    @property
    def label(self) -> str:
        """Its folder or its number, in which it differs from the others; empty without others."""
        folder = self.compile.assignment.parent
        if not self.others:
            return ""
        if all(other.assignment.parent == folder for other in self.others):
            name = DumpName.of(self.compile.assignment.name)
            return self.compile.assignment.name if name is None else name.head.partition(".")[0]
        paths = [folder, *(other.assignment.parent for other in self.others)]
        above = (each for each in (folder, *folder.parents) if _contains_all(each, paths))
        common = next(above, None)  # none on another drive
        if common is None:
            return str(folder)
        return folder.name if folder == common else folder.relative_to(common).as_posix()

    @property
    def reason(self) -> str:
        """Why this compile is shown and not another one; empty without others."""
        if not self.others:
            return ""
        count = len(self.others) + 1
        if self.is_open:
            return f"its dump is open; there are {count:,} compiles of this module"
        return f"the newest of {count:,} compiles of this module"


@dataclass(frozen=True, slots=True)
class _CompiledText:
    """A Python file as it was when its lines were first shown for a compile.

    ``is_newer`` is true if the file had already changed since the compile.
    """

    written: int
    lines: list[str]
    is_newer: bool


class SourceLines(Service):
    """Reads the compiles of Python files in the background, and answers from those read so far.

    The compiles are those below the workspace folders and beside open dumps.
    """

    def __init__(self, session: Session, notify: Callable[[str, Json], None]) -> None:
        self._session = session
        self._notify = notify
        self._compiles = SourceCompiles()
        self._notes = CompileNotesKind(session)
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

    def settings_changed(self) -> None:
        """Choose other lines, and read compiles whose notes follow from other settings."""
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
            shown_compile.compile.assignment
            for path in self._requested
            for shown_compile in self._chosen(self._test(path))
        }

    def _test(self, path: Path) -> "_FileTest":
        return _FileTest(SourceFiles(self._session.settings.source_map), path)

    def _chosen(self, is_path: "_FileTest") -> Iterator[_ShownCompile]:
        """Yield one compile of each module that names a Python file.

        This is the newest one, or the newest of those with open files.
        """
        modules: dict[str, list[SourceCompile]] = {}
        for compile_ in self._compiles.values().values():
            if any(map(is_path, compile_.sources)):
                modules.setdefault(compile_.module, []).append(compile_)
        open_paths = self._session.workspace.open_paths.keys()
        for compiles in modules.values():
            opened = [one for one in compiles if not open_paths.isdisjoint(one.files)]
            chosen = max(opened or compiles, key=lambda one: (one.written, one.size))
            others = tuple(one for one in compiles if one is not chosen)
            yield _ShownCompile(chosen, bool(opened), others)

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
        found = [(one, self._notes.fact(one.compile.assignment)) for one in self._chosen(is_path)]
        known = [(one, notes) for one, notes in found if notes is not None]
        if setting is not PythonNotes.ALL:
            large, _ = largest_first(known, lambda pair: pair[1].peak)
            slow, _ = largest_first(known, lambda pair: pair[1].picoseconds)
            known = [
                pair for pair in known if pair in large or (pair[1].picoseconds and pair in slow)
            ]
        lines: list[Json] = []
        for shown_compile, notes in known:
            about = f"\n{shown_compile.reason}".rstrip()
            compiled = self._compiled_text(shown_compile.compile, path)
            if compiled.is_newer:
                about += f"\n{path.name} is newer than the dump: lines may have moved"
            moved = None if current is None else moved_lines(compiled.lines, current)
            for note in notes.notes:
                if (note.is_large or setting is PythonNotes.ALL) and is_path(note.file):
                    compiled_line: int = note.answer["line"]
                    line: int | None = compiled_line
                    if moved is not None and compiled_line < len(moved):
                        line = moved[compiled_line]
                    if line is not None:
                        text = note.answer["text"]
                        if shown_compile.label:
                            text += f" · {shown_compile.label}"
                        tooltip = note.answer["tooltip"] + about
                        changes = {"line": line, "text": text, "tooltip": tooltip}
                        lines.append({**note.answer, **changes})
        if len({line["module"] for line in lines}) > 1:
            lines = [{**line, "text": f"{line['module']}: {line['text']}"} for line in lines]
        return sorted(lines, key=lambda line: (line["line"], -line["bytes"], line["module"]))

    def _compiled_text(self, compile_: SourceCompile, path: Path) -> _CompiledText:
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


def _contains_all(folder: Path, paths: Sequence[Path]) -> bool:
    return all(path.is_relative_to(folder) for path in paths)


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
