"""Messages as bytes: headers, and bodies of the length that they say."""

import asyncio
import logging
import os
import re
import stat
import sys
import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any, BinaryIO, Protocol, TextIO

from pygls.io_ import StdinAsyncReader, StdoutWriter
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.protocol.protocol import HloProtocol

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)
_LARGEST = 1 << 30  # bytes of a body; a header that says more is not believed


class Reader(Protocol):
    """What bytes come from."""

    def readline(self) -> Awaitable[bytes]:
        """A line with its end; what is left when there is no more, then nothing.

        Raises:
            ValueError: the line is too long.
        """

    def readexactly(self, n: int, /) -> Awaitable[bytes]:
        """So many bytes.

        Raises:
            asyncio.IncompleteReadError: there are not so many any more.
        """


async def bodies(reader: Reader) -> AsyncIterator[bytes | None]:
    """The bodies of all messages up to the end of the input; None for headers without a length.

    After a body that was longer than its header said the next header is found at the end of a
    line, behind what was left of the body.

    Raises:
        asyncio.IncompleteReadError: the input ends in the middle of a body.
    """
    length: int | None = None
    is_header = False
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # a line without an end: the reader has dropped what it had of it
            is_header = True
            continue
        if not line:
            return
        if line.strip():
            is_header = True
            found = _LENGTH.search(line)
            if found is not None and int(found[1]) <= _LARGEST:
                length = int(found[1])
        elif is_header:
            yield None if length is None else await reader.readexactly(length)
            length, is_header = None, False


logger = logging.getLogger(__name__)

_BUFFER = 1 << 24  # bytes of a message that may wait in memory before the pipe is paused
_TURN = 0.005  # seconds of messages, one after the other, before work on them has its turn


class HloServer(LanguageServer):
    """A language server whose event loop reads the pipe itself where the platform lets it.

    ``status`` is the exit status of the process.
    """

    protocol: HloProtocol

    def __init__(self, name: str, version: str) -> None:
        super().__init__(name, version, protocol_cls=HloProtocol)
        self.status = 0
        self._has_ended = False
        self.protocol.ended = self.end

    def notify_json(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters are JSON already."""
        self.protocol.notify_json(method, params)

    def end(self, status: int) -> None:
        """Read no further message."""
        self.status = status
        self._has_ended = True

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve on standard input and output until the client goes."""
        self.protocol.set_writer(StdoutWriter(stdout or sys.stdout.buffer))
        try:
            asyncio.run(self._serve_io(stdin))
        except (BrokenPipeError, ConnectionResetError):
            logger.error("the client is gone")
        except KeyboardInterrupt:
            pass
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls leaves it untyped

    def start_tcp(self, host: str, port: int) -> None:
        """Serve the first client that comes, on a socket.

        Raises:
            OSError: it cannot listen there.
        """
        try:
            asyncio.run(self._serve_tcp(host, port))
        except KeyboardInterrupt:
            pass
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls leaves it untyped

    async def _serve_io(self, stdin: BinaryIO | None) -> None:
        if stdin is not None or not _is_pipe(sys.stdin):
            await self._read(StdinAsyncReader(stdin or sys.stdin.buffer, self.thread_pool))
            return
        reader = asyncio.StreamReader(limit=_BUFFER)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        await self._read(reader)

    async def _serve_tcp(self, host: str, port: int) -> None:
        is_done = asyncio.Event()

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            listening.close()  # there is one client
            self.protocol.set_writer(writer)
            try:
                await self._read(reader)
                await writer.drain()
            except (BrokenPipeError, ConnectionResetError):
                logger.error("the client is gone")
            finally:
                writer.close()
                is_done.set()

        listening = await asyncio.start_server(talk, host, port, limit=_BUFFER)
        names = ", ".join(str(one.getsockname()) for one in listening.sockets)
        logger.info("serving on %s", names)
        await is_done.wait()

    async def _read(self, reader: Reader) -> None:
        """Take in messages until the client says that it is done, or goes."""
        until = time.monotonic() + _TURN
        try:
            async for body in bodies(reader):
                self.protocol.receive(body)
                if self._has_ended:
                    return
                if time.monotonic() > until:
                    await asyncio.sleep(0)
                    until = time.monotonic() + _TURN
        except asyncio.IncompleteReadError:
            logger.error("the client is gone in the middle of a message")


def _is_pipe(stream: TextIO) -> bool:
    """Whether an event loop can wait for a stream: pipes and sockets, and not on Windows."""
    mode = os.fstat(stream.fileno()).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
