"""workspace/symbol: names in all dumps of the workspace and next to open files."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from lsprotocol import types

from hlo_lsp.lsp.fact_kinds import FactKind, Reading, Unit
from hlo_lsp.lsp.scheduling import Priority, Refresh, run_in_slices, start_task
from hlo_lsp.lsp.service import Handler, Service
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.folder_scan import ScannedFolder, SearchScope
from hlo_lsp.model.symbol_reading import read_file_symbols, read_symbols, symbol_files
from hlo_lsp.model.symbol_search import FileSymbols, Symbol, SymbolKind, search_symbols
from hlo_lsp.reports.find import FindQuery, FoundBuffer, QueryKind, find_buffers
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import printable

_MAX_SYMBOLS = 200
_OPEN_TEXT_WAIT_SECONDS = 0.1  # that an answer waits for the text of open files
_FIRST_WAIT_SECONDS = 1  # that the first answer waits for the folders of open files

_KINDS = {
    SymbolKind.MODULE: types.SymbolKind.Module,
    SymbolKind.FILE: types.SymbolKind.File,
    SymbolKind.COMPUTATION: types.SymbolKind.Function,
    SymbolKind.INSTRUCTION: types.SymbolKind.Variable,
    SymbolKind.VALUE: types.SymbolKind.Object,
    SymbolKind.SOURCE: types.SymbolKind.Variable,
}


class _SymbolsOnDisk(FactKind[str, list[FileSymbols]]):
    """The symbols of files on disk, which have a title in results."""

    title = "Indexing HLO names"
    reads_compile = False  # symbols follow from one text, which is not kept
    max_scan_age_seconds = 2.0

    def units(self, folder: ScannedFolder) -> Iterator[Unit[str]]:
        """Yield the files that may have symbols."""
        if folder.top.scope is SearchScope.REQUEST:
            return
        for path in symbol_files(folder):
            module = folder.module_of(path.name)
            stamp = None if module is None else module.stamps.get(path)
            if module is not None and stamp is not None:
                title = path.relative_to(folder.top.path).as_posix()
                yield Unit(path, stamp, module, stamp[1], title)

    def reading(self, unit: Unit[str]) -> Reading[list[FileSymbols]]:
        """Return the function that reads the symbols of a file."""
        return partial(read_file_symbols, path=unit.key, title=unit.subject)


class WorkspaceSymbols(Service):
    """Indexes names in the background, and searches those indexed so far.

    The text of an open file takes precedence over the file on disk. Each query triggers a scan for
    changed files, for the next query. The workspace folders are read from the start; open files and
    their folders after the first query.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._on_disk = _SymbolsOnDisk()
        session.index.add(self._on_disk)
        self._refresh = Refresh(partial(session.index.read, self._on_disk))
        self._has_queries = False
        self._open: dict[str, tuple[int | None, list[FileSymbols]]] = {}
        self._open_reads: dict[str, asyncio.Task[None]] = {}

    def requests(self) -> dict[str, Handler]:
        """Return the handlers of its requests."""
        return {types.WORKSPACE_SYMBOL: self.find}

    def initialized(self) -> None:
        """Index the workspace folders."""
        self.files_changed()

    def files_changed(self) -> None:
        """Index the files on disk that have changed."""
        self._refresh.schedule()

    def reload(self) -> None:
        """Discard all names and index them again."""
        self._open.clear()
        self.files_changed()

    def opened(self, file: DumpFile) -> None:
        """Index the text and the folder of a file that was opened."""
        self._forget(file.uri)
        if self._has_queries:
            self._read_open(file)
            self.files_changed()

    def closed(self, file: DumpFile) -> None:
        """Index the file on disk after it was closed."""
        self._forget(file.uri)
        self.files_changed()

    async def find(self, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        """Return the symbols that match a query, the best first.

        While nothing matches, the answer waits until all files are read.
        """
        is_first, self._has_queries = not self._has_queries, True
        self._session.index.search_beside_open()
        self._refresh.schedule()
        if is_first and self._refresh.task is not None:
            await asyncio.wait([self._refresh.task], timeout=_FIRST_WAIT_SECONDS)
        for file in self._session.workspace.open_files.values():
            self._read_open(file)
        if self._open_reads:
            await asyncio.wait(self._open_reads.values(), timeout=_OPEN_TEXT_WAIT_SECONDS)
        symbols = await self._search(params.query)
        while not symbols:
            tasks = (self._refresh.task, *self._open_reads.values())
            waiting = [task for task in tasks if task]
            if not waiting:
                break
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            symbols = await self._search(params.query)
        buffers = await self._buffers_of_line(params.query)
        places = {(symbol.uri, symbol.line) for symbol in buffers}
        symbols = [
            *buffers,
            *(symbol for symbol in symbols if (symbol.uri, symbol.line) not in places),
        ]
        return list(_information(symbols[:_MAX_SYMBOLS]))

    async def _buffers_of_line(self, text: str) -> list[Symbol]:
        """Return the buffers with data of a Python line in the compiles of open files."""
        query = FindQuery.of(text)
        if query.kind is not QueryKind.LINE or ":" not in text:
            return []
        workspace = self._session.workspace
        for uri in list(workspace.open_files):
            document = types.TextDocumentIdentifier(uri)
            await self._session.answer_text(document, lambda _: None)  # which reads the files

        def buffers() -> list[Symbol]:
            parts = chain.from_iterable(map(workspace.parts, workspace.open_files.values()))
            dumps = dict.fromkeys(workspace.compile_of(part, patient=False) for part in parts)
            modules = [find_buffers(dump, query) for dump in dumps]
            found = [one for module in modules for one in module.buffers if one.bytes]
            found.sort(key=lambda one: -one.bytes)
            return [_buffer_symbol(text, one) for one in found]

        return await run_in_slices(buffers)

    async def _search(self, query: str) -> list[Symbol]:
        """Search the names that are read so far."""
        hidden = self._session.workspace.open_paths
        texts = [read for _, read in self._open.values()]
        texts += (read for path, read in self._on_disk.values().items() if path not in hidden)
        files = [symbols for text in texts for symbols in text]
        opened = {symbols.module_key for _, read in self._open.values() for symbols in read}
        return await run_in_slices(partial(search_symbols, files, query, _MAX_SYMBOLS, opened))

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
            work = partial(read_symbols, file.uri, file.title, lines)
            read = await self._session.foreground.run(work, Priority.INDEX)
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


def _information(symbols: Sequence[Symbol]) -> Iterator[types.SymbolInformation]:
    """Yield symbols with their locations, in the form that every client supports.

    VS Code sorts symbols that match equally well by their labels, so those of Python lines begin
    with a number.
    """
    lines = [symbol for symbol in symbols if symbol.kind is SymbolKind.SOURCE]
    ranks = {id(symbol): rank for rank, symbol in enumerate(lines, 1)}
    width = len(str(len(lines)))
    for symbol in symbols:
        start = types.Position(symbol.line, symbol.start)
        end = types.Position(symbol.line, symbol.end)
        location = types.Location(symbol.uri, types.Range(start, end))
        label = symbol.name
        if id(symbol) in ranks:
            label += f" {ranks[id(symbol)]:0{width}}. {symbol.about.partition(' · ')[0]}"
        yield types.SymbolInformation(
            location,
            printable(label),
            _KINDS[symbol.kind],
            container_name=printable(symbol.about),
        )
