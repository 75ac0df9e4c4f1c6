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
from hlo_lsp.lsp.diagnostics import DiagnosticsPusher
from hlo_lsp.lsp.inlay_hints import InlayHints
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.pull_diagnostics import DiagnosticsPuller
from hlo_lsp.lsp.semantic_tokens import SemanticTokens
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.watching import Watcher
from hlo_lsp.lsp.workspace_diagnostics import WorkspaceDiagnostics
from hlo_lsp.lsp.workspace_symbols import WorkspaceSymbols
from hlo_lsp.model.dump_file import DumpFile

_PAUSE = 0.5  # seconds without a change before clients are told


class Again:
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
        self._waiting: asyncio.Task[None] | None = None

    def changed(self, file: DumpFile) -> None:
        """A file was opened, edited or closed: what others of its compile say may have changed."""
        if any(other is not file for other in self._session.open_siblings(file)):
            self.soon()

    def soon(self) -> None:
        """Tell the client after a while without further changes."""
        if self._is_wanted():
            if self._waiting is not None:
                self._waiting.cancel()
            self._waiting = asyncio.ensure_future(self._after_a_pause())

    async def _after_a_pause(self) -> None:
        await asyncio.sleep(_PAUSE)
        # A question that is on its way is not taken back: its answer would find nobody.
        await asyncio.shield(self._refresh())


logger = logging.getLogger(__name__)


class Keepers:
    """Made once for a connection; ``notify`` sends a notification."""

    def __init__(
        self, server: LanguageServer, session: Session, notify: Callable[[str, Json], None]
    ) -> None:
        self._session = session
        ask_again = partial(_told, server.workspace_diagnostic_refresh_async)
        publish = partial(notify, types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        self.pusher = DiagnosticsPusher(session, publish, ask_again)
        self.puller = DiagnosticsPuller(
            session, ask_again, partial(Progress, server, boundless=True)
        )
        self.colours = SemanticTokens(
            session, partial(_told, server.workspace_semantic_tokens_refresh_async)
        )
        self.notes = InlayHints(session, partial(_told, server.workspace_inlay_hint_refresh_async))
        self.lenses = Again(
            session,
            lambda: session.client.refreshes_lenses,
            partial(_told, server.workspace_code_lens_refresh_async),
        )
        self.names = WorkspaceSymbols(server, session)
        self.everything = WorkspaceDiagnostics(server, session, notify)
        self.configuration = Configuration(
            server, session, self.pusher.all_changed, self.notes.ask_for_more
        )
        self.watcher = Watcher(server, session, self.pusher, self.names, self.neighbours_changed)
        session.selections.complain = partial(_complain, server)
        session.loader.reporter = partial(Progress, server)
        session.loader.done = self._neighbour_read

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

    def neighbours_changed(self) -> None:
        """What open files show may be otherwise, though their texts are what they were."""
        self.colours.neighbours_changed()
        self.notes.ask_for_more()
        self.lenses.soon()

    def read_again(self) -> None:
        """Forget what was read, and read it again: when it was changed without a trace."""
        self._session.read_again()
        self.names.read_again()
        self.everything.read_again()
        self.pusher.all_changed()
        self.neighbours_changed()

    def _neighbour_read(self, path: Path) -> None:
        self.pusher.neighbour_read(path)
        self.neighbours_changed()


async def _told(refresh: Callable[[None], Awaitable[None]]) -> None:
    """Tell the client to ask again; it may refuse."""
    try:
        await refresh(None)
    except JsonRpcException as refusal:
        logger.info("the client does not want to ask again: %s", refusal.message)


def _complain(server: LanguageServer, complaint: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, complaint))
