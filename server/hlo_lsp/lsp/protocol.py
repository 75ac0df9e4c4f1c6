"""The connection to a client: pygls, with responses for large files and for malformed messages.

pygls dispatches the messages. What differs here is measured or tested: its documents take 140 ms
per edit at 50 MB, so ``Session`` holds the texts; its responses are serialized in one piece (0.5 s
for 26 MB), here in slices; it does not answer malformed messages and those out of order; and its
reader waits for standard input on a thread, which keeps the process alive after an interrupt.
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
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial, wraps
from types import NoneType
from typing import Any, BinaryIO, TypeVar

from lsprotocol import types
from pygls import exceptions
from pygls.capabilities import get_capability
from pygls.io_ import StdinAsyncReader, StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.lsp.client import SUMMARY_SCHEME
from hlo_lsp.lsp.custom_requests import MESSAGE_TYPES
from hlo_lsp.lsp.progress import RequestFailedError, offer_progress, start_request
from hlo_lsp.lsp.scheduling import run_in_slices, yield_to_event_loop

logger = logging.getLogger(__name__)
logging.getLogger("pygls").setLevel(logging.CRITICAL)  # ``report_server_error`` logs its errors

_TOKENS = ("workDoneToken", "partialResultToken", "token", "id")
Handler = TypeVar("Handler", bound=Callable[..., Any])
Work = Coroutine[Any, Any, Any]
_CONTENT_LENGTH = re.compile(rb"content-length: *(\d{1,10})\r?\n\Z", re.IGNORECASE)
_MAX_BUFFERED_BYTES = 1 << 24  # the pipe is paused when more bytes of a message are waiting
_READ_SECONDS = 0.005  # of reading messages before tasks run
_ITEMS_PER_CHECKPOINT = 50
_ITEMS_PER_PARTIAL_RESULT = 1000  # or numbers of tokens, of which each has five


class JsonText(str):
    """A result that is serialized already."""

    __slots__ = ()


class HloProtocol(LanguageServerProtocol):
    """pygls' protocol with one response to each request."""

    _is_initialized = False  # pygls reads properties before the rest is set

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        _adapt_converter(converter)
        self.converter = converter
        self.exit_status = 0
        for method in [name for name in self.fm.builtin_features if "ocument/did" in name]:
            del self.fm.builtin_features[method]  # pygls' documents are not used

    @property
    def is_initialized(self) -> bool:
        """True after the first request of a client."""
        return self._is_initialized

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Any:
        """Return the capabilities, with progress for long requests."""
        self._is_initialized = True
        result: types.InitializeResult = yield from super().lsp_initialize(params)
        offer_progress(result.capabilities)
        content = get_capability(params.capabilities, "workspace.text_document_content")
        if content is not None and result.capabilities.workspace is not None:
            options = types.TextDocumentContentOptions([SUMMARY_SCHEME])  # unknown to pygls
            result.capabilities.workspace.text_document_content = options
        return result

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> Any:
        """End the read loop; pygls would raise SystemExit inside the event loop."""
        self.exit_status = 0 if self._shutdown else 1
        self.writer = None

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]  # pygls has a generator
        self, params: types.ExecuteCommandParams
    ) -> JsonText:
        """Run a command as a request, so that it reports progress and can be cancelled."""
        params.arguments = params.arguments or []  # pygls checks their number
        command, args, named = next(super().lsp_workspace__execute_command(params))

        async def work() -> Any:
            result = command(*args, **named)
            return await result if inspect.isawaitable(result) else result

        return await self.run_request(types.WORKSPACE_EXECUTE_COMMAND, params, work())

    async def run_request(self, method: str, params: Any, work: Work) -> JsonText:
        """Run the work of a request with its progress, and return the result as JSON."""
        with start_request(method, self.progress, getattr(params, "work_done_token", None)):
            result = await work
            part_token = getattr(params, "partial_result_token", None)
            if part_token is not None:
                result = await self._send_partial_results(result, part_token)
            return JsonText(await run_in_slices(partial(self._serialize, result), is_short=True))

    def get_message_type(self, method: str) -> Any:  # type: ignore[override]  # pygls caches it
        """Return the type of the messages with a method, or None if it is unknown."""
        return MESSAGE_TYPES.get(method) or super().get_message_type(method)

    def receive(self, body: bytes) -> None:
        """Handle the body of a message."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            error = exceptions.JsonRpcParseError("invalid JSON")
            self._send_response(None, error=error.to_response_error())
            return
        known_id = data.get("id") if isinstance(data, dict) else None
        message_id = known_id if type(known_id) in {int, str} else None
        try:
            if not _is_message(data):
                raise exceptions.JsonRpcInvalidRequest("not a JSON-RPC 2.0 message")
            self._dispatch(data)
        except exceptions.JsonRpcException as refusal:
            logger.info("message rejected: %.200s", refusal.message)
            if not _is_message(data) or "id" in data:
                self._send_response(message_id, error=refusal.to_response_error())
        except Exception:  # for example for a response to a request that was cancelled meanwhile
            logger.info("message ignored", exc_info=True)

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification; the parameters may be JSON."""
        self._write(self._dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def _dispatch(self, data: dict[str, Any]) -> None:
        """Let pygls handle a message that is valid and comes in the order of the specification."""
        method = data.get("method")
        if method is not None:
            data.setdefault("params", None)
            is_notification = types.METHOD_TO_TYPES.get(method, (None, True))[1] is None
            if self._shutdown and method != types.EXIT:
                raise exceptions.JsonRpcInvalidRequest("the server is shutting down")
            if self._is_initialized and method == types.INITIALIZE:
                raise exceptions.JsonRpcInvalidRequest("the server is already initialized")
            if not self._is_initialized and method not in {types.INITIALIZE, types.EXIT}:
                raise exceptions.JsonRpcServerNotInitialized("initialize must be the first request")
            is_known = method in self.fm.features or method in self.fm.builtin_features
            if "id" in data and (is_notification or not is_known):
                logger.warning("unknown request %.100s", method)
                raise exceptions.JsonRpcMethodNotFound(f"unknown request {method:.100}")
        try:
            if not _has_valid_tokens(data.get("params")):
                raise exceptions.JsonRpcInvalidParams
            message = self.structure_message(data)
        except exceptions.JsonRpcException:
            if method is not None:
                raise exceptions.JsonRpcInvalidParams(f"invalid parameters for {method}") from None
            error = types.ResponseError(RequestFailedError.CODE, "invalid response from the client")
            message = types.ResponseErrorMessage(data["id"], error)
        self.handle_message(message)
        token = getattr(getattr(message, "params", None), "work_done_token", None)
        task = self._request_futures.get(data.get("id", ""))
        if token is not None and task is not None:  # the client can cancel it by the token
            self.progress.tokens[token] = task
            task.add_done_callback(lambda _: self.progress.tokens.pop(token, None))

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        text = result if isinstance(result, JsonText) else self._dumps(error or result)
        name = "error" if error else "result"
        self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(msg_id)},"{name}":{text}}}')

    async def _send_partial_results(self, result: Any, token: types.ProgressToken) -> Any:
        """Send the items of a list or the numbers of tokens, and return the rest of the result."""
        is_tokens = isinstance(result, dict) and "data" in result
        items = result["data"] if is_tokens else result
        if not isinstance(items, list):
            return result
        for first in range(0, len(items), _ITEMS_PER_PARTIAL_RESULT):
            part = items[first : first + _ITEMS_PER_PARTIAL_RESULT]
            value = {"data": part} if is_tokens else part
            self.notify(types.PROGRESS, {"token": token, "value": value})
            await yield_to_event_loop()
        return {**result, "data": []} if is_tokens else []

    def _serialize(self, value: Any) -> str:
        """Return a value as JSON, with checkpoints in long lists."""
        if isinstance(value, dict):
            members = (f"{json.dumps(key)}:{self._serialize(item)}" for key, item in value.items())
            return f"{{{','.join(members)}}}"
        if not isinstance(value, list) or len(value) <= _ITEMS_PER_CHECKPOINT:
            return self._dumps(value)
        pieces = []
        for first in range(0, len(value), _ITEMS_PER_CHECKPOINT):
            pieces.append(self._dumps(value[first : first + _ITEMS_PER_CHECKPOINT])[1:-1])
            checkpoint()
        return f"[{','.join(pieces)}]"

    def _dumps(self, value: Any) -> str:
        return json.dumps(value, default=self.converter.unstructure, separators=(",", ":"))

    def _write(self, text: str) -> None:
        if self.writer is None:
            return
        body = text.encode()
        try:
            self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        except (BrokenPipeError, ConnectionResetError):
            logger.error("the client disconnected")
            self.writer = None


class HloServer(LanguageServer):
    """A language server that reads pipes without a thread where the platform allows it."""

    protocol: HloProtocol

    def feature(self, feature_name: str, options: Any = None) -> Callable[[Handler], Handler]:
        """Register a handler; one that is a coroutine function runs as a request."""
        register = super().feature(feature_name, options)

        def decorate(handler: Handler) -> Handler:
            @wraps(handler)
            async def run(params: Any) -> JsonText:
                return await self.protocol.run_request(feature_name, params, handler(params))

            register(run if inspect.iscoroutinefunction(handler) else handler)
            return handler

        return decorate

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ARG002
        """Log an error of a handler; a refusal is not an error."""
        if isinstance(error, exceptions.JsonRpcInternalError):
            logger.error("%s\n%s", error, "".join((error.data or {}).get("traceback", ())))
        else:
            logger.info("request refused: %.200s", error)

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve on standard input and output until the client exits."""
        self.protocol.set_writer(StdoutWriter(stdout or sys.stdout.buffer))
        self._run(self._serve_io(stdin or sys.stdin.buffer))

    def start_tcp(self, host: str, port: int) -> None:
        """Serve the first client that connects to a socket.

        Raises:
            OSError: the address is not available.
        """
        self._run(self._serve_tcp(host, port))

    def _run(self, serving: Work) -> None:
        with suppress(KeyboardInterrupt):
            asyncio.run(serving)
        self.shutdown()  # type: ignore[no-untyped-call]  # pygls leaves it untyped

    async def _serve_io(self, stdin: BinaryIO) -> None:
        mode = os.fstat(stdin.fileno()).st_mode
        if sys.platform == "win32" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            await self._read(StdinAsyncReader(stdin, self.thread_pool))
            return
        reader = asyncio.StreamReader(limit=_MAX_BUFFERED_BYTES)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
        await self._read(reader)

    async def _serve_tcp(self, host: str, port: int) -> None:
        is_done = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            listener.close()  # only one client is served
            self.protocol.set_writer(writer)
            await self._read(reader)
            writer.close()
            is_done.set()

        listener = await asyncio.start_server(serve, host, port, limit=_MAX_BUFFERED_BYTES)
        logger.info("serving on %s", ", ".join(str(s.getsockname()) for s in listener.sockets))
        await is_done.wait()

    async def _read(self, reader: asyncio.StreamReader | StdinAsyncReader) -> None:
        length: int | None = None
        deadline = time.monotonic() + _READ_SECONDS
        try:
            while self.protocol.writer is not None and (line := await reader.readline()):
                if found := _CONTENT_LENGTH.search(line):
                    length = int(found[1])
                if line.strip() or length is None:
                    continue
                self.protocol.receive(await reader.readexactly(length))
                length = None
                if time.monotonic() > deadline:
                    await asyncio.sleep(0)
                    deadline = time.monotonic() + _READ_SECONDS
        except (asyncio.IncompleteReadError, ConnectionResetError):
            logger.error("the client disconnected in the middle of a message")


def _adapt_converter(converter: Any) -> None:
    """Make the converter of pygls refuse wrong strings, and omit what older clients refuse.

    It stops at the first wrong value. The report on all of them, which is not shown to anyone,
    takes 13 s and 500 MB for 100,000 characters where a list belongs.
    """
    converter.detailed_validation = False
    for kind in (types.SignatureInformation, types.SignatureHelp):  # the inner type first
        _omit_none(converter, kind)
    converter.register_structure_hook(str, _structure_text)


def _is_message(data: Any) -> bool:
    """Return True for a request, a notification, or a response of JSON-RPC 2.0."""
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return False
    if "method" in data:
        return isinstance(data["method"], str) and type(data.get("id", 0)) in {int, str}
    return "id" in data and bool(data.keys() & {"result", "error"})


def _has_valid_tokens(params: Any) -> bool:
    """Return True if all tokens and ids in the parameters are numbers or strings.

    The converter takes any value for them, because they have two types.
    """
    if not isinstance(params, dict):
        return True
    return all(type(params.get(name, "")) in {int, str, NoneType} for name in _TOKENS)


def _structure_text(value: Any, _: type[str]) -> str:
    """Return a string of a message; the converter would take the text of any value instead."""
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value


def _omit_none(converter: Any, kind: type[Any]) -> None:
    """Omit fields that are None; lsprotocol writes null, which older clients do not accept."""
    write = converter.get_unstructure_hook(kind)
    converter.register_unstructure_hook(
        kind, lambda value: {name: item for name, item in write(value).items() if item is not None}
    )
