"""A storm of messages, the same for the same seed: what is sent, and what may be answered."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from e2e.wire import frame_body, message
from lsp.protocol import breaking
from lsp.protocol.breaking import CANCELLED, FINE, INVALID_PARAMS, REFUSED
from lsp.protocol.questions import question
from lsp.protocol.texts import Json, OpenText

_STRANGE = (
    "untitled:never", "", "x", "http://h/x.txt", "file:///none/x.txt", "file://[", "file:///%00",
    "git:/a.txt?{}", "file:///" + "a" * 5000, "vscode-notebook-cell:/x#1", "file:///\ud800", "\0",
)  # fmt: skip
_ANSWERED = frozenset({FINE})
_ASKED = frozenset({FINE, REFUSED})
_PERHAPS_WRONG = frozenset({FINE, REFUSED, INVALID_PARAMS})
_QUIET: Sequence[tuple[str, Any]] = (  # notifications that nobody answers
    ("$/unknown", {"a": 1}), ("no/such", None), ("textDocument/hover", {}), ("$/setTrace", {}),
    ("$/setTrace", {"value": "verbose"}), ("textDocument/didOpen", {}), ("initialize", {}),
    ("textDocument/didChange", {"textDocument": {"uri": "x", "version": 1}, "contentChanges": 5}),
    ("textDocument/didSave", {"textDocument": {"uri": "untitled:x"}}), ("shutdown", None),
    ("workspace/didChangeConfiguration", {"settings": {"hlo": {"check": 5}}}),
    ("workspace/didChangeConfiguration", {"settings": None}),
    ("workspace/didChangeConfiguration", {"settings": {"hlo": {}}}),
    ("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file://[", "type": 2}]}),
    ("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}}),
    ("workspace/didChangeWorkspaceFolders",
     {"event": {"added": [], "removed": [{"uri": "file:///x", "name": "x"}]}}),
    ("window/workDoneProgress/cancel", {"token": "none"}), ("$/cancelRequest", {}),
    ("$/cancelRequest", {"id": None}), ("$/progress", {"token": 1, "value": {}}),
    ("notebookDocument/didOpen", {}),
)  # fmt: skip


@dataclass
class Storm:
    """A generator of messages.

    ``allowed`` are the codes of each reply, 0 for a result. ``nameless`` counts the codes of
    replies without an id.
    """

    rng: random.Random
    texts: Sequence[OpenText]
    allowed: dict[Any, frozenset[int]] = field(default_factory=dict)
    nameless: Counter[int] = field(default_factory=Counter)
    sent: dict[Any, Json] = field(default_factory=dict)
    _numbers: int = 0

    def bursts(self, requests: int) -> Iterator[bytes]:
        """So many requests, in bursts of some to some thousand messages."""
        last = len(self.sent) + requests
        while len(self.sent) < last:
            size = self.rng.choice((1, 10, 100, 300, 1000, 4000))
            burst: list[bytes] = []
            while len(burst) < size and len(self.sent) < last:
                burst.append(self._one())
            yield b"".join(burst)

    def requests(self, count: int, code: int) -> bytes:
        """Return requests before initialization or after shutdown, with one expected code."""
        return b"".join(self._ask(*question(self.rng, self.texts), {code}) for _ in range(count))

    def calm(self) -> bytes:
        """Open what is closed, so that there is something to compare afterwards."""
        closed = (text for text in self.texts if not text.is_open)
        return b"".join(message("textDocument/didOpen", one.opened(self.rng)) for one in closed)

    def _one(self) -> bytes:
        kind = self.rng.random()
        if kind < 0.55:
            return self._question()
        if kind < 0.75:
            return self._edit()
        if kind < 0.82:
            return self._cancel()
        if kind < 0.87:
            return self._mutated()
        if kind < 0.92:
            said, code = breaking.no_request(self.rng, self._number())
            return self._request(said, {code})
        if kind < 0.95:
            data, code = breaking.no_message(self.rng)
            self.nameless[code] += 1
            return data
        if kind < 0.97:
            return self._response()
        return message(*self.rng.choice(_QUIET))

    def _question(self) -> bytes:
        method, params = question(self.rng, self.texts)
        if self.rng.random() < 0.05:
            params = json.loads(json.dumps(params))
            _put_uri(params, self.rng.choice(_STRANGE))
        if self.rng.random() < 0.05:
            params["workDoneToken"] = f"work {self._numbers}"
        return self._ask(method, params, _ASKED)

    def _mutated(self) -> bytes:
        method, params = question(self.rng, self.texts)
        return self._ask(method, breaking.mutated(self.rng, params), _PERHAPS_WRONG)

    def _edit(self) -> bytes:
        text = self.rng.choice(self.texts)
        kind = self.rng.random()
        if not text.is_open:
            if kind < 0.3:  # of what is not open
                params = OpenText(text.uri, "a\nb\n").edited(self.rng)
                return message("textDocument/didChange", params)
            return message("textDocument/didOpen", text.opened(self.rng))
        if kind < 0.03:
            return message("textDocument/didClose", text.closed())
        if kind < 0.04:  # twice
            return message("textDocument/didOpen", text.opened(self.rng))
        return message("textDocument/didChange", text.edited(self.rng))

    def _cancel(self) -> bytes:
        """Of a request that runs, is answered, or was never sent."""
        if not self.sent or self.rng.random() < 0.1:
            return message("$/cancelRequest", {"id": self.rng.choice((-(10**12), "never", 10**12))})
        recent = list(self.sent)[-self.rng.choice((1, 5, 50, 5000)) :]
        number = self.rng.choice(recent)
        self.allowed[number] |= {CANCELLED}
        return message("$/cancelRequest", {"id": number})

    def _response(self) -> bytes:
        """To something that the server has never asked, or that it was asked itself."""
        number = self.rng.choice((None, 5, "x", *list(self.sent)[-1:]))
        said: Json = {"jsonrpc": "2.0", "id": number}
        if self.rng.random() < 0.5:
            said["result"] = self.rng.choice((None, [], {}, 5))
        else:
            said["error"] = self.rng.choice(({"code": 1, "message": "m"}, None, {}, 5))
        return frame_body(json.dumps(said).encode())

    def _ask(self, method: str, params: Json, codes: "frozenset[int] | set[int]") -> bytes:
        said = {"jsonrpc": "2.0", "id": self._number(), "method": method, "params": params}
        return self._request(said, codes)

    def _request(self, said: Json, codes: "frozenset[int] | set[int]") -> bytes:
        self.sent[said["id"]] = said
        self.allowed[said["id"]] = frozenset(codes)
        return frame_body(json.dumps(said).encode())

    def _number(self) -> Any:
        self._numbers += 1
        number = self._numbers
        return self.rng.choice((number, number, number, -number, f"{number}", f"é{number}"))


def _put_uri(params: Any, uri: str) -> None:
    """Speak of another document, wherever one is named."""
    for part in params.values() if isinstance(params, dict) else params:
        if isinstance(part, dict | list):
            _put_uri(part, uri)
    if isinstance(params, dict) and "uri" in params:
        params["uri"] = uri
