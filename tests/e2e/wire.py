"""The protocol by hand: headers, bytes and nothing that could help the server."""

import json
import subprocess
import threading
from queue import Queue
from typing import Any

from e2e.process import COMMAND

Json = dict[str, Any]
PATIENCE = 90  # seconds until a server that sends nothing fails the test
END = object()


def framed(body: bytes) -> bytes:
    """Return a body with its header."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def message(
    method: str, params: Any = None, number: Any = None, *, ascii_only: bool = True
) -> bytes:
    """Return a request, or a notification if there is no number."""
    content: Json = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        content["params"] = params
    if number is not None:
        content["id"] = number
    return framed(json.dumps(content, ensure_ascii=ascii_only).encode())


def opened(uri: str, text: str, **options: Any) -> bytes:
    """Return the notification of an opened file."""
    item = {"uri": uri, "languageId": "hlo", "version": 1, "text": text}
    return message("textDocument/didOpen", {"textDocument": item}, **options)


def hover(uri: str, line: Any, character: Any, number: Any) -> bytes:
    """Return a request for a hover."""
    position = {"line": line, "character": character}
    params = {"textDocument": {"uri": uri}, "position": position}
    return message("textDocument/hover", params, number)


class Wire:
    """A server process, and what it writes to standard output."""

    def __init__(self, *options: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*COMMAND, *options], stdin=pipe, stdout=pipe, stderr=pipe)
        self.stray = b""  # whatever is no header
        self._messages: Queue[Any] = Queue()
        self._log: list[bytes] = []
        for work in (self._read, self._listen):
            threading.Thread(target=work, daemon=True).start()

    @property
    def log(self) -> str:
        """What was written to standard error so far."""
        return b"".join(self._log).decode()

    def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> Json:
        """Receive the next message of the server."""
        found = self._messages.get(timeout=PATIENCE)
        assert found is not END, f"the server is gone: {self.log}"
        assert isinstance(found, dict)
        return found

    def reply(self, number: Any) -> Json:
        """Receive the reply to a request, and skip other messages."""
        while (found := self.receive()).get("id") != number or "method" in found:
            pass
        return found

    def initialize(self, **capabilities: Any) -> Json:
        """Shake hands."""
        params = {"processId": None, "rootUri": None, "capabilities": capabilities}
        self.send(message("initialize", params, "init") + message("initialized", {}))
        return self.reply("init")

    def end(self) -> int:
        """Close standard input, and wait for the process to end; its exit status."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def _read(self) -> None:
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
                self.stray += line
        self._messages.put(END)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._log.append(line)
