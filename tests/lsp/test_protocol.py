"""Requests and messages, without a process: the client is played here."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.lsp.progress import current_request
from hlo_lsp.lsp.protocol import HloProtocol, HloServer
from hlo_lsp.lsp.scheduling import run_in_slices

METHOD = types.TEXT_DOCUMENT_DOCUMENT_SYMBOL
INITIALIZE: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}


class ProtocolHarness:
    """An initialized server with one handler, and all that it writes, in order."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self.server = HloServer("test", "1", protocol_cls=HloProtocol)
        self.written: list[dict[str, Any]] = []

        @self.server.feature(METHOD)
        async def handle(_: types.DocumentSymbolParams) -> Any:
            return await work()

        self.server.protocol.set_writer(self)  # type: ignore[arg-type]
        self.send("initialize", INITIALIZE, 0)
        self.written.clear()

    def write(self, data: bytes) -> None:
        self.written.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def send(self, method: str, params: Any, number: Any = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        message |= {} if number is None else {"id": number}
        self.server.protocol.receive(json.dumps(message).encode())

    def ask(self, number: Any = 1, **params: Any) -> None:
        self.send(METHOD, {"textDocument": {"uri": "untitled:1"}, **params}, number)

    def cancel(self, number: Any = 1) -> None:
        self.send("$/cancelRequest", {"id": number})

    async def short(self) -> list[Any]:
        """Wait for all tasks, and return the written messages in a short form."""
        for _ in range(10):
            await asyncio.sleep(0)
        return [
            said["params"]["value"]["kind"]
            if "method" in said
            else said.get("result", said.get("error", {}).get("code"))
            for said in self.written
        ]


async def forever() -> None:
    await asyncio.Event().wait()


async def five() -> int:
    return 5


async def test_cancelled_request_is_answered_once() -> None:
    harness = ProtocolHarness(forever)
    harness.ask()
    await harness.short()
    for _ in range(2):
        harness.cancel()
        assert await harness.short() == [-32800]


async def test_cancelled_request_ends_at_a_checkpoint() -> None:
    ended = []

    def endless() -> None:
        try:
            while True:
                checkpoint()
        finally:
            ended.append(True)

    harness = ProtocolHarness(lambda: run_in_slices(endless))
    harness.ask()
    await harness.short()
    assert ended == []
    harness.cancel()
    await harness.short()
    assert ended == [True]


async def test_request_that_never_began_is_answered() -> None:
    harness = ProtocolHarness(five)
    harness.ask()
    harness.cancel()
    assert await harness.short() == [-32800]


async def test_answered_request_cannot_be_cancelled() -> None:
    harness = ProtocolHarness(five)
    harness.ask()
    await harness.short()
    harness.cancel()
    assert await harness.short() == [5]


async def test_shutdown_cancels_all_requests() -> None:
    harness = ProtocolHarness(forever)
    for number in (1, "1", -1):
        harness.ask(number)
    await harness.short()
    harness.send("shutdown", None, "end")
    assert await harness.short() == [None, -32800, -32800, -32800]
    assert [said["id"] for said in harness.written] == ["end", 1, "1", -1]


async def test_progress_ends_before_the_answer() -> None:
    async def work() -> int:
        current_request().report("this")
        current_request().begin()
        current_request().report("that", 50)
        current_request().report("that", 50)
        return 5

    harness = ProtocolHarness(work)
    harness.ask(workDoneToken="t")
    assert await harness.short() == ["begin", "report", "end", 5]
    begin, report = (said["params"]["value"] for said in harness.written[:2])
    assert begin == {
        "kind": "begin", "title": "Computing outline", "cancellable": True, "message": "this",
    }  # fmt: skip
    assert report == {"kind": "report", "message": "that", "percentage": 50}


async def test_progress_ends_before_a_refusal() -> None:
    async def refuse() -> None:
        current_request().begin()
        raise JsonRpcInvalidParams

    harness = ProtocolHarness(refuse)
    harness.ask(workDoneToken="t")
    assert await harness.short() == ["begin", "end", -32602]


async def test_request_can_be_cancelled_by_its_token() -> None:
    async def stay() -> None:
        current_request().begin()
        await forever()

    harness = ProtocolHarness(stay)
    harness.ask(workDoneToken="t")
    for token in ("other", "t"):
        assert await harness.short() == ["begin"]
        harness.send("window/workDoneProgress/cancel", {"token": token})
    assert await harness.short() == ["begin", "end", -32800]


async def test_waiting_request_is_cancelled_by_its_token() -> None:
    harness = ProtocolHarness(five)
    harness.ask(workDoneToken="t")
    harness.send("window/workDoneProgress/cancel", {"token": "t"})
    assert await harness.short() == [-32800]
    assert harness.server.protocol.progress.tokens == {}


async def test_work_that_outlives_its_request_reports_nothing() -> None:
    tasks = []

    async def stay() -> None:
        await asyncio.sleep(0)
        current_request().report("still")
        current_request().begin()

    async def work() -> int:
        tasks.append(asyncio.ensure_future(stay()))
        return 5

    harness = ProtocolHarness(work)
    harness.ask(workDoneToken="t")
    assert await harness.short() == [5]


async def test_failure_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise LookupError("ours")

    harness = ProtocolHarness(fail)
    harness.ask()
    assert await harness.short() == [-32603]
    assert "LookupError" in caplog.text
    assert "in fail" in caplog.text


async def read(data: bytes) -> list[bytes]:
    """Return the bodies of the messages that a server reads."""
    server, bodies = HloServer("test", "1", protocol_cls=HloProtocol), list[bytes]()
    server.protocol.set_writer(ProtocolHarness(five))  # type: ignore[arg-type]
    setattr(server.protocol, "receive", bodies.append)  # noqa: B010
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    await server._read(reader)
    return bodies


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length:2\r\n\r\n",
        b"Content-Type: x; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\nContent-Length: 2\r\n\r\n",
    ],
)
async def test_header_has_the_length_of_its_body(header: bytes) -> None:
    assert await read(header + b"{}" + header + b"[]") == [b"{}", b"[]"]


async def test_oversized_message_is_skipped_alone() -> None:
    data = b"Content-Length: 3\r\n\r\n{1234}Content-Length: 2\r\n\r\n{}"
    assert await read(data) == [b"{12", b"{}"]


async def test_end_inside_a_body_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert await read(b"Content-Length: 3\r\n\r\n{}") == []
    assert "disconnected in the middle of a message" in caplog.text
