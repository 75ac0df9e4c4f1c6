"""What the client tells of texts, files, folders and settings, and what is found in all of them."""

from typing import Any

from lsprotocol import types

from hlo_lsp.features import window
from hlo_lsp.features.keepers import Keepers
from hlo_lsp.features.session import Session
from hlo_lsp.features.wire import Json
from hlo_lsp.model.windows import Windows
from hlo_lsp.protocol.server import HloServer

RESTART = "hlo.server.restartIndex"  # forget what was read, and read it again


def serve_workspace(server: HloServer, keepers: Keepers) -> None:
    """What is about no single document: settings, files on disk, folders, the names in them."""

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        keepers.initialized()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        keepers.configuration.changed(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        keepers.watcher.changed(params)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        keepers.folders_changed()

    @server.feature(types.WORKSPACE_SYMBOL)
    async def find(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        return await keepers.names.find(params)

    @server.command(RESTART)
    def restart() -> None:
        keepers.read_again()


def serve_texts(server: HloServer, session: Session, keepers: Keepers) -> None:
    """The texts that the client has open, and who wants to know of their edits."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        keepers.opened(session.open(params.text_document))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        file = session.edit(params)
        if file is not None:
            keepers.changed(file)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        file = session.close(params.text_document.uri)
        if file is not None:
            keepers.closed(file)


def serve_windows(server: HloServer) -> None:
    """Parts of files that are too large to be opened."""
    windows = Windows()

    @server.feature(window.METHOD)
    async def on_window(params: Any) -> Json | None:
        return await window.window(windows, params)
