"""A server in this process, and the cost of all requests about a text."""

import asyncio
import gc
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hlo_lsp.lsp import diagnostics
from hlo_lsp.lsp.server import create_server

Json = dict[str, Any]
_CAPABILITIES: Json = {
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "hover": {"contentFormat": ["markdown"]},
        "completion": {"completionItem": {"documentationFormat": ["markdown"]}},
        "signatureHelp": {"signatureInformation": {"documentationFormat": ["markdown"]}},
        "diagnostic": {"relatedInformation": True},
        "semanticTokens": {"requests": {}, "tokenTypes": [], "tokenModifiers": [], "formats": []},
    },
    "general": {"positionEncodings": ["utf-32"]},
}
_AT_CURSOR = (
    "hover", "definition", "declaration", "typeDefinition", "implementation", "documentHighlight",
    "prepareRename", "linkedEditingRange", "prepareCallHierarchy", "signatureHelp", "completion",
)  # fmt: skip
_WHOLE = (
    "documentSymbol", "foldingRange", "documentLink", "codeLens", "semanticTokens/full",
    "formatting",
)  # fmt: skip
_OPTIONS = {"options": {"tabSize": 2, "insertSpaces": True}}
_REFUSED = -32803


class _Replies:
    """The replies of the server by request id."""

    def __init__(self) -> None:
        self.by_id: dict[Any, Json] = {}
        self.sent: list[Json] = []  # what the server asks and notifies itself
        self._asked: list[Json] = []

    def write(self, data: bytes) -> None:
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        if "method" not in message:
            self.by_id[message["id"]] = message
        else:
            self.sent.append(message)
            if message["method"] == "workspace/applyEdit":
                self._asked.append(message)

    def unanswered(self) -> Iterator[Json]:
        """Yield the requests of the server to apply an edit, each once."""
        while self._asked:
            yield self._asked.pop()


class Editor:
    """A client of a server in this process."""

    def __init__(self, capabilities: Json = _CAPABILITIES) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._replies = _Replies()
        self._protocol = create_server().protocol
        self._protocol.set_writer(self._replies)  # type: ignore[arg-type]
        self._count = 0
        self.sent = self._replies.sent
        self.errors: list[str] = []  # of failed requests
        params = {"processId": None, "rootUri": None, "capabilities": capabilities}
        self.offered: Json = self.request("initialize", params)["result"]
        self._send({"method": "initialized", "params": {}})
        gc.collect()
        gc.freeze()  # The server collects garbage some time after a text is closed.

    def close(self) -> None:
        """End the event loop."""
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def request(self, method: str, params: Any) -> Json:
        """Return the reply to a request."""
        self._count += 1
        request_id = self._count
        self._send({"id": request_id, "method": method, "params": params})
        self._loop.run_until_complete(self._wait_for_reply(request_id))
        return self._replies.by_id.pop(request_id)

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def seconds_per_request(self, text: str) -> dict[str, float]:
        """Return the processor time of each request about a text, at most at any position."""
        return self.cost_per_request(text, time.process_time)

    def cost_per_request(self, text: str, clock: Callable[[], float]) -> dict[str, float]:
        """Return how far a clock advances during each request, at most at any position."""
        uri = f"untitled:{self._count}"
        document = {"uri": uri, "languageId": "hlo", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        found: dict[str, float] = {}
        gc.collect()
        gc.disable()
        for method, params in all_requests(uri, text):
            start = clock()
            reply = self.request(method, params)
            found[method] = max(clock() - start, found.get(method, 0))
            if reply.get("error", {}).get("code", _REFUSED) != _REFUSED:
                self.errors.append(f"{method}: {reply['error']['message']:.300}")
        gc.enable()
        closed = {"textDocument": {"uri": uri}}
        with pytest.MonkeyPatch.context() as patch:
            # The collection would run during a request about the next text.
            patch.setattr(diagnostics, "collect_all", lambda: None)
            self._send({"method": "textDocument/didClose", "params": closed})
        return found

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._loop.call_soon(self._protocol.receive, body)
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _wait_for_reply(self, request_id: int) -> None:
        while request_id not in self._replies.by_id:
            await asyncio.sleep(0)
            for message in self._replies.unanswered():
                reply = {"jsonrpc": "2.0", "id": message["id"], "result": {"applied": True}}
                self._protocol.receive(json.dumps(reply).encode())


def all_requests(uri: str, text: str) -> Iterator[tuple[str, Json]]:
    """Yield all requests about a text, at several positions where they have one."""
    document: Json = {"textDocument": {"uri": uri}}
    yield "textDocument/diagnostic", document  # Afterwards, no check runs in the background.
    cursors = _cursors(text)
    whole = {"start": _position((0, 0)), "end": _position((text.count("\n") + 1, 0))}
    for number, cursor in enumerate(cursors):
        here = {**document, "position": _position(cursor)}
        for method in _AT_CURSOR:
            yield f"textDocument/{method}", here
        references = {**here, "context": {"includeDeclaration": True}}
        yield "textDocument/references", references
        yield "textDocument/rename", {**here, "newName": "other"}
        yield "textDocument/selectionRange", {**document, "positions": [here["position"]]}
        inspect = {"command": "hlo.server.inspect", "arguments": [uri, here["position"]]}
        yield "workspace/executeCommand", inspect
        for name in ("a", "main", "f0"):
            item = _call_item(uri, name, here["position"])
            yield "callHierarchy/incomingCalls", {"item": item}
            yield "callHierarchy/outgoingCalls", {"item": item}
        if number == 0:
            for method in _WHOLE:
                yield f"textDocument/{method}", {**document, **_OPTIONS}
            delta = {**document, "previousResultId": "0"}
            yield "textDocument/semanticTokens/full/delta", delta
            for method in ("semanticTokens/range", "inlayHint"):
                yield f"textDocument/{method}", {**document, "range": whole}
            yield "textDocument/rangeFormatting", {**document, "range": whole, **_OPTIONS}
            context: Json = {"diagnostics": []}
            yield "textDocument/codeAction", {**document, "range": whole, "context": context}
            yield "hlo/memoryMap", {"uri": uri, "line": cursor[0]}
            summary = {"command": "hlo.server.summary", "arguments": [uri, cursor[0]]}
            yield "workspace/executeCommand", summary


def _cursors(text: str) -> list[tuple[int, int]]:
    """Return positions in the longest line, in the middle, and at the end of a text."""
    lines = text.split("\n")
    longest = max(range(len(lines)), key=lambda number: len(lines[number]))
    middle = len(lines) // 2
    last = max((number for number, line in enumerate(lines) if line.strip(" }")), default=0)
    found = [
        (longest, len(lines[longest]) // 2), (middle, min(4, len(lines[middle]))),
        (last, len(lines[last]) // 2), (longest, len(lines[longest])),
    ]  # fmt: skip
    return list(dict.fromkeys(found))


def _position(cursor: tuple[int, int]) -> Json:
    return {"line": cursor[0], "character": cursor[1]}


def _call_item(uri: str, name: str, position: Json) -> Json:
    span = {"start": position, "end": position}
    data = {"name": name, "home": None, "asked": uri}
    return {
        "name": name, "kind": 12, "uri": uri, "range": span, "selectionRange": span, "data": data,
    }  # fmt: skip
