"""textDocument/diagnostic: diagnostics that the client pulls."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from lsprotocol import types

from hlo_lsp.checks.catalogue import Selection
from hlo_lsp.lsp.checking import PartialDiagnostics, PublishedDiagnostics, cached_findings, state_id
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.push_diagnostics import file_diagnostics
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile

logger = logging.getLogger(__name__)
Reporter = Callable[[str], AbstractContextManager[object]]

_QUICK_ANSWER_SECONDS = 0.01  # that the pull of a large compile waits for a complete check
_PARTIAL_INTERVAL_SECONDS = 1.0  # between two partial lists


class DiagnosticsPuller:
    """Answers pulls of open files.

    A complete check of a large compile takes seconds. If the client supports refresh requests, it
    receives a partial list at once: the findings so far, and earlier diagnostics that may still
    hold. ``reporter`` returns a progress with a title for the rest of the check.
    """

    def __init__(
        self, session: Session, refresh: Callable[[], Awaitable[None]], reporter: Reporter
    ) -> None:
        self._session = session
        self._refresh = refresh
        self._reporter = reporter
        self._pending_checks: dict[str, _PendingCheck] = {}
        self._published: dict[str, PublishedDiagnostics] = {}
        self._refreshes: set[asyncio.Future[None]] = set()

    async def pull(self, params: types.DocumentDiagnosticParams) -> Json:
        """Return the report of a document; a partial report has no result id."""
        context = await self._session.contexts(params.text_document)
        number = self._session.selections.number
        previous = params.previous_result_id
        file = self._session.workspace.open_files.get(params.text_document.uri)
        if file is not None and self._is_slow(context) and _result_id(context, number) != previous:
            pending = self._pending_check(file)
            await asyncio.wait((pending.task,), timeout=_QUICK_ANSWER_SECONDS)
            if not pending.task.done():
                return {"kind": "full", "items": pending.items()}
        return await diagnostic_report(context, previous, number)

    def closed(self, file: DumpFile) -> None:
        """Cancel the check of a closed file."""
        pending = self._pending_checks.pop(file.uri, None)
        if pending is not None:
            pending.task.cancel()
        self._published.pop(file.uri, None)

    def _is_slow(self, context: Sequence[RequestContext]) -> bool:
        return self._session.client.can_refresh_diagnostics and any(
            one.is_large and cached_findings(one) is None for one in context
        )

    def _pending_check(self, file: DumpFile) -> "_PendingCheck":
        pending = self._pending_checks.get(file.uri)
        if pending is None or pending.task.done():
            published = self._published.setdefault(file.uri, PublishedDiagnostics())
            created = _PendingCheck(
                self._session, file, published, self._request_refresh, self._reporter
            )
            pending = self._pending_checks[file.uri] = created
        return pending

    def _request_refresh(self) -> None:
        # Sent even while a request is pending: the pull after that one may have come too early.
        telling = asyncio.ensure_future(self._refresh())
        self._refreshes.add(telling)
        telling.add_done_callback(self._refreshes.discard)


class _PendingCheck:
    """A check that continues after its first pull was answered."""

    def __init__(
        self,
        session: Session,
        file: DumpFile,
        published: PublishedDiagnostics,
        on_change: Callable[[], None],
        reporter: Reporter,
    ) -> None:
        self._session = session
        self._file = file
        self._published = published
        self._on_change = on_change
        self._reporter = reporter
        self._version: int | None = None  # of the text that the list describes
        self.task = asyncio.ensure_future(self._work())

    def items(self) -> list[Json]:
        """Return the diagnostics so far."""
        if self._version == self._file.version:
            return self._published.sent
        return list(self._published.still_valid(None, self._file.lines))

    async def _work(self) -> None:
        document = types.TextDocumentIdentifier(self._file.uri)
        pending = PartialDiagnostics(
            self._file, self._published, self._update, _PARTIAL_INTERVAL_SECONDS
        )
        try:
            with self._reporter(f"Checking {self._file.title}"):
                found = await self._session.answer_each(
                    document, partial(file_diagnostics, listener=pending.update)
                )
        except Exception:  # a bug in the checks; the next pull reports it
            logger.exception("checking %s failed", self._file.uri)
            return
        self._published.complete([one for part in found for one in part], self._file.lines)
        self._on_change()

    def _update(self, _: list[Json]) -> None:
        self._version = self._file.version
        self._on_change()


async def diagnostic_report(
    context: Sequence[RequestContext],
    previous_result_id: str | None,
    number: Callable[[Selection], int],
) -> Json:
    """Return the complete report of a text, unchanged if no file of its compiles has changed.

    ``number`` returns the number of a selection of rules.
    """
    if not context:
        return {"kind": "full", "items": []}
    result_id = _result_id(context, number)
    if result_id == previous_result_id:
        return {"kind": "unchanged", "resultId": result_id}
    items = [found for one in context for found in await file_diagnostics(one)]
    return {"kind": "full", "items": items, "resultId": result_id}


def _result_id(context: Sequence[RequestContext], number: Callable[[Selection], int]) -> str:
    return " ".join(state_id(one, number(one.selection)) for one in context)
