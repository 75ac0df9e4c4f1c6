"""The services of a connection, and their reactions to changed files."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.configuration import Configuration
from hlo_lsp.lsp.inlay_hints import InlayHints
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.pull_diagnostics import DiagnosticsPuller
from hlo_lsp.lsp.push_diagnostics import DiagnosticsPusher
from hlo_lsp.lsp.semantic_tokens import SemanticTokens
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.watching import DumpFileWatcher
from hlo_lsp.lsp.workspace_diagnostics import WorkspaceDiagnostics
from hlo_lsp.lsp.workspace_symbols import WorkspaceSymbols
from hlo_lsp.model.dump_file import DumpFile

_DEBOUNCE_SECONDS = 0.5  # without a change, before clients refresh


class RefreshScheduler:
    """Requests a refresh from the client, once for many changes.

    ``is_wanted`` checks that the client supports the request, and ``refresh`` sends it.
    """

    def __init__(
        self,
        session: Session,
        is_wanted: Callable[[], bool],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._session = session
        self._is_wanted = is_wanted
        self._refresh = refresh
        self._pending: asyncio.Task[None] | None = None

    def changed(self, file: DumpFile) -> None:
        """Schedule a refresh if the changed file has open companion files."""
        if any(other is not file for other in self._session.open_companions(file)):
            self.schedule()

    def schedule(self) -> None:
        """Request a refresh after a pause without further changes."""
        if self._is_wanted():
            if self._pending is not None:
                self._pending.cancel()
            self._pending = asyncio.ensure_future(self._refresh_after_delay())

    async def _refresh_after_delay(self) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        # A sent request is not cancelled, because its response would have no recipient.
        await asyncio.shield(self._refresh())


logger = logging.getLogger(__name__)


class Services:
    """The services of one connection; ``notify`` sends a notification."""

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._session = session
        refresh_diagnostics = partial(_request_refresh, server.workspace_diagnostic_refresh_async)
        publish = partial(notify, types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        self.pusher = DiagnosticsPusher(session, publish, refresh_diagnostics)
        self.puller = DiagnosticsPuller(
            session, refresh_diagnostics, partial(Progress, server, is_indefinite=True)
        )
        self.semantic_tokens = SemanticTokens(
            session, partial(_request_refresh, server.workspace_semantic_tokens_refresh_async)
        )
        self.inlay_hints = InlayHints(
            session, partial(_request_refresh, server.workspace_inlay_hint_refresh_async)
        )
        self.lenses = RefreshScheduler(
            session,
            lambda: session.client.can_refresh_lenses,
            partial(_request_refresh, server.workspace_code_lens_refresh_async),
        )
        self.workspace_symbols = WorkspaceSymbols(server, session)
        self.workspace_diagnostics = WorkspaceDiagnostics(server, session, notify)
        self.configuration = Configuration(
            server, session, self.pusher.all_changed, self.inlay_hints.schedule_refresh
        )
        self.watcher = DumpFileWatcher(
            server, session, self.pusher, self.workspace_symbols, self.companions_changed
        )
        session.selections.report_problem = partial(_show_warning, server)
        session.loader.progress_factory = partial(Progress, server)
        session.loader.on_loaded = self._companion_read

    def initialized(self) -> None:
        """Start the services that send requests to the client."""
        self.configuration.initialized()
        self.watcher.initialized()
        self.workspace_symbols.folders_changed()

    def opened(self, file: DumpFile) -> None:
        """Update all services after a file was opened."""
        self.watcher.opened()
        self.changed(file)
        self.workspace_symbols.opened(file)

    def changed(self, file: DumpFile) -> None:
        """Update all services after the text of an open file changed."""
        self.pusher.changed(file)
        self.semantic_tokens.changed(file)
        self.inlay_hints.changed(file)
        self.lenses.changed(file)

    def closed(self, file: DumpFile) -> None:
        """Update all services after a file was closed; its text on disk applies again."""
        self.pusher.closed(file)
        self.puller.closed(file)
        self.semantic_tokens.closed(file)
        self.inlay_hints.closed(file)
        self.lenses.changed(file)
        self.workspace_symbols.closed(file)

    def folders_changed(self) -> None:
        """Update all services after the workspace folders changed."""
        self.configuration.folders_changed()
        self.workspace_symbols.folders_changed()
        self.workspace_diagnostics.folders_changed()
        self.pusher.disk_changed()

    def companions_changed(self) -> None:
        """Refresh the views that depend on other files of a compile."""
        self.semantic_tokens.companions_changed()
        self.inlay_hints.schedule_refresh()
        self.lenses.schedule()

    def reload(self) -> None:
        """Discard everything that was read, for files that changed without a trace."""
        self._session.reload()
        self.workspace_symbols.reload()
        self.workspace_diagnostics.reload()
        self.pusher.all_changed()
        self.companions_changed()

    def _companion_read(self, path: Path) -> None:
        self.pusher.companion_read(path)
        self.companions_changed()


async def _request_refresh(refresh: Callable[[None], Awaitable[None]]) -> None:
    """Send a refresh request; the client may reject it."""
    try:
        await refresh(None)
    except JsonRpcException as refusal:
        logger.info("the client rejected a refresh: %s", refusal.message)


def _show_warning(server: LanguageServer, problem: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, problem))
