"""Which message is answered when, and how: what pygls leaves open or does otherwise."""

import asyncio
import inspect
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from hlo_lsp.features.refusal import RefusedError
from hlo_lsp.protocol.messages import (
    Message,
    MessageId,
    WrongMessageError,
    is_notification,
    read_message,
)

logger = logging.getLogger(__name__)

_NOTEBOOKS = "notebookDocument/"
Work = Callable[[], Any]


class HloProtocol(LanguageServerProtocol):
    """Each message in its order, and one answer to each request, with the code of a specification.

    Documents are handed on to the registered handlers and none kept here: those of pygls split
    their whole text at every question, which takes 140 ms an edit at 50 MB, and break lines at
    characters that the protocol does not.

    Requests of the client and of the server have their ids from different people: they are kept
    apart. A cancelled request is answered at once; its work ends where it takes its next rest.
    """

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        self._running: dict[MessageId, asyncio.Task[None]] = {}
        self.ended: Callable[[int], None] = lambda _: None  # is told the exit status
        for method in [name for name in self.fm.builtin_features if name.startswith(_NOTEBOOKS)]:
            del self.fm.builtin_features[method]  # nobody asks them anything

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        """Hand on to the registered handler."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        """Hand on to the registered handler."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        """Hand on to the registered handler."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: Any) -> Any:
        """Answer what is under way, and nothing after it."""
        for number in list(self._running):
            self._cancel(number)
        self._shutdown = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> Any:
        """End the read loop; pygls would raise SystemExit inside of the event loop."""
        self.ended(0 if self._shutdown else 1)

    def receive(self, body: bytes | None) -> None:
        """Take in the body of a message; None for something that had none."""
        try:
            message = read_message(body)
        except WrongMessageError as wrong:
            logger.info("something that is no message has come: %s", wrong)
            self._refuse(wrong.number, wrong.error)
            return
        if message.method is None:
            self._take_response(message)
        elif message.number is None:
            self._take_notification(message.method, message.data)
        else:
            self._take_request(message.number, message.method, message.data)

    def notify_json(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters are JSON already: quick, however many there are."""
        self._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    def _take_request(self, number: MessageId, method: str, data: dict[str, Any]) -> None:
        try:
            self._check_order(method)
            if is_notification(method):
                raise JsonRpcMethodNotFound(f"{method} is no request")
            work = self._work(method, data)
            if not inspect.iscoroutinefunction(work):
                self._answer(number, method, _at_once(work))
                return
        except JsonRpcMethodNotFound as refusal:
            logger.warning("%.100s is not answered here", method)
            self._refuse(number, refusal)
            return
        except JsonRpcException as refusal:
            self._refuse(number, refusal)
            return
        except Exception:
            logger.exception("%s has failed", method)
            self._refuse(number, _fault())
            return
        task = asyncio.ensure_future(self._answer_later(number, method, work))
        self._running[number] = task
        task.add_done_callback(lambda done: self._forget(number, done))

    def _take_notification(self, method: str, data: dict[str, Any]) -> None:
        try:
            if method == types.CANCEL_REQUEST:
                self._cancel(self._params(method, data).id)
                return
            if method != types.EXIT:
                self._check_order(method)
            if method in types.METHOD_TO_TYPES and not is_notification(method):
                raise JsonRpcInvalidRequest("without an id it has no answer")
            _at_once(self._work(method, data))
        except JsonRpcException as refusal:
            logger.info("%.100s is passed over: %.200s", method, refusal.message)
        except Exception:
            logger.exception("%s has failed", method)

    def _take_response(self, message: Message) -> None:
        """An answer to a request of the server; one that makes no sense is none, but an end."""
        number, data = message.number, message.data
        if number is None:
            return  # to something that we have not asked
        future = self._request_futures.pop(number, None)
        result_type = self._result_types.pop(number, None)
        if future is None or future.done():
            logger.info("an answer has come to %s, which waits for none", number)
            return
        try:
            if "error" in data:
                error = self._converter.structure(data["error"], types.ResponseError)
                future.set_exception(RefusedError(f"the client says: {error.message}"))
            else:
                response = self._converter.structure(data, result_type)
                future.set_result(response.result)
        except Exception:  # whatever cattrs raises of what a client may say
            logger.debug("the answer to %s cannot be read", number, exc_info=True)
            future.set_exception(RefusedError("the client has answered something else"))

    def _check_order(self, method: str) -> None:
        """Keep the order that the specification wants: initialize, all else, shutdown, exit."""
        if self._shutdown:
            raise JsonRpcInvalidRequest("the server is shutting down")
        if self._workspace is None and method != types.INITIALIZE:
            raise JsonRpcServerNotInitialized("initialize comes first")
        if self._workspace is not None and method == types.INITIALIZE:
            raise JsonRpcInvalidRequest("the server is initialized already")

    def _params(self, method: str, data: dict[str, Any]) -> Any:
        """The parameters of a message as the specification has them, or as they are."""
        known = types.METHOD_TO_TYPES.get(method)
        said = data.get("params")
        if known is None:
            return said
        kind: Any = known[2]
        if kind is None:
            return None
        try:
            return self._converter.structure(said, kind)
        except Exception:  # whatever cattrs raises of what a client may say
            logger.debug("wrong parameters for %s", method, exc_info=True)
            raise JsonRpcInvalidParams("these are no parameters for it") from None

    def _work(self, method: str, data: dict[str, Any]) -> Work:
        """What is to be done about a message. What takes no time is done at once."""
        handler = self._get_handler(method)
        work = partial(handler, self._params(method, data))
        if method != types.WORKSPACE_EXECUTE_COMMAND:
            return work
        command, args, named = next(work())  # the handler of pygls names the one of the command
        return partial(command, *args, **named)

    async def _answer_later(self, number: MessageId, method: str, work: Work) -> None:
        try:
            result = await work()
        except JsonRpcException as refusal:
            self._refuse(number, refusal)
        except Exception:
            logger.exception("%s has failed", method)
            self._refuse(number, _fault())
        else:
            self._answer(number, method, result)

    def _cancel(self, number: MessageId) -> None:
        """Answer a request that nobody waits for any more, and end its work."""
        task = self._running.pop(number, None)
        if task is None or task.done():
            return  # it is answered
        task.cancel()
        self._refuse(number, JsonRpcRequestCancelled("as the client wished"))

    def _forget(self, number: MessageId, task: "asyncio.Task[None]") -> None:
        if self._running.get(number) is task:
            del self._running[number]

    def _answer(self, number: MessageId, method: str, result: Any) -> None:
        try:
            self._write({"jsonrpc": "2.0", "id": number, "result": result})
        except (TypeError, ValueError, RecursionError):
            logger.exception("the answer to %s cannot be written", method)
            self._refuse(number, _fault())

    def _refuse(self, number: MessageId | None, error: JsonRpcException) -> None:
        said = self._converter.unstructure(error.to_response_error())
        self._write({"jsonrpc": "2.0", "id": number, "error": said})

    def _send_data(self, data: Any) -> None:
        """Send a message that pygls has made."""
        self._write(data)

    def _write(self, data: Any) -> None:
        if self.writer is None:
            return
        body = json.dumps(data, default=self._serialize_message, separators=(",", ":")).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def _at_once(work: Work) -> Any:
    """Do what takes no time: an edit counts for the question after it.

    Handlers of pygls name others, one after the other, which they want to be called.
    """
    steps: Any = work()
    is_done = not inspect.isgenerator(steps)
    value: Any = steps if is_done else None
    while not is_done:
        try:
            handler, args, named = steps.send(value)
            value = handler(*args, **(named or {}))
        except StopIteration as done:
            value, is_done = done.value, True
    return value


def _fault() -> JsonRpcException:
    return JsonRpcInternalError("this is a fault of the server: its log says more")
