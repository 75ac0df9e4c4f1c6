"""Open files, their compiles, and the contexts of requests."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet, WeakValueDictionary

from lsprotocol import types

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.checks.framework.finding import Edit
from hlo_lsp.checks.framework.options import Selection
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.hover.origin_text import needs_preparation, prepare_hovers
from hlo_lsp.lsp.client import MAX_FULL_ANSWER_LINES, Client, path_of
from hlo_lsp.lsp.compile_index import CompileIndex
from hlo_lsp.lsp.compile_results import CompileResults
from hlo_lsp.lsp.loading import FileLoader, SessionListener
from hlo_lsp.lsp.progress import current_request
from hlo_lsp.lsp.scheduling import (
    ForegroundRequests,
    Priority,
    read_file,
    run_in_slices,
    start_task,
)
from hlo_lsp.lsp.settings import Selections, Settings
from hlo_lsp.lsp.times import ProgramTimes
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceFiles
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.stats.instruction_table import InstructionTable
from hlo_lsp.syntax.embedded_hlo import language_of_id
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text import disk
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.document import Document

T = TypeVar("T")
_MAX_WAIT_SECONDS = 2  # that requests wait for settings and for large files
_MAX_SCAN_SECONDS = 5  # that answers about messages wait for a walk of the workspace
_MAX_SCAN_AGE_SECONDS = 3  # of the walk that they use


@dataclass(frozen=True)
class RequestContext:
    """The file of a request with its compile, both up to date until the job of the request ends.

    ``unread`` are the large files of the compile that are not read yet. Unless the user cancelled
    that or it failed, they are being read.
    """

    session: "Session"
    file: DumpFile
    dump: Compile
    unread: Sequence[Path]
    client: Client
    sources: SourceFiles

    @cached_property
    def selection(self) -> Selection:
        """The rules for the file."""
        return self.session.selections.of(self.file.path, self.session.settings.check)

    @cached_property
    def times(self) -> InstructionTable | None:
        """The cost and the measured time of the compile, None if they were never computed."""
        return self.session.times.of(self.dump)

    @property
    def is_growing(self) -> bool:
        """True while large files of the compile are being read."""
        return any(map(self.session.loader.is_reading, self.unread))

    @property
    def is_large(self) -> bool:
        """True if checking the compile takes seconds."""
        return sum(len(file.lines) for file in self.dump.files) > MAX_FULL_ANSWER_LINES

    def at(self, position: types.Position) -> CursorTarget | None:
        """Return the cursor target; None outside of the section that the request is about."""
        line = position.line - self.file.first_line
        is_after = isinstance(self.file, SectionFile) and line >= len(self.file.lines)
        if line < 0 or is_after:
            return None
        return cursor_target_at(self.file, *self.client.point(self.file, position))

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Return a workspace edit with all edits."""
        by_uri: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            ends = (self.client.position(edit.file, point) for point in (edit.start, edit.end))
            text_edit = types.TextEdit(types.Range(*ends), edit.text)
            by_uri.setdefault(edit.file.uri, []).append(text_edit)
        return self.client.workspace_edit(by_uri, self.session.version)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The parts of a text that a request is about, and the files that it waits for.

    These are the arguments of ``answer_at`` and ``answer_text``. ``prepared`` is true if what later
    answers need is computed in the background.
    """

    line: int | None = None
    character: int | None = None
    whole: bool = False
    closed: bool = False
    embedded: bool = False
    prepared: bool = True
    max_wait: float | None = _MAX_WAIT_SECONDS


class Session:
    """The open files of a connection and their compiles."""

    def __init__(self) -> None:
        self.workspace = DumpWorkspace()
        self.client = Client()
        self.settings = Settings()
        self.listener = SessionListener()
        self.selections = Selections(self._report_problem)
        self.foreground = ForegroundRequests()
        self.index = CompileIndex(self.workspace, self.foreground, lambda: self.listener)
        self.loader = FileLoader(self.workspace, self.foreground.give_way, lambda: self.listener)
        self.times = ProgramTimes(self)
        self.compile_results = CompileResults()
        self._prepared: WeakSet[Compile] = WeakSet()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._versions: dict[str, int] = {}
        self._pending_settings: asyncio.Future[None] | None = None

    def _report_problem(self, problem: str) -> None:
        self.listener.problem_found(problem)

    def open(self, item: types.TextDocumentItem) -> DumpFile:
        """Add a file that the client opened."""
        path = path_of(item.uri)
        document = Document(item.text)
        self._versions[item.uri] = item.version
        self.loader.retry()
        return self.workspace.open(item.uri, path, document, language_of_id(item.language_id))

    def edit(self, params: types.DidChangeTextDocumentParams) -> DumpFile | None:
        """Apply edits of the client; return None if the file is not open."""
        file = self.workspace.opened(params.text_document.uri)
        if file is None:
            return None
        self.foreground.edited()
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
        """Discard the records of all files, and allow reading that failed or was cancelled."""
        self.loader.retry()
        self.workspace.reload()

    def version(self, uri: str) -> int | None:
        """Return the client's version of an open file."""
        return self._versions.get(uri)

    def open_companions(self, file: DumpFile) -> list[DumpFile]:
        """Return the open files of the same compile, including this one."""
        files = list(self.workspace.open_files.values())
        if file.host is not None or files == [file]:
            return [file]
        own = self.compile_id(file)
        return [other for other in files if self.compile_id(other) == own]

    def compile_id(self, file: DumpFile) -> str:
        """Return a text that all files of a compile share, on disk or open."""
        return (
            file.uri
            if file.path is None or isinstance(file, SectionFile)
            else str(file.path.with_name(self.workspace.compile_files(file.path).stem))
        )

    def look_for_config_files(self) -> bool:
        """Look for the ``hlo-lsp.toml`` of each folder with open dumps; return if one changed.

        A folder without open dumps before is not a change.
        """
        paths = self.workspace.open_paths
        return self.selections.look_again({path.parent for path in paths if path.is_absolute()})

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

    async def answer_at(
        self,
        document: types.TextDocumentIdentifier,
        line: int | None,
        character: int | None,
        reply: Callable[[RequestContext], T],
        *,
        whole: bool = False,
        closed: bool = False,
        max_wait_seconds: float | None = _MAX_WAIT_SECONDS,
    ) -> list[T]:
        """Return the reply for the file at a place, see ``answer_text``; none outside of dumps.

        Args:
            document: the document of the request.
            line: the line of the cursor, which selects a section of a stdout dump; None for the
                first section.
            character: the position of the cursor in the line, if known.
            reply: the function that returns the reply.
            whole: wait for large companion files, for requests that search the whole compile.
            closed: read the file from disk if the client has not opened it.
            max_wait_seconds: how long to wait for large companion files; None for no limit.
        """
        return await self._answer(
            document,
            lambda contexts: [reply(context) for context in contexts[:1]],
            _Wanted(line, character, whole, closed, embedded=True, max_wait=max_wait_seconds),
        )

    async def answer_item(self, data: object, reply: Callable[[RequestContext], T]) -> list[T]:
        """Return the reply for the data (``uri`` and ``line``) of an item; see ``answer_at``."""
        known = data if isinstance(data, dict) else {}
        line = known.get("line")
        document = types.TextDocumentIdentifier(str(known.get("uri")))
        return await self.answer_at(document, line if isinstance(line, int) else None, None, reply)

    async def answer_each(
        self, document: types.TextDocumentIdentifier, reply: Callable[[RequestContext], T]
    ) -> list[T]:
        """Return the reply for each file in a text; see ``answer_text``."""
        return await self.answer_text(document, lambda found: [reply(one) for one in found])

    async def answer_text(
        self,
        document: types.TextDocumentIdentifier,
        reply: Callable[[list[RequestContext]], T],
        *,
        closed: bool = False,
        embedded: bool = False,
        give_way: Callable[[], Awaitable[None]] | None = None,
    ) -> T:
        """Return the reply for all files in a text, which sees one version of their compiles.

        The reply is a job: it pauses at checkpoints for other requests, and starts again when a
        file changes that it has read. So it has no effects until it returns.

        Args:
            document: the document of the request.
            reply: the function that returns the reply.
            closed: read the text from disk if the client has not opened it; nothing is prepared
                for further requests about it.
            embedded: include HLO in other languages.
            give_way: what is awaited between two slices; by default, background tasks wait.
        """
        wanted = _Wanted(closed=closed, embedded=embedded, prepared=not closed)
        return await self._answer(document, reply, wanted, give_way)

    async def answer_message(
        self, document: types.TextDocumentIdentifier, reply: Callable[[DumpFile], T]
    ) -> T | None:
        """Return the reply for an open text that contains an out-of-memory message.

        It can use the last walk of the workspace folders.
        """
        await self.wait_for_settings()
        file = self.workspace.opened(document.uri)
        if file is None:
            return None
        await read_file(file)
        if file.kind is not FileKind.OOM:
            return None
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.index.scan(_MAX_SCAN_AGE_SECONDS), _MAX_SCAN_SECONDS)

        def answer() -> T | None:
            file = self.workspace.opened(document.uri)
            if file is not None:
                file.refresh()
            return None if file is None or file.kind is not FileKind.OOM else reply(file)

        return await run_in_slices(answer, is_short=True)

    async def _answer(
        self,
        document: types.TextDocumentIdentifier,
        reply: Callable[[list[RequestContext]], T],
        wanted: _Wanted,
        give_way: Callable[[], Awaitable[None]] | None = None,
    ) -> T:
        await self.wait_for_settings()

        def answer() -> T:
            return reply(self._contexts(document, wanted))

        def answer_if_read() -> tuple[list[RequestContext], list[T]]:
            contexts = self._contexts(document, wanted)
            return contexts, [] if _must_wait(contexts, wanted) else [reply(contexts)]

        if give_way is not None:
            await self._read(document, wanted)
            return await run_in_slices(answer, give_way)
        file = self.workspace.opened(document.uri)
        if file is not None and file.version:  # it was read before, nearly always with its compile
            _report_reading(file)
            with self.foreground.hold_background():
                contexts, found = await run_in_slices(answer_if_read)
            if found:
                await self._prepare_all(contexts, wanted)
                return found[0]
        await self._read(document, wanted)
        with self.foreground.hold_background():
            return await run_in_slices(answer)

    async def _read(self, document: types.TextDocumentIdentifier, wanted: _Wanted) -> None:
        """Read the files that a request waits for, and prepare later answers.

        The head of a module text is enough unless the whole compile is required.
        """
        file = self.workspace.opened(document.uri)
        path = path_of(document.uri)
        if file is not None:
            _report_reading(file)
        elif wanted.closed and path is not None and self._is_unread_dump(path):
            await self.loader.wait([path], None)
        contexts = await self._read_contexts(document, wanted)
        if _must_wait(contexts, wanted):
            unread = [path for context in contexts for path in context.unread]
            current_request().report("reading companion files")
            await self.loader.wait(unread, wanted.max_wait)
            contexts = await self._read_contexts(document, wanted)
        await self._prepare_all(contexts, wanted)

    async def _read_contexts(
        self, document: types.TextDocumentIdentifier, wanted: _Wanted
    ) -> list[RequestContext]:
        file = self.workspace.opened(document.uri)
        group = document.uri if file is None else self.compile_id(file)
        with self.foreground.hold_background():
            # Requests that arrive together read the files once.
            async with self._locks.setdefault(group, asyncio.Lock()):
                work = partial(self._contexts, document, wanted)
                return await run_in_slices(work, is_short=True)

    def _contexts(
        self, document: types.TextDocumentIdentifier, wanted: _Wanted
    ) -> list[RequestContext]:
        """Return the contexts of a request with the files that are read so far."""
        file = self.workspace.opened(document.uri)
        if file is None and wanted.closed:
            file = self._file_on_disk(document)
        if file is None or (file.host is not None and not wanted.embedded):
            return []
        found = []
        for part in self._parts(file, wanted):
            dump = self.workspace.compile_of(part, patient=False)
            if part.kind.has_records:
                unread = self.workspace.unread_companions(part, with_module=wanted.whole)
                sources = SourceFiles(self.settings.source_map)
                found.append(RequestContext(self, part, dump, unread, self.client, sources))
        return found

    def _parts(self, file: DumpFile, wanted: _Wanted) -> Sequence[DumpFile]:
        file.refresh()
        if not file.kind.has_sections:
            return [file]
        stdout_dump = self.workspace.stdout_dump(file)
        stdout_dump.refresh()
        if wanted.line is None:
            return stdout_dump.sections
        column = None
        if wanted.character is not None:
            place = types.Position(wanted.line, wanted.character)
            column = self.client.point(file, place)[1]
        section = stdout_dump.section_at(wanted.line, column)
        if section is None and wanted.whole and column is None and file.host is None:
            section = stdout_dump.nearest_section(wanted.line)  # the cursor is on other output
        return [] if section is None else [section]

    def _is_unread_dump(self, path: Path) -> bool:
        return self.workspace.is_unread(path) and _is_dump(path)

    def _file_on_disk(self, document: types.TextDocumentIdentifier) -> DumpFile | None:
        """Return a text that is read from disk; None if it is not a dump, or reading fails."""
        path = path_of(document.uri)
        if path is None or self.workspace.is_unread(path):
            return None
        try:
            return self.workspace.file(path)
        except UnreadableError:
            return None

    async def _prepare_all(self, contexts: Sequence[RequestContext], wanted: _Wanted) -> None:
        """Start to read and compute in the background what later answers need."""
        for context in contexts:
            await self.loader.wait(context.unread, 0)
            if wanted.prepared and not context.is_growing:
                self._prepare(context)

    def _prepare(self, context: RequestContext) -> None:
        self.times.prepare(context.dump)
        dump = context.dump
        if dump not in self._prepared and needs_preparation(dump):
            self._prepared.add(dump)
            start_task(self.foreground.run(partial(_prepare_hovers, dump), Priority.PREPARATION))


def _prepare_hovers(dump: Compile) -> None:
    dump.refresh()
    prepare_hovers(dump)


def _report_reading(file: DumpFile) -> None:
    if not file.is_fresh:
        current_request().report(f"reading {file.title}")


def _must_wait(contexts: Sequence[RequestContext], wanted: _Wanted) -> bool:
    """Return whether a request waits for files that are not read yet.

    A memory file waits for the values, because half of the facts about it come from them; a module
    text does not wait.
    """
    needs_all = wanted.whole or any(context.file.kind.is_memory for context in contexts)
    return needs_all and any(context.unread for context in contexts)


def _is_dump(path: Path) -> bool:
    try:
        return detect_file_kind(disk.read_first_lines(path)).is_dump
    except UnreadableError:
        return False
