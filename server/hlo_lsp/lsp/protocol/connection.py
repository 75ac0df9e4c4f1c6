"""The connection to a client: framing, the order of messages, and the read loop.

pygls' own versions are not enough for large files: its documents are split into lines at every
request (140 ms per edit at 50 MB), its handlers cannot be cancelled while they run, and malformed
messages stay without a response. Only its public interface is used.
"""

import asyncio
import inspect
import json
import logging
import os
import re
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from enum import Enum
from functools import partial
from typing import Any, BinaryIO
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcServerNotInitialized,
)
from pygls.io_ import StdinAsyncReader, StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from hlo_lsp.lsp.protocol.messages import (
    InvalidMessageError,
    Json,
    PendingRequests,
    Work,
    internal_error,
    read_message,
)
from hlo_lsp.lsp.request import RequestFailedError, offer_progress

logger = logging.getLogger(__name__)

Reader = asyncio.StreamReader | StdinAsyncReader
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)
_MAX_BODY_BYTES = 1 << 30
_MAX_BUFFERED_BYTES = 1 << 24  # the pipe is paused when more bytes of a message are waiting
_READ_SECONDS = 0.005  # of reading messages before tasks run


async def read_bodies(reader: Reader) -> AsyncIterator[bytes | None]:
    """Yield the bodies of all messages; None for a header without a valid length.

    After a body that is longer than its header says, reading continues with the next header line.

    Raises:
        asyncio.IncompleteReadError: the input ends inside a body.
    """
    length: int | None = None
    has_header = False
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # the line exceeds the buffer, and the reader has dropped it
            has_header = True
            continue
        if not line:
            return
        if line.strip():
            has_header = True
            match = _LENGTH.search(line)
            if match is not None and int(match[1]) <= _MAX_BODY_BYTES:
                length = int(match[1])
        elif has_header:
            yield None if length is None else await reader.readexactly(length)
            length, has_header = None, False


class HloProtocol(LanguageServerProtocol):
    """Dispatch of messages, in their order and with one response to each request."""

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        for kind in (types.SignatureInformation, types.SignatureHelp):  # the inner type first
            _omit_none(converter, kind)
        self.converter = converter
        self.on_exit: Callable[[int], None] = lambda _: None  # receives the exit status
        self._requests = PendingRequests(self._write, self._dumps)
        self._responses: dict[str, tuple[Future[Any], Any]] = {}
        self._is_initialized = self._is_shut_down = False
        for method in [name for name in self.fm.builtin_features if "ocument/did" in name]:
            del self.fm.builtin_features[method]  # pygls' documents are not used

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Any:
        """Return the capabilities, with progress for long requests."""
        self._is_initialized = True
        result: types.InitializeResult = yield from super().lsp_initialize(params)
        return types.InitializeResult(offer_progress(result.capabilities), result.server_info)

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: types.WorkDoneProgressCancelParams) -> Any:
        """Cancel the request or the background task with a token."""
        self._requests.cancel_token(params.token)
        background = self.progress.tokens.get(params.token)
        if background is not None:
            background.cancel()

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: Any) -> Any:
        """Cancel all requests, and reject later ones."""
        self._requests.cancel_all()
        self._is_shut_down = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> Any:
        """End the read loop; pygls would raise SystemExit inside the event loop."""
        self.on_exit(0 if self._is_shut_down else 1)

    def receive(self, body: bytes | None) -> None:
        """Handle the body of a message; None if its header has no valid length."""
        try:
            message = read_message(body)
        except InvalidMessageError as invalid:
            logger.info("invalid message: %s", invalid)
            self._requests.respond_error(invalid.id, invalid.error)
            return
        if "method" not in message:
            self._handle_client_response(message)
        elif "id" not in message:
            self._handle_client_notification(message["method"], message)
        else:
            self._handle_client_request(message["id"], message["method"], message)

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification; the parameters may be JSON."""
        self._write(self._dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def send_request(
        self, method: str, params: Any = None, callback: Any = None, msg_id: Any = None
    ) -> "Future[Any]":
        """Send a request; its id is independent of the ids of the client's requests."""
        future: Future[Any] = Future()
        if callback is not None:
            future.add_done_callback(lambda done: callback(done.result()))
        message_id = msg_id or str(uuid4())
        self._responses[message_id] = future, self.get_result_type(method)
        request = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        self._write(self._dumps(request))
        return future

    def _handle_client_request(self, message_id: int | str, method: str, message: Json) -> None:
        try:
            self._check_order(method)
            if _is_notification(method):
                raise JsonRpcMethodNotFound(f"{method} is a notification")
            handler = self._handler(method)
            params = self._params(method, message)
            work = _work(method, handler, params)
            if inspect.iscoroutinefunction(work):
                self._requests.start(message_id, method, params, work)
            else:
                self._requests.respond(message_id, self._dumps(_call(work)))
        except JsonRpcException as error:
            is_unknown = isinstance(error, JsonRpcMethodNotFound)
            level = logging.WARNING if is_unknown else logging.INFO
            logger.log(level, "%.100s rejected: %.200s", method, error.message)
            self._requests.respond_error(message_id, error)
        except Exception:
            logger.exception("%s failed", method)
            self._requests.respond_error(message_id, internal_error())

    def _handle_client_notification(self, method: str, message: Json) -> None:
        try:
            if method == types.CANCEL_REQUEST:
                self._requests.cancel(self._params(method, message).id)
                return
            if method != types.EXIT:
                self._check_order(method)
            if method in types.METHOD_TO_TYPES and not _is_notification(method):
                raise JsonRpcInvalidRequest("a request must have an id")
            _call(partial(self._handler(method), self._params(method, message)))
        except JsonRpcException as error:
            logger.info("%.100s ignored: %.200s", method, error.message)
        except Exception:
            logger.exception("%s failed", method)

    def _handle_client_response(self, message: Json) -> None:
        """Set the result of a request of the server; an invalid result is an error."""
        message_id = message["id"]
        is_known = isinstance(message_id, str) and message_id in self._responses
        if not is_known:
            logger.info("response to an unknown request: %.100s", message_id)
            return
        future, result_type = self._responses.pop(message_id)
        if future.done():
            return
        try:
            if "error" in message:
                error = self.converter.structure(message["error"], types.ResponseError)
                future.set_exception(RequestFailedError(f"error of the client: {error.message}"))
            else:
                future.set_result(self.converter.structure(message, result_type).result)
        except Exception:  # cattrs raises exceptions of many types
            logger.debug("invalid response to %s", message_id, exc_info=True)
            future.set_exception(RequestFailedError("invalid response of the client"))

    def _handler(self, method: str) -> Callable[..., Any]:
        handler: Callable[..., Any] | None = self.fm.builtin_features.get(method)
        handler = handler or self.fm.features.get(method)
        if handler is None:
            raise JsonRpcMethodNotFound(f"unknown method {method:.100}")
        return handler

    def _check_order(self, method: str) -> None:
        """Enforce the order of the specification: initialize, other messages, shutdown, exit."""
        if self._is_shut_down:
            raise JsonRpcInvalidRequest("the server is shutting down")
        if not self._is_initialized and method != types.INITIALIZE:
            raise JsonRpcServerNotInitialized("initialize must be the first request")
        if self._is_initialized and method == types.INITIALIZE:
            raise JsonRpcInvalidRequest("the server is already initialized")

    def _params(self, method: str, message: Json) -> Any:
        """Return the parameters of a message, typed if the specification defines the method."""
        known = types.METHOD_TO_TYPES.get(method)
        if known is None:
            return message.get("params")
        kind: Any = known[2]
        try:
            return None if kind is None else self.converter.structure(message.get("params"), kind)
        except Exception:  # cattrs raises exceptions of many types
            logger.debug("invalid parameters for %s", method, exc_info=True)
            raise JsonRpcInvalidParams(f"invalid parameters for {method}") from None

    def _dumps(self, value: Any) -> str:
        return json.dumps(value, default=self._to_json, separators=(",", ":"))

    def _to_json(self, value: Any) -> Any:
        return value.value if isinstance(value, Enum) else self.converter.unstructure(value)

    def _write(self, text: str) -> None:
        if self.writer is not None:
            body = text.encode()
            self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def _is_notification(method: str) -> bool:
    known = types.METHOD_TO_TYPES.get(method)
    return known is not None and known[1] is None


def _omit_none(converter: Any, kind: type[Any]) -> None:
    """Omit fields that are None; lsprotocol writes null, which older clients do not accept."""
    write = converter.get_unstructure_hook(kind)
    converter.register_unstructure_hook(
        kind,
        lambda value: {name: item for name, item in write(value).items() if item is not None},
    )


def _work(method: str, handler: Callable[..., Any], params: Any) -> Work:
    """Return the handler with its parameters bound; for a command, that of the command."""
    if method != types.WORKSPACE_EXECUTE_COMMAND:
        return partial(handler, params)
    command, args, named = next(handler(params))
    try:
        inspect.signature(command).bind(*args, **named)
    except TypeError as error:
        raise JsonRpcInvalidParams(f"invalid arguments of the command: {error}") from None
    return partial(command, *args, **named)


def _call(work: Work) -> Any:
    """Call a synchronous handler; those of pygls yield further handlers to call."""
    steps: Any = work()
    is_done = not inspect.isgenerator(steps)
    value: Any = steps if is_done else None
    while not is_done:
        try:
            handler, args, named = steps.send(value)
            value = handler(*args, **(named or {}))
        except StopIteration as end:
            value, is_done = end.value, True
    return value


class HloServer(LanguageServer):
    """A language server that reads pipes without a thread where the platform allows it.

    ``status`` is the exit status of the process.
    """

    protocol: HloProtocol

    def __init__(self, name: str, version: str) -> None:
        super().__init__(name, version, protocol_cls=HloProtocol)
        self.status = 0
        self._has_exited = False
        self.protocol.on_exit = self._exit

    def _exit(self, status: int) -> None:
        self.status = status
        self._has_exited = True

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve on standard input and output until the client exits."""
        self.protocol.set_writer(StdoutWriter(stdout or sys.stdout.buffer))
        self._run(self._serve_io(stdin))

    def start_tcp(self, host: str, port: int) -> None:
        """Serve the first client that connects to a socket.

        Raises:
            OSError: the address is not available.
        """
        self._run(self._serve_tcp(host, port))

    def _run(self, serving: Any) -> None:
        try:
            asyncio.run(serving)
        except (BrokenPipeError, ConnectionResetError):
            logger.error("the client has disconnected")
        except KeyboardInterrupt:
            pass
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls leaves it untyped

    async def _serve_io(self, stdin: BinaryIO | None) -> None:
        mode = 0 if stdin is not None else os.fstat(sys.stdin.fileno()).st_mode
        if sys.platform == "win32" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            await self._read(StdinAsyncReader(stdin or sys.stdin.buffer, self.thread_pool))
            return
        reader = asyncio.StreamReader(limit=_MAX_BUFFERED_BYTES)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        await self._read(reader)

    async def _serve_tcp(self, host: str, port: int) -> None:
        is_done = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            listener.close()  # only one client is served
            self.protocol.set_writer(writer)
            try:
                await self._read(reader)
                await writer.drain()
            except (BrokenPipeError, ConnectionResetError):
                logger.error("the client has disconnected")
            finally:
                writer.close()
                is_done.set()

        listener = await asyncio.start_server(serve, host, port, limit=_MAX_BUFFERED_BYTES)
        logger.info("serving on %s", ", ".join(str(s.getsockname()) for s in listener.sockets))
        await is_done.wait()

    async def _read(self, reader: Reader) -> None:
        """Handle messages until the client exits or disconnects."""
        deadline = time.monotonic() + _READ_SECONDS
        try:
            async for body in read_bodies(reader):
                self.protocol.receive(body)
                if self._has_exited:
                    return
                if time.monotonic() > deadline:
                    await asyncio.sleep(0)
                    deadline = time.monotonic() + _READ_SECONDS
        except asyncio.IncompleteReadError:
            logger.error("the client has disconnected inside a message")
