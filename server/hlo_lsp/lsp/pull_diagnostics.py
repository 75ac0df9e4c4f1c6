"""Diagnostics that a client asks for."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from lsprotocol import types

from hlo_lsp.checks.config.selection import Selection
from hlo_lsp.lsp.checking import PartialDiagnostics, PublishedDiagnostics, cached_findings, state_id
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.push_diagnostics import file_diagnostics
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile

logger = logging.getLogger(__name__)
Reporter = Callable[[str], AbstractContextManager[object]]

_QUICK_ANSWER_SECONDS = (
    0.01  # seconds that the pull of a large compile waits for the end of the look
)
_PARTIAL_INTERVAL_SECONDS = 1.0  # seconds between two lists that are not complete


class DiagnosticsPuller:
    """Answers pulls of open files.

    To look at all of a large compile takes seconds. A client that can be told to ask again, by
    ``refresh``, has an answer at once: what is found by then, and what may still hold of the look
    before. ``reporter`` tells the user, by a title, that it goes on.
    """

    def __init__(
        self, session: Session, refresh: Callable[[], Awaitable[None]], reporter: Reporter
    ) -> None:
        self._session = session
        self._refresh = refresh
        self._reporter = reporter
        self._looks: dict[str, _PendingCheck] = {}
        self._shown: dict[str, PublishedDiagnostics] = {}
        self._telling: set[asyncio.Future[None]] = set()

    async def pull(self, params: types.DocumentDiagnosticParams) -> Json:
        """The answer to a pull; without a result id if it is not complete."""
        context = await self._session.contexts(params.text_document)
        number = self._session.selections.number
        previous = params.previous_result_id
        file = self._session.library.open_files.get(params.text_document.uri)
        if file is not None and self._is_slow(context) and _result_id(context, number) != previous:
            look = self._look(file)
            await asyncio.wait((look.task,), timeout=_QUICK_ANSWER_SECONDS)
            if not look.task.done():
                return {"kind": "full", "items": look.items()}
        return await diagnostic_report(context, previous, number)

    def closed(self, file: DumpFile) -> None:
        """A file was closed: nobody asks for it any more."""
        look = self._looks.pop(file.uri, None)
        if look is not None:
            look.task.cancel()
        self._shown.pop(file.uri, None)

    def _is_slow(self, context: Sequence[RequestContext]) -> bool:
        return self._session.client.can_refresh_diagnostics and any(
            one.is_large and cached_findings(one) is None for one in context
        )

    def _look(self, file: DumpFile) -> "_PendingCheck":
        look = self._looks.get(file.uri)
        if look is None or look.task.done():
            shown = self._shown.setdefault(file.uri, PublishedDiagnostics())
            work = _PendingCheck(self._session, file, shown, self._ask_again, self._reporter)
            look = self._looks[file.uri] = work
        return look

    def _ask_again(self) -> None:
        # Also while it has not answered the last time: what it asked then may have come too early.
        telling = asyncio.ensure_future(self._refresh())
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)


class _PendingCheck:
    """A look at a file that goes on when its first question was answered."""

    def __init__(
        self,
        session: Session,
        file: DumpFile,
        shown: PublishedDiagnostics,
        news: Callable[[], None],
        reporter: Reporter,
    ) -> None:
        self._session = session
        self._file = file
        self._shown = shown
        self._news = news
        self._reporter = reporter
        self._version: int | None = None  # of the text that the list is about
        self.task = asyncio.ensure_future(self._work())

    def items(self) -> list[Json]:
        """What can be said by now."""
        if self._version == self._file.version:
            return self._shown.sent
        return list(self._shown.left(None, self._file.lines))

    async def _work(self) -> None:
        document = types.TextDocumentIdentifier(self._file.uri)
        look = PartialDiagnostics(self._file, self._shown, self._tell, _PARTIAL_INTERVAL_SECONDS)
        try:
            with self._reporter(f"Checking {self._file.title}"):
                found = await self._session.answer_each(
                    document, partial(file_diagnostics, tell=look.tell)
                )
        except Exception:  # a fault of ours: whoever asks next is answered by it
            logger.exception("nothing can be said of %s", self._file.uri)
            return
        self._shown.complete([one for part in found for one in part], self._file.lines)
        self._news()

    def _tell(self, _: list[Json]) -> None:
        self._version = self._file.version
        self._news()


async def diagnostic_report(
    context: Sequence[RequestContext],
    previous_result_id: str | None,
    number: Callable[[Selection], int],
) -> Json:
    """The whole answer to a pull: unchanged if no file in the text and no compile of one has.

    ``number`` tells selections of rules apart.
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
