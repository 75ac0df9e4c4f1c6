"""Diagnostics that are pushed after a pause in typing."""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from lsprotocol import types

from hlo_lsp.checks.finding import Finding
from hlo_lsp.lsp.checking import PartialDiagnostics, PublishedDiagnostics, findings
from hlo_lsp.lsp.diagnostic_conversion import diagnostics_json
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.scheduling import OutdatedError, run_on_snapshot
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile

logger = logging.getLogger(__name__)

_DEBOUNCE_SECONDS = 0.03  # without an edit, before a file is checked
_PARTIAL_INTERVAL_SECONDS = 0.1  # between two partial lists


class DiagnosticsPusher:
    """Checks open files after edits; each file has at most one pending task.

    Findings of quick rules are sent before the others are complete, together with earlier
    diagnostics that may still hold, to avoid flicker. Only a complete list has the version of the
    text, so a client can tell partial lists apart.

    ``publish`` sends parameters of ``textDocument/publishDiagnostics``, and ``refresh`` requests
    that a client pulls again.
    """

    def __init__(
        self,
        session: Session,
        publish: Callable[[Json], None],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._session = session
        self._publish = publish
        self._refresh = refresh
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._published: dict[str, PublishedDiagnostics] = {}

    def changed(self, file: DumpFile) -> None:
        """Check a file that was opened or edited, and the open files of its compile."""
        for other in self._session.open_companions(file):
            self._schedule(other)
        self._schedule_refresh()

    def all_changed(self, below: Path | None = None) -> None:
        """Check all open files, or those in a folder, with changed options."""
        for file in self._session.workspace.open_files.values():
            if below is None or (file.path is not None and below in file.path.parents):
                self._schedule(file)
        self._schedule_refresh()

    def disk_changed(self) -> None:
        """Request a refresh after files on disk changed that may not be open."""
        self._schedule_refresh()

    def companion_read(self, path: Path) -> None:
        """Check the files of a compile again after a large file of it was read."""
        for file in list(self._session.workspace.open_files.values()):
            if file.path is not None and path in self._session.workspace.compile(file.path).files:
                self.changed(file)

    def closed(self, file: DumpFile) -> None:
        """Remove the diagnostics of a closed file, and check its open companions."""
        task = self._tasks.pop(file.uri, None)
        if task is not None:
            task.cancel()
        if not self._session.client.can_pull_diagnostics:
            self._publish({"uri": file.uri, "diagnostics": []})
        self._published.pop(file.uri, None)
        self.changed(file)

        # Records and their blocks refer to each other, so only a full collection frees them.
        asyncio.get_running_loop().call_later(_DEBOUNCE_SECONDS, gc.collect)

    def _schedule(self, file: DumpFile) -> None:
        if self._session.client.can_pull_diagnostics:
            return
        self._replace(file.uri, self._check(file))

    def _schedule_refresh(self) -> None:
        client = self._session.client
        if client.can_pull_diagnostics and client.can_refresh_diagnostics:
            self._replace("", self._refresh_after_delay())

    def _replace(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        old = self._tasks.get(key)
        if old is not None:
            old.cancel()
        task = self._tasks[key] = asyncio.ensure_future(work)
        task.add_done_callback(_log_failure)

    async def _check(self, file: DumpFile) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        await self._session.foreground.give_way()
        published = self._published.setdefault(file.uri, PublishedDiagnostics())
        partial_list = PartialDiagnostics(
            file, published, partial(self._send, file), _PARTIAL_INTERVAL_SECONDS
        )
        document = types.TextDocumentIdentifier(file.uri)
        found = await self._session.answer_each(
            document, partial(file_diagnostics, listener=partial_list.update)
        )
        version = self._session.version(file.uri)
        if version is not None:
            published.sent = list(chain.from_iterable(found))
            published.complete(published.sent, file.lines)
            self._publish({"uri": file.uri, "version": version, "diagnostics": published.sent})

    def _send(self, file: DumpFile, listed: list[Json]) -> None:
        self._publish({"uri": file.uri, "diagnostics": listed})

    async def _refresh_after_delay(self) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        # A sent request is not cancelled, because its response would have no recipient.
        await asyncio.shield(self._refresh())


async def file_diagnostics(
    context: RequestContext,
    listener: Callable[[RequestContext, list[Finding], frozenset[str]], None] | None = None,
) -> list[Json]:
    """Return the diagnostics of a file, for its text at the end of the check."""
    while True:
        found = await findings(context, None if listener is None else partial(listener, context))
        try:
            return await run_on_snapshot(
                context.dump, partial(diagnostics_json, context.client, found)
            )
        except OutdatedError:
            continue


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("diagnostics failed", exc_info=task.exception())
