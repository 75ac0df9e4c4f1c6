"""workspace/symbol: names in all dumps of the workspace and beside the open files."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.positions import workspace_folders
from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.scheduling import run_in_background, run_in_slices
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.symbol_folders import SearchFolder, SymbolFolders, UnreadFile
from hlo_lsp.model.symbol_reading import read_symbols
from hlo_lsp.model.symbol_search import FileSymbols, Symbol, SymbolKind, search_symbols
from hlo_lsp.text.checkpoint import checkpoint

logger = logging.getLogger(__name__)

_MAX_SYMBOLS = 200  # symbols in an answer
_OPEN_TEXT_WAIT_SECONDS = 0.1  # seconds that an answer waits for the text of open files to be read
_FIRST_WAIT_SECONDS = 1  # seconds that the first answer waits for what lies beside open files
_RESCAN_INTERVAL_SECONDS = (
    2  # seconds after a look at the folders without another that nobody asked for
)
_MIN_PROGRESS_BYTES = 4_000_000  # bytes from which on reading shows its progress: about 0.3 s
_KINDS = {
    SymbolKind.MODULE: types.SymbolKind.Module,
    SymbolKind.FILE: types.SymbolKind.File,
    SymbolKind.COMPUTATION: types.SymbolKind.Function,
    SymbolKind.INSTRUCTION: types.SymbolKind.Variable,
    SymbolKind.VALUE: types.SymbolKind.Object,
    SymbolKind.SOURCE: types.SymbolKind.Variable,
}


class WorkspaceSymbols:
    """Reads names in the background, and finds them among those that it has by then.

    The text of an open file counts, not the one on disk. Whoever asks a question makes it look
    whether files on disk have changed, for the next one. The folders of the workspace are read
    from the start; open files and what lies beside them only when somebody has asked for a name.
    """

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self._folders = SymbolFolders()
        self._reading: asyncio.Task[None] | None = None
        self._is_outdated = False  # since the folders were looked at last
        self._looked = 0.0  # when that was
        self._is_stopped = False  # the user has stopped the reading
        self._is_asked = False  # somebody wants to know names
        self._open: dict[str, tuple[int | None, list[FileSymbols]]] = {}
        self._open_readings: dict[str, asyncio.Task[None]] = {}

    def folders_changed(self) -> None:
        """The workspace has other folders than before, the first time some at all."""
        self._is_stopped = False
        self.look()

    def reload(self) -> None:
        """Forget all names, and read them again."""
        self._folders = SymbolFolders()
        self._open.clear()
        self.folders_changed()

    def opened(self, file: DumpFile) -> None:
        """A file was opened: its text and its folder count from now on."""
        self._forget(file.uri)
        if self._is_asked:
            self._read_open(file)
            self.look()

    def closed(self, file: DumpFile) -> None:
        """A file was closed: the one on disk counts again."""
        self._forget(file.uri)
        self.look()

    def look(self) -> None:
        """Look what has changed on disk, and read it."""
        self._is_outdated = True
        if self._reading is None and not self._is_stopped:
            self._reading = _task(self._read())

    async def find(self, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        """The symbols that fit a query, the best first."""
        if not self._is_asked:
            self._is_asked = True
            self.look()
            if self._reading is not None:
                await asyncio.wait([self._reading], timeout=_FIRST_WAIT_SECONDS)
        for file in self._session.library.open_files.values():
            self._read_open(file)
        if self._open_readings:
            await asyncio.wait(self._open_readings.values(), timeout=_OPEN_TEXT_WAIT_SECONDS)
        if self._reading is None and time.monotonic() > self._looked + _RESCAN_INTERVAL_SECONDS:
            self.look()
        hidden = self._open_paths()
        texts = [read for _, read in self._open.values()]
        texts += (read for path, read in self._folders.files.items() if path not in hidden)
        files = [symbols for text in texts for symbols in text]
        return [
            _information(symbol)
            for symbol in await run_in_slices(
                partial(search_symbols, files, params.query, _MAX_SYMBOLS)
            )
        ]

    async def _read(self) -> None:
        try:
            while self._is_outdated and not self._is_stopped:
                self._is_outdated = False
                found = await run_in_background(partial(self._folders.scan, self._wanted()))
                self._looked = time.monotonic()
                hidden = self._open_paths()
                unread = [file for file in found if file.path not in hidden]
                if sum(file.stamp[1] for file in unread) < _MIN_PROGRESS_BYTES:
                    await run_in_background(partial(self._read_all, unread, None))
                    continue
                with Progress(self._server, "Reading the names in HLO dumps") as progress:
                    await run_in_background(partial(self._read_all, unread, progress))
        finally:
            self._reading = None

    def _read_all(self, unread: list[UnreadFile], progress: Progress | None) -> None:
        total = sum(file.stamp[1] for file in unread)
        done = 0
        for file in unread:
            if progress is not None:
                progress.report(100 * done // total, file.title)
            self._folders.read(file)
            checkpoint()
            done += file.stamp[1]
            if progress is not None and progress.is_cancelled:
                self._is_stopped = True
                return

    def _wanted(self) -> list[SearchFolder]:
        """The folders of the workspace with all in them, and those that open files are in."""
        folders = [SearchFolder(path, is_recursive=True) for path in workspace_folders(self._server)]
        beside = {path.parent for path in self._open_paths() if self._is_asked}
        return folders + [SearchFolder(path, is_recursive=False) for path in sorted(beside)]

    def _open_paths(self) -> set[Path]:
        files = self._session.library.open_files.values()
        return {file.path for file in files if file.path is not None}

    def _forget(self, uri: str) -> None:
        self._open.pop(uri, None)
        reading = self._open_readings.pop(uri, None)
        if reading is not None:
            reading.cancel()

    def _read_open(self, file: DumpFile) -> None:
        """Read an open file that has changed since it was read last."""
        known = self._open.get(file.uri)
        is_known = known is not None and known[0] == self._session.version(file.uri)
        if not is_known and file.uri not in self._open_readings:
            self._open_readings[file.uri] = _task(self._read_lines(file))

    async def _read_lines(self, file: DumpFile) -> None:
        try:
            version = self._session.version(file.uri)
            lines = list(file.lines)  # those of the file change when it is edited meanwhile
            read = await run_in_background(partial(read_symbols, file.uri, file.title, lines))
            self._open[file.uri] = version, read
        finally:
            if self._open_readings.get(file.uri) is asyncio.current_task():
                del self._open_readings[file.uri]


def _information(symbol: Symbol) -> types.SymbolInformation:
    """A symbol as it is sent. In front of its columns is nothing that counts for two anywhere."""
    start = types.Position(symbol.line, symbol.start)
    end = types.Position(symbol.line, symbol.end)
    location = types.Location(symbol.uri, types.Range(start, end))
    return types.SymbolInformation(
        location, symbol.name, _KINDS[symbol.kind], container_name=symbol.about
    )


def _task(work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    task = asyncio.ensure_future(work)
    task.add_done_callback(_log_failure)
    return task


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("reading names failed", exc_info=task.exception())
