"""pygls with our own documents, and without a thread between the client and the event loop."""

import asyncio
import logging
import os
import stat
import sys
from dataclasses import dataclass
from threading import Event
from typing import Any, BinaryIO, TextIO

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from hlo_lsp.features.refusal import RefusedError

logger = logging.getLogger(__name__)

_BUFFER = 1 << 24  # bytes of a message that may wait in memory before the pipe is paused


class HloProtocol(LanguageServerProtocol):
    """Hands the text of documents on and keeps none itself.

    The documents of pygls split their whole text at every question, which takes 140 ms an edit at
    50 MB, and break lines at characters that the protocol does not.
    """

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

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> Any:
        """End the read loop; pygls would raise SystemExit inside of the event loop."""
        server = self._server
        assert isinstance(server, StdioServer)
        server.end(0 if self._shutdown else 1)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Read a message; a request that cannot be read is answered, not only logged."""
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if "id" in data and "method" in data:
                return _Unreadable(
                    data["id"], JsonRpcInvalidParams("these are no parameters for it")
                )
            raise

    def handle_message(self, message: Any) -> None:
        """Keep the order that the protocol wants: initialize, everything else, shutdown, exit."""
        refusal: JsonRpcException | None = None
        method = getattr(message, "method", None)
        if isinstance(message, _Unreadable):
            refusal = message.error
        elif method is not None and method != types.EXIT:
            refusal = self._refusal(method)
        if refusal is None:
            super().handle_message(message)
        elif hasattr(message, "id"):
            self._send_response(message.id, error=refusal.to_response_error())

    def notify_json(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters are JSON already: quick, however many there are."""
        self._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        """Answer a request; a refusal is an answer, too, and nothing for the log."""
        error = None if future.cancelled() else future.exception()
        if isinstance(error, RefusedError):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=error.to_response_error())
        else:
            super()._send_handler_result(future, msg_id=msg_id)

    def _refusal(self, method: str) -> JsonRpcException | None:
        if self._shutdown:
            return JsonRpcInvalidRequest("the server is shutting down")
        if self._workspace is None:
            first = method == types.INITIALIZE
            return None if first else JsonRpcServerNotInitialized("initialize comes first")
        if method == types.INITIALIZE:
            return JsonRpcInvalidRequest("the server is initialized already")
        return None


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A request whose parameters are not what the protocol says."""

    id: int | str
    error: JsonRpcException
    jsonrpc: str = "2.0"


class StdioServer(LanguageServer):
    """A language server whose event loop reads the pipe itself where the platform lets it.

    ``status`` is the exit status of the process.
    """

    status = 0

    def notify_json(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters are JSON already."""
        assert isinstance(self.protocol, HloProtocol)
        self.protocol.notify_json(method, params)

    def end(self, status: int) -> None:
        """Read no further message."""
        self.status = status
        if self._stop_event is not None:
            self._stop_event.set()

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve on standard input and output until the client goes."""
        if stdin is not None or not _is_pipe(sys.stdin):
            super().start_io(stdin, stdout)
            return
        self._stop_event = Event()
        self.protocol.set_writer(StdoutWriter(stdout or sys.stdout.buffer))
        try:
            asyncio.run(self._serve(self._stop_event))
        except (BrokenPipeError, ConnectionResetError):
            logger.error("the client is gone")
        except KeyboardInterrupt:
            pass
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls leaves it untyped

    async def _serve(self, stop: Event) -> None:
        reader = asyncio.StreamReader(limit=_BUFFER)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        try:
            await run_async(
                stop_event=stop,
                reader=reader,
                protocol=self.protocol,
                logger=logger,
                error_handler=self.report_server_error,
            )
        except asyncio.IncompleteReadError:
            logger.error("the client is gone in the middle of a message")


def _is_pipe(stream: TextIO) -> bool:
    """Whether an event loop can wait for a stream: pipes and sockets, and not on Windows."""
    mode = os.fstat(stream.fileno()).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
