"""workspace/symbol: names in all dumps of the workspace and next to open files."""

import asyncio
import time
from functools import partial
from itertools import chain

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.lsp.client import workspace_folders
from hlo_lsp.lsp.progress import Progress, reading_progress
from hlo_lsp.lsp.scheduling import run_in_background, run_in_slices, start_task
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.symbol_reading import SymbolFolders, UnreadFile, read_symbols, search_folders
from hlo_lsp.model.symbol_search import FileSymbols, Symbol, SymbolKind, search_symbols
from hlo_lsp.reports.find import FindQuery, FoundBuffer, QueryKind, find_buffers
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import printable

_MAX_SYMBOLS = 200
_OPEN_TEXT_WAIT_SECONDS = 0.1  # that an answer waits for the text of open files
_FIRST_WAIT_SECONDS = 1  # that the first answer waits for the folders of open files
_RESCAN_INTERVAL_SECONDS = 2  # between two scans that queries trigger

_KINDS = {
    SymbolKind.MODULE: types.SymbolKind.Module,
    SymbolKind.FILE: types.SymbolKind.File,
    SymbolKind.COMPUTATION: types.SymbolKind.Function,
    SymbolKind.INSTRUCTION: types.SymbolKind.Variable,
    SymbolKind.VALUE: types.SymbolKind.Object,
    SymbolKind.SOURCE: types.SymbolKind.Variable,
}


class WorkspaceSymbols:
    """Indexes names in the background, and searches those indexed so far.

    The text of an open file takes precedence over the file on disk. Each query triggers a scan for
    changed files, for the next query. The workspace folders are read from the start; open files and
    their folders after the first query.
    """

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self._folders = SymbolFolders()
        self._reading: asyncio.Task[None] | None = None
        self._is_outdated = False  # since the last scan
        self._last_scan = 0.0  # time.monotonic() of the last scan
        self._is_stopped = False  # the user has cancelled indexing
        self._has_queries = False
        self._open: dict[str, tuple[int | None, list[FileSymbols]]] = {}
        self._open_reads: dict[str, asyncio.Task[None]] = {}

    def folders_changed(self) -> None:
        """Index the new workspace folders."""
        self._is_stopped = False
        self.scan()

    def reload(self) -> None:
        """Discard all names and index them again."""
        self._folders = SymbolFolders()
        self._open.clear()
        self.folders_changed()

    def opened(self, file: DumpFile) -> None:
        """Index the text and the folder of a file that was opened."""
        self._forget(file.uri)
        if self._has_queries:
            self._read_open(file)
            self.scan()

    def closed(self, file: DumpFile) -> None:
        """Index the file on disk after it was closed."""
        self._forget(file.uri)
        self.scan()

    def scan(self) -> None:
        """Scan for changed files on disk, and index them."""
        self._is_outdated = True
        if self._reading is None and not self._is_stopped:
            self._reading = start_task(self._read())

    async def find(self, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        """Return the symbols that match a query, the best first.

        While nothing matches, the answer waits until all files are read.
        """
        if not self._has_queries:
            self._has_queries = True
            self.scan()
            if self._reading is not None:
                await asyncio.wait([self._reading], timeout=_FIRST_WAIT_SECONDS)
        for file in self._session.workspace.open_files.values():
            self._read_open(file)
        if self._open_reads:
            await asyncio.wait(self._open_reads.values(), timeout=_OPEN_TEXT_WAIT_SECONDS)
        if self._reading is None and time.monotonic() > self._last_scan + _RESCAN_INTERVAL_SECONDS:
            self.scan()
        found = await self._search(params.query)
        while not found:
            reading = [task for task in (self._reading, *self._open_reads.values()) if task]
            if not reading:
                break
            await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
            found = await self._search(params.query)
        buffers = await self._buffers_of_line(params.query)
        places = {(symbol.uri, symbol.line) for symbol in buffers}
        found = [*buffers, *(one for one in found if (one.uri, one.line) not in places)]
        return [_information(symbol) for symbol in found[:_MAX_SYMBOLS]]

    async def _buffers_of_line(self, text: str) -> list[Symbol]:
        """Return the buffers with data of a Python line in the compiles of open files."""
        query = FindQuery.of(text)
        if query.kind is not QueryKind.LINE or ":" not in text:
            return []
        workspace = self._session.workspace
        for uri in list(workspace.open_files):
            await self._session.contexts(types.TextDocumentIdentifier(uri))  # which reads the files

        def buffers() -> list[Symbol]:
            parts = chain.from_iterable(map(workspace.parts, workspace.open_files.values()))
            dumps = dict.fromkeys(workspace.compile_of(part, patient=False) for part in parts)
            modules = [find_buffers(dump, query) for dump in dumps]
            found = (one for module in modules for one in module.buffers if one.bytes)
            return [_buffer_symbol(text, one) for one in found]

        return await run_in_slices(buffers)

    async def _search(self, query: str) -> list[Symbol]:
        """Search the names that are read so far."""
        hidden = self._session.workspace.open_paths
        texts = [read for _, read in self._open.values()]
        texts += (read for path, read in self._folders.files.items() if path not in hidden)
        files = [symbols for text in texts for symbols in text]
        opened = {symbols.module_key for _, read in self._open.values() for symbols in read}
        return await run_in_slices(partial(search_symbols, files, query, _MAX_SYMBOLS, opened))

    async def _read(self) -> None:
        try:
            while self._is_outdated and not self._is_stopped:
                self._is_outdated = False
                opened = self._session.workspace.open_paths if self._has_queries else ()
                folders = search_folders(workspace_folders(self._server), opened)
                found = await run_in_background(partial(self._folders.scan, folders))
                self._last_scan = time.monotonic()
                hidden = self._session.workspace.open_paths
                unread = [file for file in found if file.path not in hidden]
                total = sum(file.stamp[1] for file in unread)
                with reading_progress(self._server, "Indexing HLO names", total) as progress:
                    await run_in_background(partial(self._read_all, unread, total, progress))
        finally:
            self._reading = None

    def _read_all(self, unread: list[UnreadFile], total: int, progress: Progress) -> None:
        done = 0
        for file in unread:
            progress.report(file.title, 100 * done // max(total, 1))
            self._folders.read(file)
            checkpoint()
            done += file.stamp[1]
            if progress.is_cancelled:
                self._is_stopped = True
                return

    def _forget(self, uri: str) -> None:
        self._open.pop(uri, None)
        reading = self._open_reads.pop(uri, None)
        if reading is not None:
            reading.cancel()

    def _read_open(self, file: DumpFile) -> None:
        known = self._open.get(file.uri)
        is_known = known is not None and known[0] == self._session.version(file.uri)
        if not is_known and file.uri not in self._open_reads:
            self._open_reads[file.uri] = start_task(self._read_lines(file))

    async def _read_lines(self, file: DumpFile) -> None:
        try:
            version = self._session.version(file.uri)
            lines = list(file.lines)  # a copy, because edits change the list of the file
            read = await run_in_background(partial(read_symbols, file.uri, file.title, lines))
            self._open[file.uri] = version, read
        finally:
            if self._open_reads.get(file.uri) is asyncio.current_task():
                del self._open_reads[file.uri]


def _buffer_symbol(query: str, buffer: FoundBuffer) -> Symbol:
    file, name = buffer.file, buffer.name.partition("{")[0]
    start = max(0, file.lines[buffer.line - 1 - file.first_line].find(name))
    size = f"{format_short_bytes(buffer.bytes)} {buffer.space}"
    about = f"{buffer.name} · {size} · {file.title}"
    end = start + len(name)
    return Symbol(query, SymbolKind.SOURCE, file.uri, buffer.line - 1, start, end, about)


def _information(symbol: Symbol) -> types.SymbolInformation:
    """Return a symbol with its location, in the form that every client supports."""
    start = types.Position(symbol.line, symbol.start)
    end = types.Position(symbol.line, symbol.end)
    location = types.Location(symbol.uri, types.Range(start, end))
    about = None if symbol.about is None else printable(symbol.about)
    return types.SymbolInformation(
        location, printable(symbol.name), _KINDS[symbol.kind], container_name=about
    )
