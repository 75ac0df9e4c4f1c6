"""Requests that are refused with a reason."""

from collections.abc import Callable
from contextvars import ContextVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from hlo_lsp.lsp.positions import Json


class RequestFailedError(JsonRpcException):
    """A request that makes sense but cannot be done; the message is a sentence for the user."""

    CODE = types.LSPErrorCodes.RequestFailed.value


class RequestProgress:
    """A request that is being answered.

    Long work says what it is doing; a client that gave a token for that hears of it from the first
    rest of the work on, so that quick answers flash nothing on a screen. ``send`` sends the value
    of a ``$/progress`` with the token; None where the client gave none.
    """

    def __init__(self, title: str, send: Callable[[Json], None] | None) -> None:
        self._title = title
        self._send = send
        self._message: str | None = None
        self._percentage: int | None = None
        self._has_begun = False

    @property
    def has_listener(self) -> bool:
        """Whether somebody wants to hear of it."""
        return self._send is not None

    def report(self, message: str, percentage: int | None = None) -> None:
        """Say what is done now, and how far it is altogether, from 0 to 100 and never back."""
        if percentage is not None:
            percentage = min(max(percentage, self._percentage or 0), 100)
        if (message, percentage) == (self._message, self._percentage):
            return
        self._message, self._percentage = message, percentage
        if self._has_begun:
            self._tell("report")

    def begin(self) -> None:
        """It takes longer than a moment."""
        if self._send is not None and not self._has_begun:
            self._has_begun = True
            self._tell("begin")

    def end(self) -> None:
        """It is answered: work that goes on without it is heard of no more."""
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
    """The request that this work is for; one that nobody hears of where it is for none."""
    return _current.get()


def set_current_request(request: RequestProgress) -> None:
    """From here on the work of this task is for a request."""
    _current.set(request)
