"""What a message is: JSON-RPC 2.0 as the Language Server Protocol narrows it."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError

MessageId = int | str


@dataclass(frozen=True, slots=True)
class Message:
    """A request, a notification (``number`` is None) or, without a method, a response."""

    method: str | None
    number: MessageId | None
    data: dict[str, Any]


class WrongMessageError(Exception):
    """Something that is no message; ``error`` is the answer, to ``number`` if that is known."""

    def __init__(self, error: JsonRpcException, number: MessageId | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.number = number


def read_message(body: bytes | None) -> Message:
    """Read a body.

    Raises:
        WrongMessageError: it is no JSON, or no message.
    """
    if body is None:
        raise WrongMessageError(JsonRpcParseError("this is no header with a length"))
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise WrongMessageError(JsonRpcParseError("this is no JSON")) from None
    if not isinstance(data, dict):
        raise WrongMessageError(JsonRpcInvalidRequest("a message is one object"))
    number, method = data.get("id"), data.get("method")
    if not _is_id(number):
        number = None
    if data.get("jsonrpc") != "2.0":
        raise WrongMessageError(JsonRpcInvalidRequest("only version 2.0 is spoken here"), number)
    if "method" in data:
        if not isinstance(method, str):
            raise WrongMessageError(JsonRpcInvalidRequest("a method is a text"), number)
        if "id" in data and number is None:
            raise WrongMessageError(JsonRpcInvalidRequest("an id is a number or a text"))
    elif "id" not in data or not ("result" in data or "error" in data):
        raise WrongMessageError(JsonRpcInvalidRequest("a message has a method or a result"), number)
    return Message(method, number, data)


def is_notification(method: str) -> bool:
    """Whether the specification knows a method, and as one that is not answered."""
    known = types.METHOD_TO_TYPES.get(method)
    return known is not None and known[1] is None


def _is_id(said: object) -> bool:
    return isinstance(said, int | str) and not isinstance(said, bool)


# What is said to be done for a request, and where the server says what it offers of it.
_LONG: tuple[tuple[str, str, str, type[Any]], ...] = (
    (types.WORKSPACE_SYMBOL, "Finding names", "workspace_symbol", types.WorkspaceSymbolOptions),
    (types.WORKSPACE_DIAGNOSTIC, "Checking HLO dumps", "diagnostic", types.DiagnosticOptions),
    (types.TEXT_DOCUMENT_DIAGNOSTIC, "Checking", "diagnostic", types.DiagnosticOptions),
    (types.TEXT_DOCUMENT_REFERENCES, "Finding mentions", "references", types.ReferenceOptions),
    (
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
        "Making the outline",
        "document_symbol",
        types.DocumentSymbolOptions,
    ),
    (
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        "Colouring",
        "semantic_tokens",
        types.SemanticTokensOptions,
    ),
    (types.TEXT_DOCUMENT_INLAY_HINT, "Making hints", "inlay_hint", types.InlayHintOptions),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, "Folding", "folding_range", types.FoldingRangeOptions),
    (types.TEXT_DOCUMENT_CODE_LENS, "Making lenses", "code_lens", types.CodeLensOptions),
    (types.TEXT_DOCUMENT_DOCUMENT_LINK, "Linking", "document_link", types.DocumentLinkOptions),
    (
        types.CALL_HIERARCHY_INCOMING_CALLS,
        "Finding calls",
        "call_hierarchy",
        types.CallHierarchyOptions,
    ),
    (
        types.CALL_HIERARCHY_OUTGOING_CALLS,
        "Finding calls",
        "call_hierarchy",
        types.CallHierarchyOptions,
    ),
    (types.TEXT_DOCUMENT_RENAME, "Renaming", "rename", types.RenameOptions),
    (
        types.TEXT_DOCUMENT_FORMATTING,
        "Formatting",
        "document_formatting",
        types.DocumentFormattingOptions,
    ),
    (
        types.WORKSPACE_EXECUTE_COMMAND,
        "Running a command",
        "execute_command",
        types.ExecuteCommandOptions,
    ),
)
_TITLES = {method: title for method, title, _, _ in _LONG}


def title_of(method: str) -> str:
    """What is done for a request, in words."""
    return _TITLES.get(method, "HLO")


def with_progress(offered: types.ServerCapabilities) -> types.ServerCapabilities:
    """Offer to say how far each long work is.

    Options of renaming may only be given to a client that prepares it.
    """
    for _, _, name, options in _LONG:
        provider = f"{name}_provider"
        offer = getattr(offered, provider)
        if offer is True and options is not types.RenameOptions:
            offer = options()
            setattr(offered, provider, offer)
        if isinstance(offer, options):
            offer.work_done_progress = True
    return offered


Dumps = Callable[[Any], str]
Rest = Callable[[], Awaitable[None]]
_FEW = 50  # things that are looked into one by one
_PIECE = 50  # things written in one go
_PART = 1000  # things in a partial result; tokens count five numbers each
_SLICE = 0.004  # seconds of writing between two rests


class LongText:
    """Writes JSON; ``dumps`` writes what is short, ``rest`` lets others have their turn."""

    def __init__(self, dumps: Dumps, give_way: Rest) -> None:
        self._dumps = dumps
        self._give_way = give_way
        self._until = time.monotonic() + _SLICE

    async def of(self, value: Any) -> str:
        """The text of a value."""
        if isinstance(value, dict):
            parts = [f"{self._dumps(key)}:{await self.of(each)}" for key, each in value.items()]
            return f"{{{','.join(parts)}}}"
        if not isinstance(value, list):
            return self._dumps(value)
        if len(value) <= _FEW:
            return f"[{','.join([await self.of(each) for each in value])}]"
        pieces = []
        for first in range(0, len(value), _PIECE):
            pieces.append(self._dumps(value[first : first + _PIECE])[1:-1])
            if time.monotonic() > self._until:
                await self._give_way()
                self._until = time.monotonic() + _SLICE
        return f"[{','.join(pieces)}]"


async def in_parts(result: Any, send: Callable[[Any], None], give_way: Rest) -> Any:
    """Send a result in parts as far as its kind allows it, and return what is left to be answered.

    Lists come in parts, and the numbers of tokens; other results are one.
    """
    if isinstance(result, list):
        async for part in _parts(result, _PART, give_way):
            send(part)
        return []
    if isinstance(result, dict) and isinstance(result.get("data"), list):
        async for part in _parts(result["data"], 5 * _PART, give_way):
            send({"data": part})
        return {**result, "data": []}
    return result


async def _parts(items: list[Any], count: int, give_way: Rest) -> AsyncIterator[list[Any]]:
    for first in range(0, len(items), count):
        yield items[first : first + count]
        await give_way()
