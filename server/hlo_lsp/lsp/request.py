"""The state of the current request: its progress and its failure."""

from collections.abc import Callable
from contextvars import ContextVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from hlo_lsp.lsp.positions import Json


class RequestFailedError(JsonRpcException):
    """A valid request that cannot be completed; the message is a sentence for the user."""

    CODE = types.LSPErrorCodes.RequestFailed.value


class RequestProgress:
    """The progress of a request.

    A client that gave a token is notified from the first pause of the work on, so that quick
    answers show no progress. ``send`` sends the value of a ``$/progress`` notification; None if the
    client gave no token.
    """

    def __init__(self, title: str, send: Callable[[Json], None] | None) -> None:
        self._title = title
        self._send = send
        self._message: str | None = None
        self._percentage: int | None = None
        self._has_begun = False

    @property
    def has_listener(self) -> bool:
        """True if the client gave a token."""
        return self._send is not None

    def report(self, message: str, percentage: int | None = None) -> None:
        """Report the current step and the percentage, which never decreases."""
        if percentage is not None:
            percentage = min(max(percentage, self._percentage or 0), 100)
        if (message, percentage) == (self._message, self._percentage):
            return
        self._message, self._percentage = message, percentage
        if self._has_begun:
            self._tell("report")

    def begin(self) -> None:
        """Show the progress, because the request takes longer than one slice of work."""
        if self._send is not None and not self._has_begun:
            self._has_begun = True
            self._tell("begin")

    def end(self) -> None:
        """End the progress; work that continues is no longer reported."""
        if self._has_begun:
            self._tell("end")
        self._send = None

    def _tell(self, kind: str) -> None:
        if self._send is None:
            return
        value: Json = {"kind": kind}
        if kind == "begin":
            value.update(title=self._title, cancellable=True)
        if kind != "end" and self._message is not None:
            value["message"] = self._message
        if kind != "end" and self._percentage is not None:
            value["percentage"] = self._percentage
        self._send(value)


NO_REQUEST = RequestProgress("", None)
_current: ContextVar[RequestProgress] = ContextVar("asking", default=NO_REQUEST)


def current_request() -> RequestProgress:
    """Return the progress of the request that the current task works for."""
    return _current.get()


def set_current_request(request: RequestProgress) -> None:
    """Set the request that the current task works for."""
    _current.set(request)
