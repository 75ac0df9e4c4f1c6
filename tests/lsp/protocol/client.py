"""A client that sends whatever it is given, and keeps the accounts of the answers."""

import json
import random
import threading
from collections import Counter
from pathlib import Path
from queue import Queue
from typing import Any

from e2e.wire import TIMEOUT_SECONDS, Wire, frame_body
from lsp.protocol.storm import Storm
from lsp.protocol.texts import Json

_WRONG_RESULTS: tuple[Any, ...] = (
    None,
    [],
    {},
    5,
    "x",
    [None],
    [{}],
    [5],
    {"success": 1},
    {"applied": True},
)
_AWAITED = ("window/showDocument", "workspace/applyEdit")  # what commands wait for


class StormClient(Wire):
    """Writes from a thread of its own, so that it never waits for a server that waits for it.

    Requests of the server are answered, some by nonsense.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.answers: dict[Any, list[int]] = {}  # the codes of all answers to each request
        self.nameless: Counter[int] = Counter()
        self.said: dict[Any, Json] = {}
        self._asked: set[Any] = set()
        self._rng = random.Random(seed)
        self._out: Queue[bytes | None] = Queue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def post(self, data: bytes) -> None:
        """Send bytes, at some time."""
        self._out.put(data)

    def settle(self, storm: Storm, most: int = 0) -> None:
        """Take in messages until at most so many requests are without an answer."""
        while len(storm.sent) - len(self.answers) > most:
            self._take(self.receive())

    def ask(self, number: Any, method: str, params: Any) -> Json:
        """Send a request, and return the reply."""
        said = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._asked.add(number)
        self.post(frame_body(json.dumps(said).encode()))
        while number not in self.said:
            self._take(self.receive())
        return self.said.pop(number)

    def finish(self) -> int:
        """Take in all that is still said; the exit status."""
        self._out.put(None)
        self._writer.join()
        status = self.end()
        while isinstance(said := self._messages.get(timeout=TIMEOUT_SECONDS), dict):
            self._take(said)
        return status

    @property
    def resident(self) -> int:
        """Bytes of memory that the server occupies."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        (line,) = (one for one in status.split("\n") if one.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def _take(self, said: Json) -> None:
        if "method" in said:
            if "id" in said:
                self._reply(said)
            return
        code = said["error"]["code"] if "error" in said else 0
        if said["id"] is None:
            self.nameless[code] += 1
            return
        if said["id"] in self._asked:
            self.said[said["id"]] = said
        else:
            self.answers.setdefault(said["id"], []).append(code)

    def _reply(self, said: Json) -> None:
        kind = self._rng.random()
        reply: Json = {"jsonrpc": "2.0", "id": said["id"], "result": {}}
        if kind < 0.5:
            reply["result"] = [None] if said["method"] == "workspace/configuration" else None
        elif kind < 0.7:
            reply = {"jsonrpc": "2.0", "id": said["id"], "error": {"code": -32601, "message": "no"}}
        elif kind < 0.9:
            reply["result"] = self._rng.choice(_WRONG_RESULTS)
        elif said["method"] not in _AWAITED:
            return  # never
        self.post(frame_body(json.dumps(reply).encode()))
        if kind < 0.1:
            self.post(frame_body(json.dumps(reply).encode()))  # twice

    def _write(self) -> None:
        while (data := self._out.get()) is not None:
            try:
                self.send(data)
            except (BrokenPipeError, ValueError):
                return  # whoever waits for an answer will know
