"""Requests under way, without a process: the work is played here."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from pygls.exceptions import JsonRpcInvalidParams

from hlo_lsp.lsp.protocol.messages import PendingRequests
from hlo_lsp.lsp.request import current_request
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.text.checkpoint import checkpoint

NOTHING = SimpleNamespace()
HEARD = SimpleNamespace(work_done_token="t")
METHOD = "textDocument/documentSymbol"


class Desk:
    """Requests, and all that is written, in order."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self.requests = PendingRequests(
            lambda text: self.written.append(json.loads(text)), json.dumps
        )

    def short(self) -> list[Any]:
        """What was written, as a reader wants it."""
        return [
            said["params"]["value"]["kind"]
            if "method" in said
            else said.get("result", said.get("error", {}).get("code"))
            for said in self.written
        ]


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def forever() -> None:
    await asyncio.Event().wait()


async def answered(value: Any) -> Any:
    return value


async def test_a_cancelled_request_is_answered_once_and_at_once() -> None:
    desk = Desk()
    desk.requests.start(1, METHOD, NOTHING, forever)
    await settle()
    desk.requests.cancel(1)
    assert desk.short() == [-32800]
    desk.requests.cancel(1)
    await settle()
    assert desk.short() == [-32800]


async def test_the_work_of_a_cancelled_request_ends_at_its_next_rest() -> None:
    desk = Desk()
    ended = []

    def endless() -> None:
        try:
            while True:
                checkpoint()
        finally:
            ended.append(True)

    desk.requests.start(1, METHOD, NOTHING, lambda: run_in_slices(endless))
    await settle()
    assert ended == []
    desk.requests.cancel(1)
    await settle()
    assert ended == [True]


async def test_a_request_that_never_began_is_answered_too() -> None:
    desk = Desk()
    desk.requests.start(1, METHOD, NOTHING, lambda: answered(5))
    desk.requests.cancel(1)
    await settle()
    assert desk.short() == [-32800]


async def test_an_answered_request_cannot_be_cancelled_any_more() -> None:
    desk = Desk()
    desk.requests.start(1, METHOD, NOTHING, lambda: answered(5))
    await settle()
    desk.requests.cancel(1)
    assert desk.short() == [5]


async def test_all_are_cancelled_together_in_the_end() -> None:
    desk = Desk()
    for number in (1, "1", -1):
        desk.requests.start(number, METHOD, NOTHING, forever)
    desk.requests.cancel_all()
    await settle()
    assert [said["id"] for said in desk.written] == [1, "1", -1]


async def test_what_is_heard_ends_before_the_answer() -> None:
    desk = Desk()

    async def work() -> int:
        current_request().report("this")
        current_request().begin()
        current_request().report("that", 50)
        current_request().report("that", 50)
        return 5

    desk.requests.start(1, METHOD, HEARD, work)
    await settle()
    assert desk.short() == ["begin", "report", "end", 5]
    begin, report = (said["params"]["value"] for said in desk.written[:2])
    assert begin == {
        "kind": "begin", "title": "Computing outline", "cancellable": True, "message": "this",
    }  # fmt: skip
    assert report == {"kind": "report", "message": "that", "percentage": 50}


async def test_what_is_heard_ends_before_a_refusal_and_a_cancellation() -> None:
    async def refuse() -> None:
        current_request().begin()
        raise JsonRpcInvalidParams

    async def stay() -> None:
        current_request().begin()
        await forever()

    desk = Desk()
    desk.requests.start(1, METHOD, HEARD, refuse)
    await settle()
    assert desk.short() == ["begin", "end", -32602]
    desk = Desk()
    desk.requests.start(1, METHOD, HEARD, stay)
    await settle()
    desk.requests.cancel_token("other")
    assert desk.short() == ["begin"]
    desk.requests.cancel_token("t")
    assert desk.short() == ["begin", "end", -32800]


async def test_work_that_outlives_its_request_is_heard_no_more() -> None:
    desk = Desk()
    tasks = []

    async def stay() -> None:
        await asyncio.sleep(0)
        current_request().report("still")
        current_request().begin()

    async def work() -> int:
        tasks.append(asyncio.ensure_future(stay()))
        return 5

    desk.requests.start(1, METHOD, HEARD, work)
    await settle()
    assert desk.short() == [5]


async def test_a_fault_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()

    async def fail() -> None:
        raise LookupError("ours")

    desk.requests.start(1, METHOD, NOTHING, fail)
    await settle()
    assert desk.short() == [-32603]
    assert "LookupError" in caplog.text
