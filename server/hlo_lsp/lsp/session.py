"""Open files, their compiles, and the contexts of requests."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from lsprotocol import types

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.checks.framework.finding import Edit
from hlo_lsp.checks.framework.options import Selection
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.hover.origin_text import needs_preparation, prepare_hovers
from hlo_lsp.lsp.assignment_paths import AssignmentPaths
from hlo_lsp.lsp.client import MAX_FULL_ANSWER_LINES, Client, path_of
from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.scheduling import (
    ForegroundRequests,
    OutdatedError,
    SharedTasks,
    read_file,
    run_in_slices,
    run_on_compile,
    start_task,
)
from hlo_lsp.lsp.settings import Selections, Settings
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.embedded_hlo import language_of_id
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text import disk
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.document import Document

T = TypeVar("T")
_MAX_WAIT_SECONDS = 2  # that requests wait for settings and for large files
_PREPARATION_DELAY_SECONDS = 0.2  # after an edit, so that not every key restarts it


@dataclass(frozen=True)
class RequestContext:
    """The file of a request with its compile, both up to date.

    ``unread`` are the large files of the compile that are still being read.
    """

    session: "Session"
    file: DumpFile
    dump: DumpSet
    unread: Sequence[Path]
    client: Client
    sources: SourceFiles

    @cached_property
    def selection(self) -> Selection:
        """The rules for the file."""
        return self.session.selections.of(self.file.path, self.session.settings.check)

    @property
    def is_large(self) -> bool:
        """True if checking the compile takes seconds."""
        return sum(len(file.lines) for file in self.dump.files) > MAX_FULL_ANSWER_LINES

    def at(self, position: types.Position) -> CursorTarget | None:
        """Return the cursor target."""
        return cursor_target_at(self.file, *self.client.point(self.file, position))

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Return a workspace edit with all edits."""
        by_uri: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            ends = (self.client.position(edit.file, point) for point in (edit.start, edit.end))
            text_edit = types.TextEdit(types.Range(*ends), edit.text)
            by_uri.setdefault(edit.file.uri, []).append(text_edit)
        return self.client.workspace_edit(by_uri, self.session.version)


class FileLoader:
    """Reads large files one after the other; each once, until it changes.

    ``give_way`` is awaited between two slices of the work.
    """

    def __init__(self, workspace: DumpWorkspace, give_way: Callable[[], Awaitable[None]]) -> None:
        self.make_progress: Callable[[str], AbstractContextManager[Progress]] = lambda title: (
            nullcontext(Progress(title))
        )
        self.on_loaded: Callable[[Path], None] = lambda _: None
        self._workspace = workspace
        self._give_way = give_way
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._cancelled: set[Path] = set()
        self._lock = asyncio.Lock()

    async def wait(self, paths: Iterable[Path], seconds: float | None) -> None:
        """Read files and wait for them at most so many seconds; reading continues afterwards.

        A file whose reading the user cancelled is not read until it is opened.
        """
        tasks = [self._task(path) for path in paths if path not in self._cancelled]
        if tasks and seconds != 0:
            await asyncio.wait(tasks, timeout=seconds)

    def clear_cancelled(self) -> None:
        """Read files again whose reading the user cancelled."""
        self._cancelled.clear()

    def _task(self, path: Path) -> "asyncio.Task[None]":
        task = self._tasks.get(path)
        if task is None:
            task = self._tasks[path] = asyncio.create_task(self._load(path))
            task.add_done_callback(lambda _: self._tasks.pop(path, None))
        return task

    async def _load(self, path: Path) -> None:
        async with self._lock:
            with self.make_progress(f"Reading {path.name}") as progress:
                read = partial(self._workspace.read, path, partial(progress.report, None))
                try:
                    await run_in_slices(read, lambda: not progress.is_cancelled, self._give_way)
                except OutdatedError:
                    self._cancelled.add(path)
                    return
        self.on_loaded(path)


class Session:
    """The open files of a connection and their compiles."""

    def __init__(self) -> None:
        self.workspace = DumpWorkspace()
        self.client = Client()
        self.settings = Settings()
        self.selections = Selections()
        self.foreground = ForegroundRequests()
        self.assignments = AssignmentPaths()
        self.loader = FileLoader(self.workspace, self.foreground.give_way)
        self.checks = SharedTasks()
        self.on_prepared: Callable[[], None] = lambda: None
        self._prepared: WeakSet[DumpSet] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._mention_tasks: WeakKeyDictionary[DumpFile, asyncio.Task[None]] = WeakKeyDictionary()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._versions: dict[str, int] = {}
        self._pending_settings: asyncio.Future[None] | None = None

    def open(self, item: types.TextDocumentItem) -> DumpFile:
        """Add a file that the client opened."""
        path = path_of(item.uri)
        document = Document(item.text)
        self._versions[item.uri] = item.version
        self.loader.clear_cancelled()
        return self.workspace.open(item.uri, path, document, language_of_id(item.language_id))

    def edit(self, params: types.DidChangeTextDocumentParams) -> DumpFile | None:
        """Apply edits of the client; return None if the file is not open."""
        file = self.workspace.opened(params.text_document.uri)
        if file is None:
            return None
        document, client = file.document, self.client
        self._versions[file.uri] = params.text_document.version
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start = client.point(file, change.range.start)
                end = client.point(file, change.range.end)
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
        files = list(self.workspace.open_files.values())
        if file.host is not None or files == [file]:
            return [file]
        stem = self._stem(file)
        return [other for other in files if self._stem(other) == stem]

    def _stem(self, file: DumpFile) -> str:
        return (
            file.uri
            if file.path is None or isinstance(file, SectionFile)
            else str(file.path.with_name(self.workspace.stem(file.path)))
        )

    def set_pending_settings(self, work: Coroutine[Any, Any, None]) -> None:
        """Make requests wait for a task that updates ``settings``."""
        self._pending_settings = asyncio.ensure_future(work)

    async def wait_for_settings(self) -> None:
        """Wait for pending settings, but not long for a client that does not send them."""
        coming = self._pending_settings
        if coming is not None:
            await asyncio.wait([coming], timeout=_MAX_WAIT_SECONDS)
            if self._pending_settings is coming:
                self._pending_settings = None

    async def context(
        self,
        document: types.TextDocumentIdentifier,
        line: int | None = None,
        character: int | None = None,
        *,
        whole: bool = False,
        closed: bool = False,
    ) -> RequestContext | None:
        """Return the file of a request with its compile; None for a file that is not a dump.

        Args:
            document: the document of the request.
            line: the line of the cursor, which selects a section of a stdout dump.
            character: the position of the cursor in the line, if known.
            whole: wait longer for large companion files, for requests that search the whole
                compile.
            closed: read the file from disk if the client has not opened it.
        """
        found = await self._contexts(document, line, character, whole=whole, closed=closed)
        return found[0] if found else None

    async def message_file(self, document: types.TextDocumentIdentifier) -> DumpFile | None:
        """Return an open text that contains an out-of-memory message."""
        file = await self._open_file(document)
        return file if file is not None and file.kind is FileKind.OOM else None

    async def contexts(
        self, document: types.TextDocumentIdentifier, *, embedded: bool = False
    ) -> list[RequestContext]:
        """Return a context for each file in a text; of HLO in other languages if ``embedded``."""
        file = self.workspace.opened(document.uri)
        if file is not None and file.host is not None and not embedded:
            return []
        return await self._contexts(document, None)

    async def _contexts(
        self,
        document: types.TextDocumentIdentifier,
        line: int | None,
        character: int | None = None,
        *,
        whole: bool = False,
        closed: bool = False,
    ) -> list[RequestContext]:
        file = await self._open_file(document)
        if file is None and closed:
            file = await self._file_on_disk(document)
        while file is not None:
            if not file.kind.has_sections:
                return await self._contexts_of([file], whole=whole)
            stdout_dump = self.workspace.stdout_dump(file)
            await run_in_slices(stdout_dump.refresh, is_short=True)
            version = file.version
            column = None
            if line is not None and character is not None:
                column = self.client.point(file, types.Position(line, character))[1]
            section = None if line is None else stdout_dump.section_at(line, column)
            sections = stdout_dump.sections if line is None else filter(None, [section])
            found = await self._contexts_of(sections, whole=whole)
            if stdout_dump.is_fresh and file.version == version:  # else sections may be outdated
                return found
        return []

    async def _contexts_of(
        self, files: Iterable[DumpFile], *, whole: bool = False
    ) -> list[RequestContext]:
        found = []
        for file in files:
            dump, unread = await self.dump(file, whole=whole)
            if file.kind.has_records:
                sources = SourceFiles(self.settings.source_map)
                found.append(RequestContext(self, file, dump, unread, self.client, sources))
        return found

    async def contexts_on_disk(self, path: Path) -> list[RequestContext]:
        """Return a context for each file in a text on disk, which is read as a companion file.

        Raises:
            UnreadableError: the file cannot be read or is not text.
        """
        await run_in_slices(
            partial(self.workspace.read, path, lambda _: None), give_way=self.foreground.give_way
        )
        return await self._contexts_of(self.workspace.parts(self.workspace.file(path)))

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
        *,
        embedded: bool = False,
    ) -> list[T]:
        """Return the results for each file in a text, all for one version of the text."""
        while True:
            context = await self.contexts(document, embedded=embedded)
            file = self.workspace.opened(document.uri)
            version = None if file is None else file.version
            answers = [await reply(one) for one in context]
            has_sections = any(isinstance(one.file, SectionFile) for one in context)
            if file is None or not (has_sections or file.kind.has_sections):
                return answers
            if file.is_fresh and file.version == version:
                return answers

    async def _open_file(self, document: types.TextDocumentIdentifier) -> DumpFile | None:
        """Return an open file with current records, after pending settings have arrived."""
        await self.wait_for_settings()
        file = self.workspace.opened(document.uri)
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
                if not detect_file_kind(disk.read_first_lines(path)).is_dump:
                    return None
                await self.loader.wait([path], None)
                if self.workspace.is_unread(path):
                    return None  # the user cancelled the loading
            with self.foreground.hold_background():
                return await run_in_slices(partial(self.workspace.file, path))
        except UnreadableError:
            return None

    async def dump(self, file: DumpFile, *, whole: bool = False) -> tuple[DumpSet, list[Path]]:
        """Return the compile of a file as far as it is read, and the large files that are unread.

        A memory file waits for the values, because half of the facts about it come from them; a
        module text does not wait. The head of a module text is enough unless the whole compile is
        required.
        """
        dump = await self._load_small_files(file)
        unread = self.workspace.unread_companions(file, with_module=whole)
        if unread:
            waits = whole or file.kind.is_memory
            await self.loader.wait(unread, _MAX_WAIT_SECONDS if waits else 0)
            dump = await self._load_small_files(file)
            unread = self.workspace.unread_companions(file, with_module=whole)
        is_indexed = file.kind is not FileKind.MODULE or file.module.is_indexed
        if not is_indexed and self.mention_task(file) is None:
            self._mention_tasks[file] = self.run_in_background(file.module.build_mention_index)
        is_new = dump not in self._prepared and needs_preparation(dump)
        if is_new and not self.workspace.unread_companions(file):
            self._prepared.add(dump)
            start_task(self._prepare(dump, self.mention_task(file)))
        return dump, unread

    async def _prepare(self, dump: DumpSet, mention_task: "asyncio.Task[None] | None") -> None:
        """Compute in the background what hovers of a large compile need."""
        if mention_task is not None:
            await asyncio.wait([mention_task])
        work = partial(prepare_hovers, dump)
        await run_on_compile(dump, work, self.foreground.give_way, _PREPARATION_DELAY_SECONDS)
        self.on_prepared()

    async def _load_small_files(self, file: DumpFile) -> DumpSet:
        with self.foreground.hold_background():
            async with self._locks.setdefault(self._stem(file), asyncio.Lock()):
                while True:
                    work = partial(self.workspace.set_of, file, patient=False)
                    dump = await run_in_slices(work, is_short=True)
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
