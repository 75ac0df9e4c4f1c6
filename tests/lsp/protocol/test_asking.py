"""Long requests: a client hears how they go, gets parts, and calls them off."""

from collections.abc import Iterator

import pytest

from e2e.wire import Json, Wire, did_open, hover, message
from lsp.protocol.large import large_module

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("asking")]  # they share a server
CANCELLED = -32800
URI = "untitled:large"
COUNT = 6_000  # instructions: reading takes some tenths of a second
TEXT = large_module(COUNT)
LINE = TEXT.split("\n").index("ENTRY %main (a: f32[8]) -> f32[8] {") + 1
DOCUMENT = {"textDocument": {"uri": URI}}
AT_A = {**DOCUMENT, "position": {"line": LINE, "character": 3}}
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": COUNT + 9, "character": 0}}
SPAN = {"start": {"line": LINE, "character": 2}, "end": {"line": LINE, "character": 4}}
ITEM = {
    "name": "a", "kind": 13, "uri": URI, "range": SPAN, "selectionRange": SPAN,
    "data": {"name": "a", "home": "main", "asked": URI},
}  # fmt: skip
LONG: dict[str, Json] = {
    "textDocument/documentSymbol": DOCUMENT,
    "textDocument/foldingRange": DOCUMENT,
    "textDocument/codeLens": DOCUMENT,
    "textDocument/documentLink": DOCUMENT,
    "textDocument/semanticTokens/full": DOCUMENT,
    "textDocument/inlayHint": {**DOCUMENT, "range": WHOLE},
    "textDocument/references": {**AT_A, "context": {"includeDeclaration": True}},
    "textDocument/documentHighlight": AT_A,
    "textDocument/rename": {**AT_A, "newName": "b"},
    "textDocument/diagnostic": DOCUMENT,
    "textDocument/codeAction": {**DOCUMENT, "range": SPAN, "context": {"diagnostics": []}},
    "callHierarchy/incomingCalls": {"item": ITEM},
    "callHierarchy/outgoingCalls": {"item": ITEM},
    "workspace/executeCommand": {"command": "hlo.server.check", "arguments": [URI]},
}
CANCELLABLE = (  # of each kind: about a text, a place, its findings, and a command
    "textDocument/documentSymbol", "textDocument/references", "textDocument/diagnostic",
    "workspace/executeCommand",
)  # fmt: skip
IN_PARTS = (
    "textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/codeLens",
    "textDocument/semanticTokens/full", "textDocument/references",
    "textDocument/documentHighlight", "callHierarchy/outgoingCalls",
)  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Wire]:
    """Yield a server process that the tests share."""
    running = Wire()
    symbols = {"hierarchicalDocumentSymbolSupport": True}
    running.initialize(textDocument={"documentSymbol": symbols})
    yield running
    assert running.end() == 0
    assert "Traceback" not in running.log


@pytest.fixture
def wire(server: Wire) -> Iterator[Wire]:
    """Yield the server, and close the text afterwards, so that the next test reads it again."""
    yield server
    server.send(message("textDocument/didClose", DOCUMENT))


def until_answered(wire: Wire, number: str) -> tuple[list[Json], Json]:
    """Return the partial results with the token ``t`` before a reply, and the reply."""
    said = []
    while True:
        found = wire.receive()
        if found.get("method") == "$/progress" and found["params"]["token"] == "t":
            said.append(found["params"]["value"])
        elif found.get("id") == number and "method" not in found:
            return said, found


@pytest.mark.parametrize("method", LONG)
def test_progress_precedes_the_reply(wire: Wire, method: str) -> None:
    params = {**LONG[method], "workDoneToken": "t"}
    wire.send(did_open(URI, TEXT) + message(method, params, "long"))
    said, answer = until_answered(wire, "long")
    assert "error" not in answer
    kinds = [value["kind"] for value in said]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert set(kinds[1:-1]) <= {"report"}
    assert said[0]["title"]
    assert said[0]["message"] == "reading untitled:large"
    assert said[0]["cancellable"] is True
    wire.send(message("no/such", {}, "later"))
    assert until_answered(wire, "later")[0] == []  # nothing comes after the end


@pytest.mark.parametrize("method", CANCELLABLE)
def test_cancelled_request_keeps_the_next_one_correct(wire: Wire, method: str) -> None:
    wire.send(
        did_open(URI, TEXT)
        + message(method, LONG[method], "long")
        + message("$/cancelRequest", {"id": "long"})
    )
    assert wire.reply("long")["error"]["code"] == CANCELLED
    wire.send(hover(URI, LINE, 3, "hover"))
    assert wire.reply("hover")["result"] is not None


@pytest.mark.parametrize("method", IN_PARTS)
def test_parts_of_a_result_make_the_whole(wire: Wire, method: str) -> None:
    wire.send(did_open(URI, TEXT) + message(method, LONG[method], "whole"))
    whole = wire.reply("whole")["result"]
    wire.send(message(method, {**LONG[method], "partialResultToken": "t"}, "parts"))
    parts, answer = until_answered(wire, "parts")
    if isinstance(whole, list):
        assert answer["result"] == []
        assert [each for part in parts for each in part] == whole != []
    else:
        assert answer["result"]["data"] == []
        assert [each for part in parts for each in part["data"]] == whole["data"] != []


def test_long_results_come_in_more_than_one_part(wire: Wire) -> None:
    params = {**LONG["textDocument/references"], "partialResultToken": "t"}
    wire.send(did_open(URI, TEXT) + message("textDocument/references", params, "parts"))
    parts, _ = until_answered(wire, "parts")
    assert [len(part) for part in parts[:-1]] == [1000] * (COUNT // 2000)
