"""Open files, their compiles, and the contexts of requests."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from lsprotocol import types

from hlo_lsp.checks.catalogue import Selection
from hlo_lsp.checks.config.config_file import ConfigFile, find_config_file, read_config_file
from hlo_lsp.checks.config.options import CheckOptions
from hlo_lsp.checks.finding import Finding
from hlo_lsp.ide.cursor.lookup import cursor_target_at
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.positions import MAX_FULL_ANSWER_LINES, Converter, path_of
from hlo_lsp.lsp.progress import FileLoader
from hlo_lsp.lsp.scheduling import ForegroundRequests, SharedTasks, read_file, run_in_slices
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text import disk
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.document import Document

_Stamp = tuple[int, int]


class Selections:
    """The rules that apply to a file, from the editor's settings and from ``hlo-lsp.toml``.

    Each ``hlo-lsp.toml`` is read once until it changes; ``report_problem`` receives its errors.
    """

    def __init__(self) -> None:
        self.report_problem: Callable[[str], None] = lambda _: None
        self._read: dict[Path, tuple[_Stamp, ConfigFile]] = {}
        self._numbers: dict[Selection, int] = {}

    def of(self, path: Path | None, options: CheckOptions) -> Selection:
        """Return the selection for a file; ``hlo-lsp.toml`` takes precedence over the settings."""
        # A text that was never saved has no folder; the working directory is not its folder.
        if path is None or not path.is_absolute():
            return Selection.of([options])
        return self.of_folder(path.parent, options)

    def of_folder(self, folder: Path, options: CheckOptions) -> Selection:
        """Return the selection for the files in a folder."""
        path = find_config_file(folder)
        if path is None:
            return Selection.of([options])
        return Selection.of([options, self._file(path).options])

    def number(self, selection: Selection) -> int:
        """Return a number that identifies a selection."""
        return self._numbers.setdefault(selection, len(self._numbers))

    def _file(self, path: Path) -> ConfigFile:
        try:
            status = os.stat(path)
            stamp = status.st_mtime_ns, status.st_size
        except OSError:
            stamp = 0, 0
        known = self._read.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        file = read_config_file(path)
        self._read[path] = stamp, file
        if file.errors:
            self.report_problem("\n".join(map(str, file.errors)))
        return file


T = TypeVar("T")
SharedChecks = SharedTasks[[list[Finding], frozenset[str]], list[Finding]]
_MAX_WAIT_SECONDS = 2  # that requests wait for settings and for large files


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The file of a request with its compile, both up to date.

    ``unread`` are files of the compile that are too large to wait for. ``selection`` are the rules
    for the file, and ``checks`` runs them for one file after the other, because files of a compile
    share intermediate results. ``give_way`` is awaited between two slices of background work.
    """

    file: DumpFile
    dump: DumpSet
    unread: tuple[Path, ...]
    client: Client
    converter: Converter
    sources: SourceFiles
    selection: Selection
    checks: SharedChecks
    give_way: Callable[[], Awaitable[None]]

    @property
    def is_large(self) -> bool:
        """True if checking the compile takes seconds."""
        return sum(len(file.lines) for file in self.dump.files) > MAX_FULL_ANSWER_LINES

    def at(self, position: types.Position) -> CursorTarget | None:
        """Return the cursor target."""
        return cursor_target_at(self.file, *self.converter.column(self.file, position))


class Session:
    """The open files of a connection and their compiles."""

    def __init__(self) -> None:
        self.workspace = DumpWorkspace()
        self.client = Client()
        self.settings = Settings()
        self.selections = Selections()
        self.foreground = ForegroundRequests()
        self.loader = FileLoader(self.workspace, self.foreground.give_way)
        self._checks = SharedChecks()
        self._tasks: set[asyncio.Task[None]] = set()
        self._mention_tasks: WeakKeyDictionary[DumpFile, asyncio.Task[None]] = WeakKeyDictionary()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._versions: dict[str, int] = {}
        self._pending_settings: asyncio.Future[None] | None = None

    @property
    def converter(self) -> Converter:
        """The converter for the position encoding of the client."""
        return Converter(self.client.encoding)

    def open(self, item: types.TextDocumentItem) -> DumpFile:
        """Add a file that the client opened."""
        path = path_of(item.uri)
        document = Document(item.text)
        self._versions[item.uri] = item.version
        self.loader.clear_cancelled()
        return self.workspace.open(item.uri, path, document)

    def edit(self, params: types.DidChangeTextDocumentParams) -> DumpFile | None:
        """Apply edits of the client; return None if the file is not open."""
        file = self.workspace.open_files.get(params.text_document.uri)
        if file is None:
            return None
        document, converter = file.document, self.converter
        self._versions[file.uri] = params.text_document.version
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start = converter.column(file, change.range.start)
                end = converter.column(file, change.range.end)
                file.changed(document.edit(start, end, change.text))
            else:
                file.changed(document.replace(change.text))
        return file

    def close(self, uri: str) -> DumpFile | None:
        """Remove a file that the client closed, and return it."""
        self._versions.pop(uri, None)
        return self.workspace.close(uri)

    def reload(self) -> None:
        """Discard the records of all files, and allow reading that the user cancelled."""
        self.loader.clear_cancelled()
        self.workspace.reload()

    def version(self, uri: str) -> int | None:
        """Return the client's version of an open file."""
        return self._versions.get(uri)

    def open_companions(self, file: DumpFile) -> list[DumpFile]:
        """Return the open files of the same compile, including this one."""
        stem = self._stem(file)
        return [other for other in self.workspace.open_files.values() if self._stem(other) == stem]

    def _stem(self, file: DumpFile) -> str:
        return (
            file.uri
            if file.path is None or isinstance(file, SectionFile)
            else str(file.path.with_name(self.workspace.stem(file.path)))
        )

    def set_pending_settings(self, work: Coroutine[Any, Any, None]) -> None:
        """Make requests wait for a task that updates ``settings``."""
        self._pending_settings = asyncio.ensure_future(work)

    async def context(
        self,
        document: types.TextDocumentIdentifier,
        line: int | None = None,
        *,
        whole: bool = False,
        closed: bool = False,
    ) -> RequestContext | None:
        """Return the file of a request with its compile; None for a file that is not a dump.

        Args:
            document: the document of the request.
            line: the line of the cursor, which selects a section of a stdout dump.
            whole: wait longer for large companion files, for requests that search the whole
                compile.
            closed: read the file from disk if the client has not opened it.
        """
        file = await self._open_file(document)
        if file is None and closed:
            file = await self._file_on_disk(document)
        while file is not None and file.kind is FileKind.STDOUT_DUMP:
            stdout_dump = self.workspace.stdout_dump(file)
            await run_in_slices(stdout_dump.refresh)
            section = None if line is None else stdout_dump.section_at(line)
            if section is None:
                return None
            dump = await self.dump(section, whole=whole)
            if stdout_dump.is_fresh:
                return self._make_context(section, dump)
        return (
            None if file is None else self._make_context(file, await self.dump(file, whole=whole))
        )

    async def contexts(self, document: types.TextDocumentIdentifier) -> list[RequestContext]:
        """Return a context for each file in a text."""
        file = await self._open_file(document)
        while file is not None and file.kind is FileKind.STDOUT_DUMP:
            stdout_dump = self.workspace.stdout_dump(file)
            await run_in_slices(stdout_dump.refresh)
            found = [
                self._make_context(section, await self.dump(section))
                for section in stdout_dump.sections
            ]
            if stdout_dump.is_fresh:
                return [context for context in found if context is not None]
        context = None if file is None else self._make_context(file, await self.dump(file))
        return [] if context is None else [context]

    async def contexts_on_disk(self, path: Path) -> list[RequestContext]:
        """Return a context for each file in a text on disk, which is read as a companion file.

        Raises:
            UnreadableError: the file cannot be read or is not text.
        """
        await run_in_slices(
            partial(self.workspace.read, path, lambda _: None), give_way=self.foreground.give_way
        )
        parts = self.workspace.parts(self.workspace.file(path))
        found = [self._make_context(section, await self.dump(section)) for section in parts]
        return [context for context in found if context is not None]

    async def context_of_data(self, data: object) -> RequestContext | None:
        """Return the context for the data (``uri`` and ``line``) of an item."""
        known = data if isinstance(data, dict) else {}
        line = known.get("line")
        document = types.TextDocumentIdentifier(str(known.get("uri")))
        return await self.context(document, line if isinstance(line, int) else None)

    async def answer_each(
        self,
        document: types.TextDocumentIdentifier,
        reply: Callable[[RequestContext], Awaitable[T]],
    ) -> list[T]:
        """Return the results for each file in a text, all for one version of the text."""
        while True:
            context = await self.contexts(document)
            file = self.workspace.open_files.get(document.uri)
            version = None if file is None else file.version
            answers = [await reply(one) for one in context]
            has_sections = any(isinstance(one.file, SectionFile) for one in context)
            if file is None or not (has_sections or file.kind is FileKind.STDOUT_DUMP):
                return answers
            if file.is_fresh and file.version == version:
                return answers

    async def _open_file(self, document: types.TextDocumentIdentifier) -> DumpFile | None:
        """Return an open file with current records, after pending settings have arrived."""
        coming = self._pending_settings
        if coming is not None:
            await asyncio.wait([coming], timeout=_MAX_WAIT_SECONDS)
            if self._pending_settings is coming:
                self._pending_settings = None
        file = self.workspace.open_files.get(document.uri)
        if file is not None:
            with self.foreground.hold_background():
                await read_file(file)
        return file

    async def _file_on_disk(self, document: types.TextDocumentIdentifier) -> DumpFile | None:
        """Return a dump that is not open, or None if there is none."""
        path = path_of(document.uri)
        if path is None:
            return None
        try:
            if self.workspace.is_unread(path):
                if detect_file_kind(disk.read_first_lines(path)) is FileKind.OTHER:
                    return None
                await self.loader.wait([path], None)
                if self.workspace.is_unread(path):
                    return None  # the user cancelled the loading
            with self.foreground.hold_background():
                return await run_in_slices(partial(self.workspace.file, path))
        except UnreadableError:
            return None

    def _make_context(self, file: DumpFile, dump: DumpSet) -> RequestContext | None:
        if not file.kind.has_records:
            return None
        sources = SourceFiles(self.settings.source_map)
        unread = tuple(self._missing_files(file, whole=False))
        selection = self.selections.of(file.path, self.settings.check)
        give_way = self.foreground.give_way
        return RequestContext(
            file,
            dump,
            unread,
            self.client,
            self.converter,
            sources,
            selection,
            self._checks,
            give_way,
        )

    async def dump(self, file: DumpFile, *, whole: bool = False) -> DumpSet:
        """Return the compile of a file with everything that is read so far.

        A memory file waits for the values, because half of the facts about it come from them; a
        module text does not wait.
        """
        dump = await self._load_small_files(file)
        unread = self._missing_files(file, whole=whole)
        if unread:
            waits = whole or file.kind.is_memory
            await self.loader.wait(unread, _MAX_WAIT_SECONDS if waits else 0)
            dump = await self._load_small_files(file)
        if file.kind is FileKind.MODULE and not file.module.has_mention_index:
            self._mention_tasks[file] = self.run_in_background(file.module.build_mention_index)
        return dump

    def _missing_files(self, file: DumpFile, *, whole: bool) -> list[Path]:
        """Return the missing files of a compile.

        The head of a module text is enough unless the whole compile is required.
        """
        texts = frozenset() if whole else self.workspace.texts(file)
        return [path for path in self.workspace.unread_companions(file) if path not in texts]

    async def _load_small_files(self, file: DumpFile) -> DumpSet:
        """Return the compile of a file after reading its small files."""
        with self.foreground.hold_background():
            async with self._locks.setdefault(self._stem(file), asyncio.Lock()):
                while True:
                    dump = await run_in_slices(partial(self.workspace.set_of, file, patient=False))
                    if all(member.is_fresh for member in (*dump.files, *dump.others)):
                        return dump

    def mention_task(self, file: DumpFile) -> "asyncio.Task[None] | None":
        """Return the task that indexes the mentions of a module text while it is running."""
        task = self._mention_tasks.get(file)
        return None if task is None or task.done() else task

    def run_in_background(self, work: Callable[[], None]) -> "asyncio.Task[None]":
        """Run work while no request is active."""
        task = asyncio.ensure_future(run_in_slices(work, give_way=self.foreground.give_way))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
