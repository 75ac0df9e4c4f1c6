"""Ways in which a message can be wrong, and what the specification wants to be said of each."""

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

from e2e.wire import frame_body
from lsp.protocol.texts import Json

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED, CANCELLED, REFUSED = -32002, -32800, -32803
FINE = 0

_JUNK: Sequence[Any] = (
    None, True, -1, 1.5, 2**31, 2**40, 10**400, "", "x", "\ud800", [], {}, [[]], {"a": [{}] * 3},
    "long " * 20_000, [0] * 5000,
)  # fmt: skip
_NO_PARAMS: Sequence[Any] = (
    None, [], 5, "x", {}, {"textDocument": None}, {"textDocument": []},
    {"textDocument": {"uri": "untitled:x"}, "position": None},
    {"textDocument": {"uri": "untitled:x"}, "position": {"line": -1, "character": 0}},
    {"textDocument": {"uri": "untitled:x"}, "position": {"line": 2**31, "character": 0}},
    {"textDocument": {"uri": "untitled:x"}, "position": {"line": 0}},
    {"textDocument": {"uri": "untitled:x"}, "position": {"line": "x", "character": 0}},
)  # fmt: skip
_UNKNOWN = (
    "textDocument/moniker", "textDocument/documentColor", "no/such", "", "$/unknown", "hover", "é",
    "textDocument/didOpen", "textDocument/didClose", "$/cancelRequest", "initialized", "exit",
    "workspace/configuration", "client/registerCapability", "window/showMessage", "__init__",
    "notebookDocument/didOpen", "x" * 10_000,
)  # fmt: skip
_BODIES = (
    b"", b"{", b"nonsense", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1,}', b"[" * 100_000, b"'x'",
    b'{"a":' * 50_000, b"1" * 6000,
)  # fmt: skip
_NO_MESSAGES: Sequence[Any] = (
    [], 1, "x", None, True, {}, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "method": 5},
    {"jsonrpc": "2.0", "method": None, "id": None}, [{"jsonrpc": "2.0", "id": 1, "method": "x"}],
    {"jsonrpc": "2.0", "id": None, "method": "textDocument/hover"},
    {"jsonrpc": "2.0", "id": [1], "method": "textDocument/hover"},
    {"jsonrpc": "2.0", "id": True, "method": "shutdown"},
    {"jsonrpc": "2.0", "id": 1.5, "method": "shutdown"},
    {"jsonrpc": 2.0, "method": "exit"}, {"method": "exit"},
)  # fmt: skip


def no_message(rng: random.Random) -> tuple[bytes, int]:
    """Bytes that are no message, and the code of the answer, which has no id."""
    kind = rng.random()
    if kind < 0.3:
        return frame_body(rng.choice(_BODIES)), PARSE_ERROR
    if kind < 0.8:
        return frame_body(json.dumps(rng.choice(_NO_MESSAGES)).encode()), INVALID_REQUEST
    whole = frame_body(b'{"jsonrpc":"2.0","id":77,"method":"shutdown","params":null}')
    # The length is too small: what is left of the body stands in front of the next header.
    return whole.replace(b"Content-Length: 5", b"Content-Length: 1"), PARSE_ERROR


def no_request(rng: random.Random, number: Any) -> tuple[Json, int]:
    """Return a request with an unusual id, and the expected error code."""
    said: Json = {"jsonrpc": "2.0", "id": number, "method": "textDocument/hover"}
    kind = rng.random()
    if kind < 0.4:
        said["method"] = rng.choice(_UNKNOWN)
        said["params"] = rng.choice(_NO_PARAMS)
        return said, METHOD_NOT_FOUND
    if kind < 0.8:
        said["params"] = rng.choice(_NO_PARAMS)
        if rng.random() < 0.2:
            del said["params"]
        return said, INVALID_PARAMS
    if kind < 0.9:
        said["method"] = rng.choice((None, 5, [], {}))
        return said, INVALID_REQUEST
    said["jsonrpc"] = rng.choice(("1.0", 2, None, "2"))
    return said, INVALID_REQUEST


def mutated(rng: random.Random, params: Json) -> Json:
    """Parameters with one part of them gone or something else; they may still be right."""
    params = copy.deepcopy(params)
    part: Any = params
    while True:
        keys: list[Any] = list(part) if isinstance(part, dict) else list(range(len(part)))
        if not keys:
            return params
        key = rng.choice(keys)
        inner = part[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
            part = inner
        elif rng.random() < 0.3:
            del part[key]
            return params
        else:
            part[key] = rng.choice(_JUNK)
            return params
