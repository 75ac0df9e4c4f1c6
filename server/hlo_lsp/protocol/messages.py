"""What a message is: JSON-RPC 2.0 as the Language Server Protocol narrows it."""

import json
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
