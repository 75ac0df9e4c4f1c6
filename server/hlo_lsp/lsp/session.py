"""Which rules run on a file: what the editor's settings and ``hlo-lsp.toml`` say."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from lsprotocol import types

from hlo_lsp.checks.config.config_file import ConfigFile, find_config_file, read_config_file
from hlo_lsp.checks.config.options import CheckOptions
from hlo_lsp.checks.config.selection import Selection
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
    """Looks for settings files, and reads each once until it changes.

    ``complain`` is told what is wrong in one, once.
    """

    def __init__(self) -> None:
        self.report_problem: Callable[[str], None] = lambda _: None
        self._read: dict[Path, tuple[_Stamp, ConfigFile]] = {}
        self._numbers: dict[Selection, int] = {}

    def of(self, path: Path | None, wishes: CheckOptions) -> Selection:
        """What is checked in a file; the file in its folder has the last word over ``wishes``."""
        # What was never saved lies nowhere; the folder that the server runs in is not its own.
        if path is None or not path.is_absolute():
            return Selection.of([wishes])
        return self.of_folder(path.parent, wishes)

    def of_folder(self, folder: Path, wishes: CheckOptions) -> Selection:
        """The same for all files in a folder."""
        path = find_config_file(folder)
        if path is None:
            return Selection.of([wishes])
        return Selection.of([wishes, self._file(path).options])

    def number(self, selection: Selection) -> int:
        """A number that equal selections have, and no other."""
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
_MAX_WAIT_SECONDS = 2  # seconds that requests wait for settings that the client was asked for


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A file that a request is about, with its compile, all up to date.

    ``unread`` are files of the compile that are too large to wait for, and come later.
    ``selection`` is what is checked in it, by ``checks``, each after the other: files of one
    compile share what was found out. ``rest`` is what long work that nobody waits for does between
    two slices.
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
        """Whether it takes seconds to look at all of the compile."""
        return sum(len(file.lines) for file in self.dump.files) > MAX_FULL_ANSWER_LINES

    def at(self, position: types.Position) -> CursorTarget | None:
        """What the cursor is on."""
        return cursor_target_at(self.file, *self.converter.column(self.file, position))


class Session:
    """Open files and what is known about their compiles."""

    def __init__(self) -> None:
        self.library = DumpWorkspace()
        self.client = Client()
        self.settings = Settings()
        self.selections = Selections()
        self.foreground = ForegroundRequests()
        self.loader = FileLoader(self.library, self.foreground.give_way)
        self._checks = SharedChecks()
        self._tasks: set[asyncio.Task[None]] = set()
        self._mention_tasks: WeakKeyDictionary[DumpFile, asyncio.Task[None]] = WeakKeyDictionary()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._versions: dict[str, int] = {}
        self._pending_settings: asyncio.Future[None] | None = None

    @property
    def converter(self) -> Converter:
        """The converter for this client."""
        return Converter(self.client.encoding)

    def open(self, item: types.TextDocumentItem) -> DumpFile:
        """Take in a file that the client opened."""
        path = path_of(item.uri)
        document = Document(item.text)
        self._versions[item.uri] = item.version
        self.loader.allow()
        return self.library.open(item.uri, path, document)

    def edit(self, params: types.DidChangeTextDocumentParams) -> DumpFile | None:
        """Apply the edits of a client; None if it never opened the file."""
        file = self.library.open_files.get(params.text_document.uri)
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
        """Let go of a file that the client closed, and return it."""
        self._versions.pop(uri, None)
        return self.library.close(uri)

    def reload(self) -> None:
        """Forget what was read of all files, also of those that the user did not wait for."""
        self.loader.allow()
        self.library.reload()

    def version(self, uri: str) -> int | None:
        """The client's version of an open file."""
        return self._versions.get(uri)

    def open_companions(self, file: DumpFile) -> list[DumpFile]:
        """The open files of the same compile, this one among them."""
        stem = self._stem(file)
        return [other for other in self.library.open_files.values() if self._stem(other) == stem]

    def _stem(self, file: DumpFile) -> str:
        return (
            file.uri
            if file.path is None or isinstance(file, SectionFile)
            else str(file.path.with_name(self.library.stem(file.path)))
        )

    def set_pending_settings(self, work: Coroutine[Any, Any, None]) -> None:
        """Let requests wait for this work, after which ``settings`` are new."""
        self._pending_settings = asyncio.ensure_future(work)

    async def context(
        self,
        document: types.TextDocumentIdentifier,
        line: int | None = None,
        *,
        whole: bool = False,
        closed: bool = False,
    ) -> RequestContext | None:
        """The file and its compile; None for a file that is no dump.

        In a text of several files it is the one in which the client's ``line`` is, if any. The
        compile is ``whole`` for questions that look through all of it: they wait longer for large
        neighbours that are still being read. A file that the client has not opened is read from
        disk if it may be ``closed``.
        """
        file = await self._open_file(document)
        if file is None and closed:
            file = await self._file_on_disk(document)
        while file is not None and file.kind is FileKind.STDOUT_DUMP:
            bundle = self.library.stdout_dump(file)
            await run_in_slices(bundle.refresh)
            part = None if line is None else bundle.section_at(line)
            if part is None:
                return None
            dump = await self.dump(part, whole=whole)
            if bundle.is_fresh:
                return self._about(part, dump)
        return None if file is None else self._about(file, await self.dump(file, whole=whole))

    async def contexts(self, document: types.TextDocumentIdentifier) -> list[RequestContext]:
        """The same for questions about a whole text: about each of the files in it."""
        file = await self._open_file(document)
        while file is not None and file.kind is FileKind.STDOUT_DUMP:
            bundle = self.library.stdout_dump(file)
            await run_in_slices(bundle.refresh)
            found = [self._about(part, await self.dump(part)) for part in bundle.sections]
            if bundle.is_fresh:
                return [context for context in found if context is not None]
        context = None if file is None else self._about(file, await self.dump(file))
        return [] if context is None else [context]

    async def contexts_on_disk(self, path: Path) -> list[RequestContext]:
        """A file on disk, read as a neighbour of open ones: each of the files in its text.

        Raises:
            UnreadableError: it cannot be read, or is no text.
        """
        await run_in_slices(
            partial(self.library.read, path, lambda _: None), give_way=self.foreground.give_way
        )
        parts = self.library.parts(self.library.file(path))
        found = [self._about(part, await self.dump(part)) for part in parts]
        return [context for context in found if context is not None]

    async def context_of_data(self, data: object) -> RequestContext | None:
        """The file that something with these data (``uri`` and ``line``) was made for."""
        known = data if isinstance(data, dict) else {}
        line = known.get("line")
        document = types.TextDocumentIdentifier(str(known.get("uri")))
        return await self.context(document, line if isinstance(line, int) else None)

    async def answer_each(
        self,
        document: types.TextDocumentIdentifier,
        reply: Callable[[RequestContext], Awaitable[T]],
    ) -> list[T]:
        """The answers for each of the files in a text, all for one state of it."""
        while True:
            context = await self.contexts(document)
            file = self.library.open_files.get(document.uri)
            version = None if file is None else file.version
            answers = [await reply(one) for one in context]
            in_parts = any(isinstance(one.file, SectionFile) for one in context)
            if file is None or not (in_parts or file.kind is FileKind.STDOUT_DUMP):
                return answers
            if file.is_fresh and file.version == version:
                return answers

    async def _open_file(self, document: types.TextDocumentIdentifier) -> DumpFile | None:
        """An open file, read, when the settings are there."""
        coming = self._pending_settings
        if coming is not None:
            await asyncio.wait([coming], timeout=_MAX_WAIT_SECONDS)
            if self._pending_settings is coming:
                self._pending_settings = None
        file = self.library.open_files.get(document.uri)
        if file is not None:
            with self.foreground.hold_background():
                await read_file(file)
        return file

    async def _file_on_disk(self, document: types.TextDocumentIdentifier) -> DumpFile | None:
        """A dump that is not open, read as a neighbour of open ones; None if there is none."""
        path = path_of(document.uri)
        if path is None:
            return None
        try:
            if self.library.is_unread(path):
                if detect_file_kind(disk.read_first_lines(path)) is FileKind.OTHER:
                    return None
                await self.loader.wait([path], None)
                if self.library.is_unread(path):
                    return None  # the user did not want to wait
            with self.foreground.hold_background():
                return await run_in_slices(partial(self.library.known_file, path))
        except UnreadableError:
            return None

    def _about(self, file: DumpFile, dump: DumpSet) -> RequestContext | None:
        if not file.kind.has_records:
            return None
        sources = SourceFiles(self.settings.source_map)
        unread = tuple(self._to_read(file, whole=False))
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
        """The compile of a file, all of it up to date that is read by now.

        A memory file waits for the values, which are half of what there is to say about it; a
        module text does not.
        """
        dump = await self._ready(file)
        unread = self._to_read(file, whole=whole)
        if unread:
            waits = whole or file.kind.is_memory
            await self.loader.wait(unread, _MAX_WAIT_SECONDS if waits else 0)
            dump = await self._ready(file)
        if file.kind is FileKind.MODULE and not file.module.has_mention_index:
            self._mention_tasks[file] = self.in_background(file.module.build_mention_index)
        return dump

    def _to_read(self, file: DumpFile, *, whole: bool) -> list[Path]:
        """What is missing of a compile; of its module the head does, if it need not be whole."""
        texts = frozenset() if whole else self.library.texts(file)
        return [path for path in self.library.unread_companions(file) if path not in texts]

    async def _ready(self, file: DumpFile) -> DumpSet:
        """What is read of a compile, with the small files that are not."""
        with self.foreground.hold_background():
            async with self._locks.setdefault(self._stem(file), asyncio.Lock()):
                while True:
                    dump = await run_in_slices(partial(self.library.set_of, file, patient=False))
                    if all(member.is_fresh for member in (*dump.files, *dump.others)):
                        return dump

    def mention_task(self, file: DumpFile) -> "asyncio.Task[None] | None":
        """The work that finds out who names whom in a module text, as long as it goes on."""
        task = self._mention_tasks.get(file)
        return None if task is None or task.done() else task

    def in_background(self, work: Callable[[], None]) -> "asyncio.Task[None]":
        """Do what nobody waits for, while no request is at work on a text."""
        task = asyncio.ensure_future(run_in_slices(work, give_way=self.foreground.give_way))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
