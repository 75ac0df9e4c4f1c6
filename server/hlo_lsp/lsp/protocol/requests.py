"""The requests of a client that are under way, and their answers: one to each."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcRequestCancelled

from hlo_lsp.lsp.protocol.messages import LongText, MessageId, in_parts, title_of
from hlo_lsp.lsp.request import RequestProgress, set_current_request
from hlo_lsp.lsp.scheduling import yield_to_event_loop

logger = logging.getLogger(__name__)

Work = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class _Running:
    task: "asyncio.Task[None]"
    request: RequestProgress
    token: types.ProgressToken | None  # with which the client shows it


class Requests:
    """Does the work that takes time, each request in a task of its own, and answers.

    A cancelled request is answered at once; its work ends where it takes its next rest. ``write``
    sends the text of a message, ``dumps`` makes one of whatever an answer may be.
    """

    def __init__(self, write: Callable[[str], None], dumps: Callable[[Any], str]) -> None:
        self._write = write
        self._dumps = dumps
        self._running: dict[MessageId, _Running] = {}

    def begin(self, number: MessageId, method: str, params: Any, work: Work) -> None:
        """Begin with the work of a request; its answer comes when it is done."""
        token = getattr(params, "work_done_token", None)
        request = RequestProgress(title_of(method), self._progress(token))
        part = self._progress(getattr(params, "partial_result_token", None))
        task = asyncio.ensure_future(self._work_on(number, method, request, part, work))
        self._running[number] = _Running(task, request, token)
        task.add_done_callback(lambda done: self._forget(number, done))

    def answer(self, number: MessageId, result: Any) -> None:
        """Answer a request that took no time."""
        self._answer(number, self._dumps(result))

    def refuse(self, number: MessageId | None, error: JsonRpcException) -> None:
        """Answer a request, or something that has no id, by an error."""
        said = self._dumps({"code": error.code, "message": error.message})
        self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"error":{said}}}')

    def cancel(self, number: MessageId) -> None:
        """Answer a request that nobody waits for any more, and end its work."""
        running = self._running.pop(number, None)
        if running is None or running.task.done():
            return  # it is answered
        running.task.cancel()
        running.request.end()
        self.refuse(number, JsonRpcRequestCancelled("as the client wished"))

    def cancel_shown(self, token: types.ProgressToken) -> None:
        """The same for what the client shows with a token."""
        for number in [each for each, one in self._running.items() if one.token == token]:
            self.cancel(number)

    def cancel_all(self) -> None:
        """The same for all that is under way."""
        for number in list(self._running):
            self.cancel(number)

    async def _work_on(
        self,
        number: MessageId,
        method: str,
        request: RequestProgress,
        part: Callable[[Any], None] | None,
        work: Work,
    ) -> None:
        set_current_request(request)
        try:
            result = await work()
            if part is not None:
                result = await in_parts(result, part, yield_to_event_loop)
            text = await LongText(self._dumps, yield_to_event_loop).of(result)
        except JsonRpcException as refusal:
            request.end()  # the specification wants this before the answer
            self.refuse(number, refusal)
        except Exception:
            request.end()
            logger.exception("%s has failed", method)
            self.refuse(number, fault())
        else:
            request.end()
            self._answer(number, text)

    def _answer(self, number: MessageId, result: str) -> None:
        self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"result":{result}}}')

    def _progress(self, token: types.ProgressToken | None) -> Callable[[Any], None] | None:
        """What sends values with a token; None if the client gave none."""
        if token is None:
            return None

        def send(value: Any) -> None:
            params = {"token": token, "value": value}
            self._write(self._dumps({"jsonrpc": "2.0", "method": types.PROGRESS, "params": params}))

        return send

    def _forget(self, number: MessageId, task: "asyncio.Task[None]") -> None:
        running = self._running.get(number)
        if running is not None and running.task is task:
            del self._running[number]


def fault() -> JsonRpcException:
    """The answer where something of ours has failed."""
    return JsonRpcInternalError("this is a fault of the server: its log says more")
