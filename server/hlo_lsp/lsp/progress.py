"""Work-done progress of requests and of background tasks."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.progress import Progress as ProgressTokens

from hlo_lsp.text.inert import notification_text, printable


class RequestFailedError(JsonRpcException):
    """A valid request that cannot be completed; each line is a sentence for the user."""

    CODE = types.LSPErrorCodes.RequestFailed.value

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(notification_text, lines)))


class Progress:
    """The progress of a task, which the client sees from ``begin`` to ``end``.

    A ``with`` block ends it. Without a token, the client sees nothing. A ``percentage`` of None
    means that the progress has none until one is reported; it never decreases, because the protocol
    forbids it.
    """

    def __init__(
        self,
        title: str,
        tokens: ProgressTokens | None = None,
        token: types.ProgressToken | None = None,
        percentage: int | None = None,
    ) -> None:
        self._title = title
        self._tokens = tokens
        self._token = token
        self._percentage = percentage
        self._message: str | None = None
        self._has_begun = False
        self.is_cancellable = True

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def has_listener(self) -> bool:
        """True if the client gave a token."""
        return self._token is not None

    @property
    def is_cancelled(self) -> bool:
        """True if the user has cancelled the task."""
        stopped = None if self._tokens is None else self._tokens.tokens.get(self._token or "")
        return stopped is not None and stopped.cancelled()

    @property
    def last_report(self) -> tuple[str | None, int | None]:
        """The current step and the percentage."""
        return self._message, self._percentage

    def report(self, message: str | None, percentage: int | None = None) -> None:
        """Report the current step and the percentage; an equal report is sent once."""
        if percentage is not None:
            percentage = min(max(percentage, self._percentage or 0), 100)
        if (message, percentage) == (self._message, self._percentage):
            return
        self._message, self._percentage = message, percentage
        if self._has_begun and self._tokens is not None and self._token is not None:
            shown = None if message is None else printable(message)
            report = types.WorkDoneProgressReport(message=shown, percentage=percentage)
            self._tokens.report(self._token, report)

    def begin(self) -> None:
        """Show the progress, with what was reported until now."""
        if self._tokens is None or self._token is None or self._has_begun:
            return
        self._has_begun = True
        beginning = types.WorkDoneProgressBegin(
            printable(self._title),
            cancellable=self.is_cancellable,
            message=None if self._message is None else printable(self._message),
            percentage=self._percentage,
        )
        self._tokens.begin(self._token, beginning)

    def end(self) -> None:
        """End the progress; the rest of the work is not reported."""
        if self._has_begun and self._tokens is not None and self._token is not None:
            self._tokens.end(self._token, types.WorkDoneProgressEnd())
        self._tokens = None


class BackgroundProgress(Progress):
    """The progress of a background task, from begin to end of a ``with`` block.

    The task does not wait for the client to create the token. A client that does not support or
    create the token receives nothing. An indefinite progress has no percentage and cannot be
    cancelled.
    """

    def __init__(self, server: LanguageServer, title: str, *, is_indefinite: bool = False) -> None:
        percentage = None if is_indefinite else 0
        super().__init__(title, server.work_done_progress, str(uuid4()), percentage)
        self.is_cancellable = not is_indefinite
        self._server = server
        self._creation: asyncio.Task[None] | None = None
        self._has_ended = False

    def __enter__(self) -> "BackgroundProgress":
        if get_capability(self._server.client_capabilities, "window.work_done_progress"):
            self._creation = asyncio.ensure_future(self._create())
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended = True
        if self._has_begun:
            self.end()

    async def _create(self) -> None:
        try:
            await self._server.work_done_progress.create_async(self._token or "")
        except JsonRpcException:
            return
        self.begin()
        if self._has_ended:
            self.end()


_NO_REQUEST = Progress("")
_current: ContextVar[Progress] = ContextVar("current_request", default=_NO_REQUEST)


def current_request() -> Progress:
    """Return the progress of the request that the current task works for."""
    return _current.get()


# The title of the progress of each long request, and the capability with its options.
_LONG_REQUESTS = {
    types.WORKSPACE_SYMBOL: ("Searching symbols", "workspace_symbol_provider"),
    types.WORKSPACE_DIAGNOSTIC: ("Checking HLO dumps", "diagnostic_provider"),
    types.TEXT_DOCUMENT_DIAGNOSTIC: ("Checking", "diagnostic_provider"),
    types.TEXT_DOCUMENT_REFERENCES: ("Finding references", "references_provider"),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: ("Computing outline", "document_symbol_provider"),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: ("Highlighting", "semantic_tokens_provider"),
    types.TEXT_DOCUMENT_INLAY_HINT: ("Computing inlay hints", "inlay_hint_provider"),
    types.TEXT_DOCUMENT_FOLDING_RANGE: ("Computing folding ranges", "folding_range_provider"),
    types.TEXT_DOCUMENT_CODE_LENS: ("Computing code lenses", "code_lens_provider"),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: ("Computing links", "document_link_provider"),
    types.CALL_HIERARCHY_INCOMING_CALLS: ("Finding callers", "call_hierarchy_provider"),
    types.CALL_HIERARCHY_OUTGOING_CALLS: ("Finding calls", "call_hierarchy_provider"),
    types.TEXT_DOCUMENT_RENAME: ("Renaming", "rename_provider"),
    types.TEXT_DOCUMENT_FORMATTING: ("Formatting", "document_formatting_provider"),
    types.WORKSPACE_EXECUTE_COMMAND: ("Running command", "execute_command_provider"),
}


@contextmanager
def start_request(
    method: str, tokens: ProgressTokens, token: types.ProgressToken | None
) -> Iterator[None]:
    """Set the request that the current task works for, and end its progress afterwards."""
    title = _LONG_REQUESTS[method][0] if method in _LONG_REQUESTS else "HLO"
    with Progress(title, tokens, token) as progress:  # which must end before the response
        _current.set(progress)
        yield


def offer_progress(capabilities: types.ServerCapabilities) -> None:
    """Add work-done progress to the options of all long requests."""
    for _, name in _LONG_REQUESTS.values():
        provider = getattr(capabilities, name)
        if hasattr(provider, "work_done_progress"):
            provider.work_done_progress = True
        elif name != "rename_provider":  # whose options are for clients that prepare renaming
            setattr(capabilities, name, types.WorkDoneProgressOptions(work_done_progress=True))
