"""JSON-RPC messages as the Language Server Protocol defines them, and requests in progress."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
)

from hlo_lsp.lsp.request import RequestProgress, progress_title, set_current_request
from hlo_lsp.lsp.scheduling import run_in_slices, yield_to_event_loop
from hlo_lsp.text.checkpoint import checkpoint

logger = logging.getLogger(__name__)

MessageId = int | str
Work = Callable[[], Any]
Json = dict[str, Any]
_ITEMS_PER_CHECKPOINT = 50
_ITEMS_PER_PARTIAL_RESULT = 1000
_NUMBERS_PER_TOKEN = 5


class InvalidMessageError(Exception):
    """A body that is not a message; ``error`` is the response, with ``id`` if that is known."""

    def __init__(self, error: JsonRpcException, message_id: MessageId | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.id = message_id


def read_message(body: bytes | None) -> Json:
    """Return a request, a notification (without ``id``), or a response (without ``method``).

    Raises:
        InvalidMessageError: the body is missing, not JSON, or not a message.
    """
    if body is None:
        raise InvalidMessageError(JsonRpcParseError("missing or invalid Content-Length"))
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidMessageError(JsonRpcParseError("invalid JSON")) from None
    if not isinstance(data, dict):
        raise InvalidMessageError(JsonRpcInvalidRequest("a message must be an object"))
    message_id = data.get("id")
    is_valid_id = isinstance(message_id, int | str) and not isinstance(message_id, bool)
    problem = None
    if data.get("jsonrpc") != "2.0":
        problem = 'jsonrpc must be "2.0"'
    elif "method" in data and not isinstance(data["method"], str):
        problem = "method must be a string"
    elif "method" in data and "id" in data and not is_valid_id:
        problem = "id must be an integer or a string"
    elif "method" not in data and ("id" not in data or not data.keys() & {"result", "error"}):
        problem = "a message must have a method or a result"
    if problem is not None:
        raise InvalidMessageError(
            JsonRpcInvalidRequest(problem), message_id if is_valid_id else None
        )
    return data


def internal_error() -> JsonRpcException:
    """Return the error for a failed handler."""
    return JsonRpcInternalError("internal error of the server; see its log")


class PendingRequests:
    """Runs each asynchronous request in a task, and sends exactly one response to it.

    A cancelled request is answered immediately; its work ends at its next checkpoint. ``write``
    sends the text of a message, and ``dumps`` serializes any result.
    """

    def __init__(self, write: Callable[[str], None], dumps: Callable[[Any], str]) -> None:
        self._write = write
        self._dumps = dumps
        self._pending: dict[MessageId, _PendingRequest] = {}

    def start(self, message_id: MessageId, method: str, params: Any, work: Work) -> None:
        """Start the work of a request, which sends the response when it ends."""
        token = getattr(params, "work_done_token", None)
        progress = RequestProgress(progress_title(method), self._sender(token))
        send_part = self._sender(getattr(params, "partial_result_token", None))
        task = asyncio.ensure_future(self._run(message_id, method, progress, send_part, work))
        self._pending[message_id] = pending = _PendingRequest(task, progress, token)
        task.add_done_callback(
            lambda _: (
                self._pending.pop(message_id) if self._pending.get(message_id) is pending else None
            )
        )

    def respond(self, message_id: MessageId, result: str) -> None:
        """Send a result that is serialized already."""
        self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(message_id)},"result":{result}}}')

    def respond_error(self, message_id: MessageId | None, error: JsonRpcException) -> None:
        """Send an error response; the id is None if the message has none."""
        text = self._dumps({"code": error.code, "message": error.message})
        self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(message_id)},"error":{text}}}')

    def cancel(self, message_id: MessageId) -> None:
        """Cancel a request, unless its response has been sent."""
        pending = self._pending.pop(message_id, None)
        if pending is not None and not pending.task.done():
            pending.task.cancel()
            pending.progress.end()
            self.respond_error(message_id, JsonRpcRequestCancelled("cancelled by the client"))

    def cancel_token(self, token: types.ProgressToken) -> None:
        """Cancel the requests with this token for work-done progress."""
        for message_id in [
            message_id for message_id, pending in self._pending.items() if pending.token == token
        ]:
            self.cancel(message_id)

    def cancel_all(self) -> None:
        """Cancel all requests."""
        for message_id in list(self._pending):
            self.cancel(message_id)

    async def _run(
        self,
        message_id: MessageId,
        method: str,
        progress: RequestProgress,
        send_part: Callable[[Any], None] | None,
        work: Work,
    ) -> None:
        set_current_request(progress)
        error: JsonRpcException | None = None
        try:
            result = await work()
            if send_part is not None:
                result = await _send_partial_results(result, send_part)
            text = await run_in_slices(partial(_serialize, result, self._dumps))
        except JsonRpcException as refusal:
            error = refusal
        except Exception:
            logger.exception("%s failed", method)
            error = internal_error()
        progress.end()  # the specification requires this before the response
        if error is None:
            self.respond(message_id, text)
        else:
            self.respond_error(message_id, error)

    def _sender(self, token: types.ProgressToken | None) -> Callable[[Any], None] | None:
        """Return a function that sends progress values with a token, or None without a token."""
        if token is None:
            return None

        def send(value: Any) -> None:
            params = {"token": token, "value": value}
            self._write(self._dumps({"jsonrpc": "2.0", "method": types.PROGRESS, "params": params}))

        return send


@dataclass(frozen=True, slots=True)
class _PendingRequest:
    task: "asyncio.Task[None]"
    progress: RequestProgress
    token: types.ProgressToken | None


def _serialize(value: Any, dumps: Callable[[Any], str]) -> str:
    """Return a value as JSON, with checkpoints in long lists."""
    if isinstance(value, dict):
        members = [f"{dumps(key)}:{_serialize(item, dumps)}" for key, item in value.items()]
        return f"{{{','.join(members)}}}"
    if not isinstance(value, list):
        return dumps(value)
    if len(value) <= _ITEMS_PER_CHECKPOINT:
        return f"[{','.join([_serialize(item, dumps) for item in value])}]"
    pieces = []
    for first in range(0, len(value), _ITEMS_PER_CHECKPOINT):
        pieces.append(dumps(value[first : first + _ITEMS_PER_CHECKPOINT])[1:-1])
        checkpoint()
    return f"[{','.join(pieces)}]"


async def _send_partial_results(result: Any, send: Callable[[Any], None]) -> Any:
    """Send the items of a list or the numbers of tokens, and return the rest of the result."""
    is_tokens = isinstance(result, dict) and isinstance(result.get("data"), list)
    if not is_tokens and not isinstance(result, list):
        return result
    items = result["data"] if is_tokens else result
    count = _ITEMS_PER_PARTIAL_RESULT * (_NUMBERS_PER_TOKEN if is_tokens else 1)
    for first in range(0, len(items), count):
        part = items[first : first + count]
        send({"data": part} if is_tokens else part)
        await yield_to_event_loop()
    return {**result, "data": []} if is_tokens else []
