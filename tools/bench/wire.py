"""A minimal client, so that the measured time is that of the server."""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_SETTLE_INTERVAL_SECONDS = 0.5
_MAX_SERVER_REQUEST_BYTES = 4096
_REQUEST_FAILED = b"-32803"  # A valid reply: for example, the position has no name to rename.
_IDLE_CPU_SECONDS = 0.05  # An idle server uses less processor time per interval.
_SERVER = (sys.executable, "-m", "hlo_lsp")


class Client:
    """A server process with one open file."""

    def __init__(
        self,
        path: Path,
        capabilities: Json | None = None,
        command: Sequence[str] = _SERVER,
        language: str = "hlo",
        folder: Path | None = None,
    ) -> None:
        self.path = path
        self.text = path.read_text("utf-8", "replace")
        self.lines = self.text.split("\n")
        self.uri = path.as_uri()
        item = {"uri": self.uri, "languageId": language, "version": 1, "text": self.text}
        # Encoded in advance, because encoding 22 MB is not part of the measured time.
        self._opening = _encode_message(
            {"method": "textDocument/didOpen", "params": {"textDocument": item}}
        )
        self._ids = itertools.count(1)
        self._version = 1
        started = time.perf_counter()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        root = None if folder is None else folder.as_uri()
        self.request(
            "initialize", {"processId": None, "rootUri": root, "capabilities": capabilities or {}}
        )
        self.start_seconds = time.perf_counter() - started
        self.notify("initialized", {})

    def open(self) -> None:
        """Send the text."""
        self._write(self._opening)

    def replace(self, line: int, start: int, end: int, text: str) -> None:
        """Edit a line."""
        span = {
            "start": {"line": line, "character": start},
            "end": {"line": line, "character": end},
        }
        self._version += 1
        document = {"uri": self.uri, "version": self._version}
        change = {"textDocument": document, "contentChanges": [{"range": span, "text": text}]}
        self.notify("textDocument/didChange", change)

    def ask(self, method: str, line: int, column: int, **more: Any) -> Any:
        """Send a request about a position, and return its result."""
        position = {"line": line, "character": column}
        return self.request(
            method, {"textDocument": {"uri": self.uri}, "position": position, **more}
        )

    def request(self, method: str, params: Json) -> Any:
        """Send a request, and return its result."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def reply(self, method: str, params: Json) -> Any:
        """Send a request about the text, and return its result or its error."""
        return self.reply_to(f"textDocument/{method}", params)

    def reply_to(self, method: str, params: Json) -> Any:
        """Send a request, and return its result or its error."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                return message.get("result", message.get("error"))

    def answer_size(self, method: str, params: Json) -> int:
        """Send a request, and return the size of the unread reply in bytes."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        own = (b'"id": %d,' % number, b'"id":%d,' % number)
        while True:
            body = self._body()
            if any(mark in body[:60] or mark in body[-60:] for mark in own):
                assert b'"error"' not in body[:60] or _REQUEST_FAILED in body, body[:1000]
                return len(body)

    def published(self, wanted: Callable[[Json], bool]) -> Json:
        """Wait for diagnostics of the file that satisfy a predicate."""
        while True:
            message = self._receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                diagnostics: Json = message["params"]
                if diagnostics["uri"] == self.uri and wanted(diagnostics):
                    return diagnostics

    @property
    def version(self) -> int:
        """The version of the last edit."""
        return self._version

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    @property
    def memory(self) -> int:
        """The peak resident memory of the server in bytes (Linux)."""
        return self._status("VmHWM")

    @property
    def resident(self) -> int:
        """The resident memory of the server in bytes (Linux)."""
        return self._status("VmRSS")

    def settle(self) -> None:
        """Wait until the server is idle (Linux).

        The request in each round also empties the pipe of notifications: a full pipe would block
        the server.
        """
        before = -1.0
        while (used := self.seconds_used) - before > _IDLE_CPU_SECONDS:
            before = used
            self.ask("textDocument/hover", 0, 0)
            time.sleep(_SETTLE_INTERVAL_SECONDS)

    def close(self) -> None:
        """Shut down the server."""
        self.request("shutdown", {})
        self.notify("exit", {})
        self._process.wait(10)

    def _status(self, key: str) -> int:
        status = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
        (line,) = [line for line in status.splitlines() if line.startswith(key)]
        return int(line.split()[1]) * 1024

    @property
    def seconds_used(self) -> float:
        """The processor time of the server in seconds (Linux)."""
        numbers = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8").rpartition(")")[2]
        user, system = numbers.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _send(self, message: Json) -> None:
        self._write(_encode_message(message))

    def _write(self, message: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(message)
        self._process.stdin.flush()

    def _receive(self) -> Json:
        message: Json = json.loads(self._body())
        return message

    def _body(self) -> bytes:
        output = self._process.stdout
        assert output is not None
        length = 0
        while True:
            line = output.readline()
            if not line:
                raise EOFError("the server ended")
            header = line.strip()
            if not header and length:
                break
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = output.read(length)
        if length < _MAX_SERVER_REQUEST_BYTES and b'"method"' in body:
            message = json.loads(body)
            if "id" in message and "method" in message:  # a request of the server
                self._send({"id": message["id"], "result": None})
        return body


def _encode_message(message: Json) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
