"""Diagnostics that are pushed, after a pause in typing."""

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

_DEBOUNCE_SECONDS = 0.03  # seconds without an edit before a file is looked at
_PARTIAL_INTERVAL_SECONDS = 0.1  # seconds between two lists that are not complete


class DiagnosticsPusher:
    """Looks at open files again after edits; one waiting task for each file.

    What the quick rules find is sent before the others have finished: beside it stands what they
    said the last time, so that nothing comes and goes. Only a complete list has the version of the
    text; whoever waits for one is not misled.

    ``publish`` sends parameters of ``textDocument/publishDiagnostics``, ``refresh`` asks a client
    that pulls to do so again.
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
        self._shown: dict[str, PublishedDiagnostics] = {}

    def changed(self, file: DumpFile) -> None:
        """A file was opened or edited: it and the open files of its compile want a look."""
        for other in self._session.open_companions(file):
            self._schedule(other)
        self._schedule_refresh()

    def all_changed(self, below: Path | None = None) -> None:
        """What is to be checked has changed, everywhere or in the files below a folder."""
        for file in self._session.library.open_files.values():
            if below is None or (file.path is not None and below in file.path.parents):
                self._schedule(file)
        self._schedule_refresh()

    def disk_changed(self) -> None:
        """Files have changed that nobody may have open: a client that pulls may ask for them."""
        self._schedule_refresh()

    def companion_read(self, path: Path) -> None:
        """A large neighbour is there now: the files that were looked at without it want a look."""
        for file in list(self._session.library.open_files.values()):
            if file.path is not None and path in self._session.library.compile(file.path).files:
                self.changed(file)

    def closed(self, file: DumpFile) -> None:
        """A file was closed: what was said of it goes, and its compile reads it from disk now."""
        task = self._tasks.pop(file.uri, None)
        if task is not None:
            task.cancel()
        if not self._session.client.can_pull_diagnostics:
            self._publish({"uri": file.uri, "diagnostics": []})
        self._shown.pop(file.uri, None)
        self.changed(file)
        # Records and their blocks point at each other: only a full collection frees them, and
        # the next one by itself may be far away.
        asyncio.get_running_loop().call_later(_DEBOUNCE_SECONDS, gc.collect)

    def _schedule(self, file: DumpFile) -> None:
        if self._session.client.can_pull_diagnostics:
            return
        self._replace(file.uri, self._look(file))

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

    async def _look(self, file: DumpFile) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        await self._session.foreground.give_way()
        shown = self._shown.setdefault(file.uri, PublishedDiagnostics())
        look = PartialDiagnostics(file, shown, partial(self._send, file), _PARTIAL_INTERVAL_SECONDS)
        document = types.TextDocumentIdentifier(file.uri)
        found = await self._session.answer_each(document, partial(file_diagnostics, tell=look.tell))
        version = self._session.version(file.uri)
        if version is not None:
            shown.sent = list(chain.from_iterable(found))
            shown.complete(shown.sent, file.lines)
            self._publish({"uri": file.uri, "version": version, "diagnostics": shown.sent})

    def _send(self, file: DumpFile, listed: list[Json]) -> None:
        self._publish({"uri": file.uri, "diagnostics": listed})

    async def _refresh_after_delay(self) -> None:
        await asyncio.sleep(_DEBOUNCE_SECONDS)
        # A question that is on its way is not taken back: its answer would find nobody.
        await asyncio.shield(self._refresh())


async def file_diagnostics(
    context: RequestContext,
    tell: Callable[[RequestContext, list[Finding], frozenset[str]], None] | None = None,
) -> list[Json]:
    """What is wrong in a file, as its text is at the end of the work."""
    while True:
        found = await findings(context, None if tell is None else partial(tell, context))
        try:
            return await run_on_snapshot(
                context.dump, partial(diagnostics_json, context.client, found)
            )
        except OutdatedError:
            continue


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("diagnostics failed", exc_info=task.exception())
