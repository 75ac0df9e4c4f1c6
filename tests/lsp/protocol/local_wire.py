"""A server in this process that speaks in messages, as one at the end of a pipe."""

import asyncio
import json
import logging
import re
import time
from collections import deque
from queue import Empty
from typing import Any

from e2e.wire import Connection, Json
from hlo_lsp.lsp.server import create_server

_HEADER = re.compile(rb"Content-Length: (\d+)\r\n\r\n")
_PAUSE_SECONDS = 0.002


class LocalWire(Connection):
    """A server that runs while its client sends, and waits for messages."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._messages: deque[Json] = deque()
        self._errors = _Errors()
        logging.getLogger().addHandler(self._errors)
        self._protocol = create_server().protocol
        self._protocol.set_writer(self)

    @property
    def log(self) -> str:
        return "\n".join(self._errors.texts)

    def write(self, data: bytes) -> None:
        """Receive a message of the server."""
        self._messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def send(self, data: bytes) -> None:
        at = 0
        while header := _HEADER.match(data, at):
            at = header.end() + int(header[1])
            self._loop.call_soon(self._protocol.receive, data[header.end() : at])
        assert at == len(data)
        self._loop.run_until_complete(asyncio.sleep(0))

    def next_message(self, seconds: float) -> Any:
        end = time.monotonic() + seconds
        while not self._messages:
            if time.monotonic() > end:
                raise Empty
            self._loop.run_until_complete(asyncio.sleep(_PAUSE_SECONDS))
        return self._messages.popleft()

    def close(self) -> None:
        """End the event loop."""
        logging.getLogger().removeHandler(self._errors)
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


class _Errors(logging.Handler):
    """The messages of the log that a server in a process writes by default."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
