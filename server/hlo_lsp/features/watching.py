"""workspace/didChangeWatchedFiles: dumps that come, go or change on disk.

A client that watches nothing loses little: the time of change of every neighbour is looked at
before each answer. Only what nobody asks for, diagnostics, waits for the next edit there, or for
settings that change.
"""

from collections.abc import Callable

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hlo_lsp.checks.wishes.settings_file import NAME
from hlo_lsp.features.diagnostics import DiagnosticsPusher
from hlo_lsp.features.session import Session
from hlo_lsp.features.settings_watch import SettingsWatch
from hlo_lsp.features.uris import path_of
from hlo_lsp.features.workspace_symbols import WorkspaceSymbols

_PATTERNS = ("**/*.txt", "**/*.hlo", f"**/{NAME}")


class Watcher:
    """Looks again at the open files of a compile when a file of it changes on disk."""

    def __init__(
        self,
        server: LanguageServer,
        session: Session,
        pusher: DiagnosticsPusher,
        symbols: WorkspaceSymbols,
        neighbours_changed: Callable[[], None],
    ) -> None:
        self._server = server
        self._session = session
        self._pusher = pusher
        self._symbols = symbols
        self._neighbours_changed = neighbours_changed
        self._settings = SettingsWatch(session, pusher.all_changed)

    def opened(self) -> None:
        """A file was opened: it is looked at with the settings that are there now."""
        self._settings.look()

    def initialized(self) -> None:
        """Ask the client to watch, if it can; settings are looked for whether it can or not."""
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
        """Files changed on disk; what an editor holds counts on as it is there."""
        paths = {path for event in params.changes if (path := path_of(event.uri)) is not None}
        for path in paths:
            if path.name == NAME:
                self._pusher.all_changed(below=path.parent)
        library = self._session.library
        for file in list(library.open_files.values()):
            if file.path is None:
                continue
            folder = {path for path in paths if path.parent == file.path.parent}
            if any(library.stem(path) == library.stem(file.path) for path in folder):
                self._pusher.changed(file)
                self._neighbours_changed()
        self._pusher.disk_changed()
        self._symbols.look()
