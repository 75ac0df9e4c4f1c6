"""Work-done progress: how far long work is, and whether the user still wants it."""

import asyncio
from types import TracebackType
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer


class Progress:
    """Long work as the editor shows it, from the beginning to the end of a ``with`` block.

    The work does not wait for the client to agree to a token: what was reported until then is said
    with the beginning. A client that shows no progress, or does not agree, is told nothing. Of work
    that is ``boundless`` nobody knows how far it is, and nobody stops it.
    """

    def __init__(self, server: LanguageServer, title: str, *, boundless: bool = False) -> None:
        self._server = server
        self._title = title
        self._is_boundless = boundless
        self._token = str(uuid4())
        self._percentage = 0
        self._message: str | None = None
        self._has_begun = False
        self._has_ended = False
        self._creation: asyncio.Task[None] | None = None

    def __enter__(self) -> "Progress":
        window = self._server.client_capabilities.window
        if window is not None and window.work_done_progress:
            self._creation = asyncio.ensure_future(self._create())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._has_ended = True
        if self._has_begun:
            self._end()

    @property
    def is_cancelled(self) -> bool:
        """Whether the user has asked to stop."""
        stopped = self._server.work_done_progress.tokens.get(self._token)
        return stopped is not None and stopped.cancelled()

    def report(self, percentage: int, message: str | None = None) -> None:
        """Say how far the work is, from 0 to 100; sent once for each number.

        It never goes back, which the protocol forbids.
        """
        percentage = min(max(percentage, self._percentage), 100)
        if percentage == self._percentage:
            return
        self._percentage, self._message = percentage, message
        if self._has_begun:
            report = types.WorkDoneProgressReport(message=message, percentage=percentage)
            self._server.work_done_progress.report(self._token, report)

    async def _create(self) -> None:
        try:
            await self._server.work_done_progress.create_async(self._token)
        except JsonRpcException:
            return
        self._has_begun = True
        beginning = types.WorkDoneProgressBegin(
            self._title,
            cancellable=not self._is_boundless,
            message=self._message,
            percentage=None if self._is_boundless else self._percentage,
        )
        self._server.work_done_progress.begin(self._token, beginning)
        if self._has_ended:
            self._end()

    def _end(self) -> None:
        self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
