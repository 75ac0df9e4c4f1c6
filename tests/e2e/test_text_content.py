"""Tests for memory summaries as documents (``workspace/textDocumentContent``)."""

from collections.abc import Callable
from typing import Any

from e2e.compiles import Compile
from e2e.wire import Json, Wire, message

Compiled = Callable[[str], Compile]
_CAPABILITIES = {
    "workspace": {"textDocumentContent": {}},
    "window": {"showDocument": {"support": True}},
}


def _request(wire: Wire, method: str, params: Any) -> Json:
    wire.send(message(method, params, method))
    return wire.reply(method)


def test_summary_opens_as_document(wire: Wire, compiled: Compiled) -> None:
    advertised = wire.initialize(**_CAPABILITIES)["result"]["capabilities"]["workspace"]
    assert advertised["textDocumentContent"] == {"schemes": ["hlo-memory-summary"]}
    arguments = [compiled("tpu").assignment.as_uri(), 0]
    params = {"command": "hlo.server.summary", "arguments": arguments}
    wire.send(message("workspace/executeCommand", params, "run"))
    received = [wire.receive()]
    while received[-1].get("method") != "window/showDocument":
        received.append(wire.receive())
    content = {"uri": received[-1]["params"]["uri"]}
    text = _request(wire, "workspace/textDocumentContent", content)["result"]["text"]
    assert text.startswith("# Memory of `jit_")


def test_other_documents_are_refused(wire: Wire) -> None:
    wire.initialize(**_CAPABILITIES)
    reply = _request(wire, "workspace/textDocumentContent", {"uri": "hlo-memory-summary:/x"})
    assert "no document of this server" in reply["error"]["message"]


def test_content_is_not_advertised_without_client_support(wire: Wire) -> None:
    workspace = wire.initialize()["result"]["capabilities"]["workspace"]
    assert "textDocumentContent" not in workspace
