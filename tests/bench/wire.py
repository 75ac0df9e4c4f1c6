"""A client that does nothing but send and wait, so that what is measured is the server."""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Client:
    """One server process with one open file."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text("utf-8", "replace")
        self.uri = path.as_uri()
        self._ids = itertools.count(1)
        self._version = itertools.count(2)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hlo_lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.notify("initialized", {})

    def open(self) -> None:
        """Send the text."""
        item = {"uri": self.uri, "languageId": "hlo", "version": 1, "text": self.text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def replace(self, line: int, start: int, end: int, text: str) -> None:
        """Edit a line."""
        span = {
            "start": {"line": line, "character": start},
            "end": {"line": line, "character": end},
        }
        document = {"uri": self.uri, "version": next(self._version)}
        change = {"textDocument": document, "contentChanges": [{"range": span, "text": text}]}
        self.notify("textDocument/didChange", change)

    def ask(self, method: str, line: int, column: int, **more: Any) -> Any:
        """A request about a position."""
        position = {"line": line, "character": column}
        return self.request(
            method, {"textDocument": {"uri": self.uri}, "position": position, **more}
        )

    def request(self, method: str, params: Json) -> Any:
        """Send a request and wait for its result."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    @property
    def memory(self) -> int:
        """The most memory the server has had, in bytes (Linux)."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) * 1024

    def close(self) -> None:
        """Let the server go."""
        self.request("shutdown", {})
        self.notify("exit", {})
        self._process.wait(10)

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> Json:
        output = self._process.stdout
        assert output is not None
        length = 0
        while (header := output.readline().strip()) or not length:
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: Json = json.loads(output.read(length))
        return message
