"""Tests for requests out of order, about unknown documents, and with invalid contents."""

from collections.abc import Iterator
from typing import Any

import pytest

from e2e.wire import Json, Wire, did_open, frame_body, hover, message

TEXT = "BufferAssignment:\nallocation 0: size 0, constant:\n"
URI = "untitled:1"
DOCUMENT = {"textDocument": {"uri": URI}}
AT_START = {**DOCUMENT, "position": {"line": 0, "character": 0}}
SERVER_NOT_INITIALIZED, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = (
    -32002, -32600, -32601, -32602
)  # fmt: skip
REQUESTS: dict[str, dict[str, Any]] = {
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


def request(wire: Wire, method: str, params: Any, request_id: Any = 1) -> dict[str, Any]:
    wire.send(message(method, params, request_id))
    return wire.reply(request_id)


def replies_until(wire: Wire, request_id: str) -> Iterator[dict[str, Any]]:
    """Yield all replies, up to the reply to a request."""
    while True:
        received = wire.receive()
        if "method" not in received:
            yield received
            if received["id"] == request_id:
                return


def assert_still_serves(wire: Wire) -> None:
    wire.send(did_open("untitled:still", TEXT) + hover("untitled:still", 0, 0, "still"))
    found = wire.reply("still")["result"]["contents"]["value"]
    wire.send(message("textDocument/didClose", {"textDocument": {"uri": "untitled:still"}}))
    assert found.startswith("BufferAssignment")


def test_requests_before_initialize_are_refused_and_notifications_dropped(wire: Wire) -> None:
    wire.send(did_open(URI, TEXT) + message("textDocument/didClose", DOCUMENT))
    wire.send(did_open(URI, TEXT))
    for method, params in REQUESTS.items():
        wire.send(message(method, params, method))
    wire.send(message("initialize", {"processId": None, "capabilities": {}}, "init"))
    codes = {
        reply["id"]: reply.get("error", {}).get("code") for reply in replies_until(wire, "init")
    }
    assert codes == {**dict.fromkeys(REQUESTS, SERVER_NOT_INITIALIZED), "init": None}
    wire.send(message("initialized", {}))
    assert request(wire, "textDocument/hover", AT_START)["result"] is None
    assert_still_serves(wire)


def test_second_initialize_and_requests_after_shutdown_are_refused(wire: Wire) -> None:
    wire.initialize()
    params: Json = {"processId": None, "rootUri": None, "capabilities": {}}
    assert request(wire, "initialize", params)["error"]["code"] == INVALID_REQUEST
    assert_still_serves(wire)
    assert request(wire, "shutdown", None, "bye") == {"id": "bye", "jsonrpc": "2.0", "result": None}
    assert request(wire, "textDocument/hover", AT_START)["error"]["code"] == INVALID_REQUEST


def test_unopened_documents_have_no_results(shared_wire: Wire) -> None:
    for method, params in REQUESTS.items():
        result = request(shared_wire, method, params, method)["result"]
        assert result in (None, [], {"kind": "full", "items": []}), method
    assert_still_serves(shared_wire)


def test_unusual_uris_cause_no_errors(shared_wire: Wire) -> None:
    for uri in URIS:
        document = {"textDocument": {"uri": uri}}
        shared_wire.send(did_open(uri, TEXT))
        assert "error" not in request(
            shared_wire, "textDocument/hover", {**AT_START, **document}, uri
        ), uri
        shared_wire.send(message("textDocument/didClose", document))
    assert_still_serves(shared_wire)


@pytest.mark.parametrize("method", ["textDocument/moniker", "no/such"])
def test_unsupported_methods_are_not_found(shared_wire: Wire, method: str) -> None:
    assert (
        request(shared_wire, method, AT_START | {"newName": "x"})["error"]["code"]
        == METHOD_NOT_FOUND
    )
    assert_still_serves(shared_wire)


def test_notifications_about_unknown_documents_are_ignored(shared_wire: Wire) -> None:
    change = {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [{"text": "x"}]}
    shared_wire.send(message("textDocument/didChange", change))
    shared_wire.send(message("textDocument/didClose", DOCUMENT))
    shared_wire.send(message("$/cancelRequest", {"id": 77}))
    shared_wire.send(message("$/unknown", {"a": 1}) + message("workspace/didNothing", {}))
    shared_wire.send(
        message("textDocument/didSave", DOCUMENT) + message("$/setTrace", {"value": "off"})
    )
    assert_still_serves(shared_wire)


@pytest.mark.parametrize(
    "data", [None, 1, "x", [], {}, {"uri": URI}, {"uri": 5}, {"value": "x", "uri": URI}]
)
def test_unknown_lens_is_returned_unchanged(shared_wire: Wire, data: Any) -> None:
    shared_wire.send(did_open("untitled:lens", TEXT))
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    reply = request(shared_wire, "codeLens/resolve", {"range": span, "data": data})
    assert reply["result"]["range"] == span
    assert_still_serves(shared_wire)


@pytest.mark.parametrize("body", BODIES)
def test_invalid_message_body_keeps_the_server_running(shared_wire: Wire, body: bytes) -> None:
    shared_wire.send(frame_body(body))
    assert_still_serves(shared_wire)
