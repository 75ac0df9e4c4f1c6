"""Messages of the protocol as bytes, and a client that sends them unchanged."""

import json
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from queue import Queue
from typing import Any

from e2e.process import COMMAND

Json = dict[str, Any]
TIMEOUT_SECONDS = 90
END_OF_OUTPUT = object()


def frame_body(body: bytes) -> bytes:
    """Return a message body with its header."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def message(
    method: str, params: Any = None, request_id: Any = None, *, ascii_only: bool = True
) -> bytes:
    """Return a request, or without an id a notification."""
    content: Json = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        content["params"] = params
    if request_id is not None:
        content["id"] = request_id
    return frame_body(json.dumps(content, ensure_ascii=ascii_only).encode())


def did_open(uri: str, text: str, **options: Any) -> bytes:
    """Return a ``didOpen`` notification."""
    item = {"uri": uri, "languageId": "hlo", "version": 1, "text": text}
    return message("textDocument/didOpen", {"textDocument": item}, **options)


def hover(uri: str, line: Any, character: Any, request_id: Any) -> bytes:
    """Return a hover request."""
    position = {"line": line, "character": character}
    params = {"textDocument": {"uri": uri}, "position": position}
    return message("textDocument/hover", params, request_id)


class Connection(ABC):
    """What a client sends to a server, and receives from it."""

    def __init__(self) -> None:
        self._early_replies: dict[Any, Json] = {}

    @property
    @abstractmethod
    def log(self) -> str:
        """The text that the server logged."""

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Send messages to the server."""

    @abstractmethod
    def next_message(self, seconds: float) -> Any:
        """Return the next message of the server, or ``END_OF_OUTPUT``.

        Raises:
            queue.Empty: There is none within so many seconds.
        """

    def receive(self) -> Json:
        """Receive the next message of the server."""
        received = self.next_message(TIMEOUT_SECONDS)
        assert received is not END_OF_OUTPUT, f"the server ended: {self.log}"
        assert isinstance(received, dict)
        return received

    def reply(self, request_id: Any) -> Json:
        """Receive the reply to a request, and skip messages of other kinds.

        A server may answer requests in any order, so replies to others are kept until asked for.
        """
        while request_id not in self._early_replies:
            received = self.receive()
            if "method" not in received:
                self._early_replies[received.get("id")] = received
        return self._early_replies.pop(request_id)

    def initialize(self, **capabilities: Any) -> Json:
        """Initialize the server, and return its reply."""
        params = {"processId": None, "rootUri": None, "capabilities": capabilities}
        self.send(message("initialize", params, "init") + message("initialized", {}))
        return self.reply("init")


class Wire(Connection):
    """A server process, and its output and log."""

    def __init__(
        self, *options: str, command: Sequence[str] = COMMAND, cwd: Path | None = None
    ) -> None:
        super().__init__()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*command, *options], stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd
        )
        self._stray_output: list[bytes] = []
        self._messages: Queue[Any] = Queue()
        self._log: list[bytes] = []
        self._readers = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read_messages, self._read_log)
        ]
        for reader in self._readers:
            reader.start()

    @property
    def log(self) -> str:
        """The text on standard error so far; all of it after the end of the process."""
        return self._read(self._log).decode()

    @property
    def stray_output(self) -> bytes:
        """The output so far that is not a message; all of it after the end of the process."""
        return self._read(self._stray_output)

    def send(self, data: bytes) -> None:
        """Write bytes to the standard input of the server."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def next_message(self, seconds: float) -> Any:
        return self._messages.get(timeout=seconds)

    def end(self) -> int:
        """Close standard input, wait for the process to end, and return its exit status."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(TIMEOUT_SECONDS)

    def _read(self, lines: list[bytes]) -> bytes:
        if self.process.poll() is not None:
            for reader in self._readers:
                reader.join(TIMEOUT_SECONDS)
        return b"".join(lines)

    def _read_messages(self) -> None:
        output = self.process.stdout
        assert output is not None
        length = None
        while line := output.readline():
            name, colon, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            elif line == b"\r\n" and length is not None:
                self._messages.put(json.loads(output.read(length)))
                length = None
            elif not colon or not name.lower().startswith(b"content-"):
                self._stray_output.append(line)
        self._messages.put(END_OF_OUTPUT)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._log.append(line)
