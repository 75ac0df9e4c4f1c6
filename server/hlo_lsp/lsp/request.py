"""The current request: its progress and its failure."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

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


# The title of each long request, and the field and type of its options in the capabilities.
_LONG_REQUESTS: dict[str, tuple[str, str, type[Any]]] = {
    types.WORKSPACE_SYMBOL: ("Searching symbols", "workspace_symbol", types.WorkspaceSymbolOptions),
    types.WORKSPACE_DIAGNOSTIC: ("Checking HLO dumps", "diagnostic", types.DiagnosticOptions),
    types.TEXT_DOCUMENT_DIAGNOSTIC: ("Checking", "diagnostic", types.DiagnosticOptions),
    types.TEXT_DOCUMENT_REFERENCES: ("Finding references", "references", types.ReferenceOptions),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (
        "Computing outline",
        "document_symbol",
        types.DocumentSymbolOptions,
    ),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (
        "Highlighting",
        "semantic_tokens",
        types.SemanticTokensOptions,
    ),
    types.TEXT_DOCUMENT_INLAY_HINT: ("Computing inlay hints", "inlay_hint", types.InlayHintOptions),
    types.TEXT_DOCUMENT_FOLDING_RANGE: (
        "Computing folding ranges",
        "folding_range",
        types.FoldingRangeOptions,
    ),
    types.TEXT_DOCUMENT_CODE_LENS: ("Computing code lenses", "code_lens", types.CodeLensOptions),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: (
        "Computing links",
        "document_link",
        types.DocumentLinkOptions,
    ),
    types.CALL_HIERARCHY_INCOMING_CALLS: (
        "Finding callers",
        "call_hierarchy",
        types.CallHierarchyOptions,
    ),
    types.CALL_HIERARCHY_OUTGOING_CALLS: (
        "Finding calls",
        "call_hierarchy",
        types.CallHierarchyOptions,
    ),
    types.TEXT_DOCUMENT_RENAME: ("Renaming", "rename", types.RenameOptions),
    types.TEXT_DOCUMENT_FORMATTING: (
        "Formatting",
        "document_formatting",
        types.DocumentFormattingOptions,
    ),
    types.WORKSPACE_EXECUTE_COMMAND: (
        "Running command",
        "execute_command",
        types.ExecuteCommandOptions,
    ),
}


def progress_title(method: str) -> str:
    """Return the title of the progress of a request."""
    return _LONG_REQUESTS[method][0] if method in _LONG_REQUESTS else "HLO"


def offer_progress(capabilities: types.ServerCapabilities) -> types.ServerCapabilities:
    """Add work-done progress to the options of all long requests.

    Options for renaming are valid only for clients that prepare it, so none are added there.
    """
    for _, name, options in _LONG_REQUESTS.values():
        field = f"{name}_provider"
        provider = getattr(capabilities, field)
        if provider is True and options is not types.RenameOptions:
            provider = options()
            setattr(capabilities, field, provider)
        if isinstance(provider, options):
            provider.work_done_progress = True
    return capabilities
