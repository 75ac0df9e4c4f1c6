"""Requests out of order, about nothing, or wrong: each gets the answer of the specification."""

from collections.abc import Iterator
from typing import Any

import pytest

from e2e.wire import Json, Wire, framed, hover, message, opened

TEXT = "BufferAssignment:\nallocation 0: size 0, constant:\n"
URI = "untitled:1"
DOCUMENT = {"textDocument": {"uri": URI}}
AT_START = {**DOCUMENT, "position": {"line": 0, "character": 0}}
SERVER_NOT_INITIALIZED, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = (
    -32002, -32600, -32601, -32602
)  # fmt: skip
QUESTIONS: dict[str, dict[str, Any]] = {
    "textDocument/hover": AT_START,
    "textDocument/definition": AT_START,
    "textDocument/declaration": AT_START,
    "textDocument/typeDefinition": AT_START,
    "textDocument/references": {**AT_START, "context": {"includeDeclaration": True}},
    "textDocument/documentHighlight": AT_START,
    "textDocument/documentSymbol": DOCUMENT,
    "textDocument/foldingRange": DOCUMENT,
    "textDocument/codeLens": DOCUMENT,
    "textDocument/diagnostic": DOCUMENT,
}
URIS = [
    "", "x", "file:", "file://", "file:///", "http://h/x.txt", "file:///%00", "\0", "file://[",
    "file:///a%", "file:///a/../b.txt", "FILE:///x.txt", "file://host/share/x.txt",
]  # fmt: skip
BODIES = [b"{", b"", b"nonsense", b"[]", b"{}", b"null", b'"x"', b"\xff\xfe"]


def ask(wire: Wire, method: str, params: Any, number: Any = 1) -> dict[str, Any]:
    wire.send(message(method, params, number))
    return wire.reply(number)


def until(wire: Wire, number: str) -> Iterator[dict[str, Any]]:
    """All replies up to that to a request."""
    while True:
        found = wire.receive()
        if "method" not in found:
            yield found
            if found["id"] == number:
                return


def still_serves(wire: Wire) -> None:
    wire.send(opened("untitled:still", TEXT) + hover("untitled:still", 0, 0, "still"))
    found = wire.reply("still")["result"]["contents"]["value"]
    assert found.startswith("BufferAssignment")


def test_before_initialize_every_request_is_refused(wire: Wire) -> None:
    for method, params in QUESTIONS.items():
        wire.send(message(method, params, method))
    wire.send(message("initialize", {"processId": None, "capabilities": {}}, "init"))
    codes = {reply["id"]: reply.get("error", {}).get("code") for reply in until(wire, "init")}
    assert codes == {**dict.fromkeys(QUESTIONS, SERVER_NOT_INITIALIZED), "init": None}
    still_serves(wire)


def test_before_initialize_notifications_are_dropped(wire: Wire) -> None:
    wire.send(opened(URI, TEXT) + message("textDocument/didClose", DOCUMENT))
    wire.send(opened(URI, TEXT))
    wire.initialize()
    assert ask(wire, "textDocument/hover", AT_START)["result"] is None
    still_serves(wire)


def test_after_shutdown_requests_are_refused(wire: Wire) -> None:
    wire.initialize()
    assert ask(wire, "shutdown", None, "bye") == {"id": "bye", "jsonrpc": "2.0", "result": None}
    assert ask(wire, "textDocument/hover", AT_START)["error"]["code"] == INVALID_REQUEST


def test_second_initialize_is_refused(wire: Wire) -> None:
    wire.initialize()
    params: Json = {"processId": None, "rootUri": None, "capabilities": {}}
    assert ask(wire, "initialize", params)["error"]["code"] == INVALID_REQUEST
    still_serves(wire)


def test_files_that_were_never_opened_have_no_answers(wire: Wire) -> None:
    wire.initialize()
    for method, params in QUESTIONS.items():
        result = ask(wire, method, params, method)["result"]
        assert result in (None, [], {"kind": "full", "items": []}), method
    still_serves(wire)


def test_uris_of_all_sorts_do_no_harm(wire: Wire) -> None:
    wire.initialize()
    for uri in URIS:
        document = {"textDocument": {"uri": uri}}
        wire.send(opened(uri, TEXT))
        assert "error" not in ask(wire, "textDocument/hover", {**AT_START, **document}, uri), uri
        wire.send(message("textDocument/didClose", document))
    still_serves(wire)


@pytest.mark.parametrize("method", ["textDocument/moniker", "no/such"])
def test_methods_that_are_not_offered_are_not_found(wire: Wire, method: str) -> None:
    wire.initialize()
    assert ask(wire, method, AT_START | {"newName": "x"})["error"]["code"] == METHOD_NOT_FOUND
    still_serves(wire)


def test_notifications_about_nothing_are_passed_over(wire: Wire) -> None:
    wire.initialize()
    change = {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [{"text": "x"}]}
    wire.send(message("textDocument/didChange", change))
    wire.send(message("textDocument/didClose", DOCUMENT))
    wire.send(message("$/cancelRequest", {"id": 77}))
    wire.send(message("$/unknown", {"a": 1}) + message("workspace/didNothing", {}))
    wire.send(message("textDocument/didSave", DOCUMENT) + message("$/setTrace", {"value": "off"}))
    still_serves(wire)


@pytest.mark.parametrize(
    "data", [None, 1, "x", [], {}, {"uri": URI}, {"uri": 5}, {"value": "x", "uri": URI}]
)
def test_unknown_lens_is_returned_unchanged(wire: Wire, data: Any) -> None:
    wire.initialize()
    wire.send(opened(URI, TEXT))
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    reply = ask(wire, "codeLens/resolve", {"range": span, "data": data})
    assert reply["result"]["range"] == span
    still_serves(wire)


@pytest.mark.parametrize("body", BODIES)
def test_invalid_message_body_keeps_the_server_running(wire: Wire, body: bytes) -> None:
    wire.initialize()
    wire.send(framed(body))
    still_serves(wire)
