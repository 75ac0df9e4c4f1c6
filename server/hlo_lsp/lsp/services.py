"""When clients should ask again for what they show: something else has changed than its text."""

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

_DEBOUNCE_SECONDS = 0.5  # seconds without a change before clients are told


class RefreshScheduler:
    """Tells a client to ask again, once for many changes; one that cannot be told is not.

    ``is_wanted`` says whether it can be told by now, ``refresh`` tells it.
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
        """A file was opened, edited or closed: what others of its compile say may have changed."""
        if any(other is not file for other in self._session.open_companions(file)):
            self.soon()

    def soon(self) -> None:
        """Tell the client after a while without further changes."""
        if self._is_wanted():
            if self._pending is not None:
                self._pending.cancel()
            self._pending = asyncio.ensure_future(self._refresh_after_delay())

    async def _refresh_after_delay(self) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        # A question that is on its way is not taken back: its answer would find nobody.
        await asyncio.shield(self._refresh())


logger = logging.getLogger(__name__)


class Services:
    """Made once for a connection; ``notify`` sends a notification."""

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._session = session
        ask_again = partial(_request_refresh, server.workspace_diagnostic_refresh_async)
        publish = partial(notify, types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        self.pusher = DiagnosticsPusher(session, publish, ask_again)
        self.puller = DiagnosticsPuller(
            session, ask_again, partial(Progress, server, is_indefinite=True)
        )
        self.colours = SemanticTokens(
            session, partial(_request_refresh, server.workspace_semantic_tokens_refresh_async)
        )
        self.notes = InlayHints(
            session, partial(_request_refresh, server.workspace_inlay_hint_refresh_async)
        )
        self.lenses = RefreshScheduler(
            session,
            lambda: session.client.can_refresh_lenses,
            partial(_request_refresh, server.workspace_code_lens_refresh_async),
        )
        self.names = WorkspaceSymbols(server, session)
        self.everything = WorkspaceDiagnostics(server, session, notify)
        self.configuration = Configuration(
            server, session, self.pusher.all_changed, self.notes.schedule_refresh
        )
        self.watcher = DumpFileWatcher(
            server, session, self.pusher, self.names, self.companions_changed
        )
        session.selections.report_problem = partial(_show_warning, server)
        session.loader.reporter = partial(Progress, server)
        session.loader.done = self._companion_read

    def initialized(self) -> None:
        """The client is ready to be asked."""
        self.configuration.initialized()
        self.watcher.initialized()
        self.names.folders_changed()

    def opened(self, file: DumpFile) -> None:
        """A file was opened."""
        self.watcher.opened()
        self.changed(file)
        self.names.opened(file)

    def changed(self, file: DumpFile) -> None:
        """An open file has another text than before."""
        self.pusher.changed(file)
        self.colours.changed(file)
        self.notes.changed(file)
        self.lenses.changed(file)

    def closed(self, file: DumpFile) -> None:
        """A file was closed: it counts as it is on disk now."""
        self.pusher.closed(file)
        self.puller.closed(file)
        self.colours.closed(file)
        self.notes.closed(file)
        self.lenses.changed(file)
        self.names.closed(file)

    def folders_changed(self) -> None:
        """The client has other folders open."""
        self.configuration.folders_changed()
        self.names.folders_changed()
        self.everything.folders_changed()
        self.pusher.disk_changed()

    def companions_changed(self) -> None:
        """What open files show may be otherwise, though their texts are what they were."""
        self.colours.companions_changed()
        self.notes.schedule_refresh()
        self.lenses.soon()

    def reload(self) -> None:
        """Forget what was read, and read it again: when it was changed without a trace."""
        self._session.reload()
        self.names.reload()
        self.everything.reload()
        self.pusher.all_changed()
        self.companions_changed()

    def _companion_read(self, path: Path) -> None:
        self.pusher.companion_read(path)
        self.companions_changed()


async def _request_refresh(refresh: Callable[[None], Awaitable[None]]) -> None:
    """Tell the client to ask again; it may refuse."""
    try:
        await refresh(None)
    except JsonRpcException as refusal:
        logger.info("the client does not want to ask again: %s", refusal.message)


def _show_warning(server: LanguageServer, problem: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, problem))
