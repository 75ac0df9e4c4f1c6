"""Watching of dump files and of ``hlo-lsp.toml``."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hlo_lsp.checks.config.config_file import CONFIG_FILE_NAME, find_config_file
from hlo_lsp.lsp.positions import path_of
from hlo_lsp.lsp.push_diagnostics import DiagnosticsPusher
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.workspace_symbols import WorkspaceSymbols

_POLL_SECONDS = 1.0  # a poll takes less than 0.1 ms per folder

_Stamp = tuple[Path, int, int]


class SettingsFileWatcher:
    """Polls the ``hlo-lsp.toml`` of each folder with open dumps.

    Clients watch only their workspace folders, and some watch nothing. ``changed`` is called when a
    file has changed.
    """

    def __init__(self, session: Session, changed: Callable[[], None]) -> None:
        self._session = session
        self._changed = changed
        self._known: dict[Path, _Stamp | None] = {}

    def start(self) -> None:
        """Poll now and periodically while the server runs."""
        self.poll()
        asyncio.get_running_loop().call_later(_POLL_SECONDS, self.start)

    def poll(self) -> None:
        """Poll once; a folder without open dumps before is not a change."""
        paths = (file.path for file in self._session.workspace.open_files.values())
        folders = {path.parent for path in paths if path is not None and path.is_absolute()}
        found = {folder: _stamp(folder) for folder in folders}
        known, self._known = self._known, found
        if any(known.get(folder, stamp) != stamp for folder, stamp in found.items()):
            self._changed()


def _stamp(folder: Path) -> _Stamp | None:
    path = find_config_file(folder)
    if path is None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size


_PATTERNS = ("**/*.txt", "**/*.hlo", f"**/{CONFIG_FILE_NAME}")


class DumpFileWatcher:
    """Checks the open files of a compile again when one of its files changes on disk."""

    def __init__(
        self,
        server: LanguageServer,
        session: Session,
        pusher: DiagnosticsPusher,
        symbols: WorkspaceSymbols,
        companions_changed: Callable[[], None],
    ) -> None:
        self._server = server
        self._session = session
        self._pusher = pusher
        self._symbols = symbols
        self._companions_changed = companions_changed
        self._settings = SettingsFileWatcher(session, pusher.all_changed)

    def opened(self) -> None:
        """Poll the ``hlo-lsp.toml`` files after a file was opened."""
        self._settings.poll()

    def initialized(self) -> None:
        """Register file watchers if the client supports them, and start polling."""
        self._settings.start()
        workspace = self._server.client_capabilities.workspace
        watched = None if workspace is None else workspace.did_change_watched_files
        if watched is None or not watched.dynamic_registration:
            return
        patterns = [types.FileSystemWatcher(pattern) for pattern in _PATTERNS]
        options = types.DidChangeWatchedFilesRegistrationOptions(patterns)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("dumps", method, options)
        self._server.client_register_capability(types.RegistrationParams([registration]))

    def changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Handle changed files on disk; the text of an open file still applies."""
        paths = {path for event in params.changes if (path := path_of(event.uri)) is not None}
        for path in paths:
            if path.name == CONFIG_FILE_NAME:
                self._pusher.all_changed(below=path.parent)
        workspace = self._session.workspace
        for file in list(workspace.open_files.values()):
            if file.path is None:
                continue
            folder = {path for path in paths if path.parent == file.path.parent}
            if any(workspace.stem(path) == workspace.stem(file.path) for path in folder):
                self._pusher.changed(file)
                self._companions_changed()
        self._pusher.disk_changed()
        self._symbols.scan()
