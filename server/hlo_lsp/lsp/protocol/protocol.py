"""Which message is answered when, and how: what pygls leaves open or does otherwise."""

import inspect
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from hlo_lsp.lsp.protocol.messages import (
    Message,
    MessageId,
    WrongMessageError,
    is_notification,
    read_message,
    with_progress,
)
from hlo_lsp.lsp.protocol.requests import Requests, Work, fault
from hlo_lsp.lsp.request import RequestFailedError

logger = logging.getLogger(__name__)

_NOTEBOOKS = "notebookDocument/"


class HloProtocol(LanguageServerProtocol):
    """Each message in its order, and one answer to each request, with the code of a specification.

    Documents are handed on to the registered handlers and none kept here: those of pygls split
    their whole text at every question, which takes 140 ms an edit at 50 MB, and break lines at
    characters that the protocol does not.

    Requests of the client and of the server have their ids from different people: they are kept
    apart.
    """

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        _leave_out_nothing_said(converter, types.SignatureInformation, types.SignatureHelp)
        self._requests = Requests(self._write, self._dumps)
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

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Any:
        """Say what is offered, and of what a client may hear how far it is."""
        result: types.InitializeResult = yield from super().lsp_initialize(params)
        return types.InitializeResult(with_progress(result.capabilities), result.server_info)

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: types.WorkDoneProgressCancelParams) -> Any:
        """End what is shown with a token: a request of the client, or work in the background."""
        self._requests.cancel_shown(params.token)
        background = self.progress.tokens.get(params.token)
        if background is not None:
            background.cancel()

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: Any) -> Any:
        """Answer what is under way, and nothing after it."""
        self._requests.cancel_all()
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
            self._requests.refuse(wrong.number, wrong.error)
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
            handler = self._get_handler(method)
            params = self._params(method, data)
            work = _work(method, handler, params)
            if inspect.iscoroutinefunction(work):
                self._requests.begin(number, method, params, work)
            else:
                self._requests.answer(number, _at_once(work))
        except JsonRpcMethodNotFound as refusal:
            logger.warning("%.100s is not answered here", method)
            self._requests.refuse(number, refusal)
        except JsonRpcException as refusal:
            self._requests.refuse(number, refusal)
        except Exception:
            logger.exception("%s has failed", method)
            self._requests.refuse(number, fault())

    def _take_notification(self, method: str, data: dict[str, Any]) -> None:
        try:
            if method == types.CANCEL_REQUEST:
                self._requests.cancel(self._params(method, data).id)
                return
            if method != types.EXIT:
                self._check_order(method)
            if method in types.METHOD_TO_TYPES and not is_notification(method):
                raise JsonRpcInvalidRequest("without an id it has no answer")
            handler = self._get_handler(method)
            _at_once(partial(handler, self._params(method, data)))
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
                future.set_exception(RequestFailedError(f"the client says: {error.message}"))
            else:
                response = self._converter.structure(data, result_type)
                future.set_result(response.result)
        except Exception:  # whatever cattrs raises of what a client may say
            logger.debug("the answer to %s cannot be read", number, exc_info=True)
            future.set_exception(RequestFailedError("the client has answered something else"))

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

    def _send_data(self, data: Any) -> None:
        """Send a message that pygls has made."""
        self._write(self._dumps(data))

    def _dumps(self, data: Any) -> str:
        return json.dumps(data, default=self._serialize_message, separators=(",", ":"))

    def _write(self, text: str) -> None:
        if self.writer is not None:
            body = text.encode()
            self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def _leave_out_nothing_said(converter: Any, *kinds: type[Any]) -> None:
    """Write no ``null`` where there is nothing to say; of kinds in each other the inner ones first.

    lsprotocol writes one wherever the newest version of the specification has a meaning for it,
    which older clients do not know.
    """
    for kind in kinds:
        write = converter.get_unstructure_hook(kind)
        converter.register_unstructure_hook(kind, partial(_without_none, write))


def _without_none(write: Callable[[Any], dict[str, Any]], said: Any) -> dict[str, Any]:
    return {name: value for name, value in write(said).items() if value is not None}


def _work(method: str, handler: Callable[..., Any], params: Any) -> Work:
    """What is to be done for a request."""
    if method != types.WORKSPACE_EXECUTE_COMMAND:
        return partial(handler, params)
    command, args, named = next(handler(params))  # that of pygls names the one of the command
    try:
        inspect.signature(command).bind(*args, **named)
    except TypeError as wrong:
        raise JsonRpcInvalidParams(f"the arguments of the command: {wrong}") from None
    return partial(command, *args, **named)


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
