"""Progress of long work, with the client's part played here."""

import asyncio
from typing import Any, cast

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcMethodNotFound
from pygls.progress import Progress as Tokens

from hlo_lsp.lsp.progress import BackgroundProgress


class Server:
    """A server whose client agrees to a token once it is let to."""

    def __init__(self, *, shows: bool = True, agrees: bool = True) -> None:
        window = types.WindowClientCapabilities(work_done_progress=shows)
        self.client_capabilities = types.ClientCapabilities(window=window)
        self.work_done_progress = Tokens(cast("Any", self))
        self.context = 0
        self.sent: list[Any] = []
        self.may_agree = asyncio.Event()
        self._agrees = agrees

    async def send_request_async(self, method: str, _: object) -> None:
        assert method == "window/workDoneProgress/create"
        self.context += 1
        await self.may_agree.wait()
        if not self._agrees:
            raise JsonRpcMethodNotFound(method)

    def notify(self, method: str, params: types.ProgressParams) -> None:
        assert method == "$/progress"
        assert set(self.work_done_progress.tokens) == {params.token}
        self.sent.append(params.value)

    async def agree(self) -> None:
        self.may_agree.set()
        for _ in range(3):
            await asyncio.sleep(0)

    def cancel(self) -> None:
        """Cancel as pygls does for a client."""
        for stopped in self.work_done_progress.tokens.values():
            stopped.cancel()

    @property
    def said(self) -> list[tuple[str, int | None]]:
        return [(value.kind, getattr(value, "percentage", None)) for value in self.sent]


def progress(server: Server) -> BackgroundProgress:
    return BackgroundProgress(cast("Any", server), "Reading")


async def test_from_the_beginning_to_the_end() -> None:
    server = Server()
    with progress(server) as published:
        await server.agree()
        published.report("a.txt", 40)
        published.report("b.txt", 80)
    assert server.sent == [
        types.WorkDoneProgressBegin("Reading", cancellable=True, percentage=0),
        types.WorkDoneProgressReport(message="a.txt", percentage=40),
        types.WorkDoneProgressReport(message="b.txt", percentage=80),
        types.WorkDoneProgressEnd(),
    ]


async def test_earlier_work_is_reported_at_the_beginning() -> None:
    server = Server()
    with progress(server) as published:
        published.report("a.txt", 30)
        await server.agree()
        published.report("b.txt", 31)
    assert server.said == [("begin", 30), ("report", 31), ("end", None)]


async def test_work_finished_before_agreement_still_ends() -> None:
    server = Server()
    with progress(server) as published:
        published.report(None, 100)
        await asyncio.sleep(0)
    assert server.sent == []
    await server.agree()
    assert server.said == [("begin", 100), ("end", None)]


async def test_percentage_is_sent_once_and_only_grows() -> None:
    server = Server()
    with progress(server) as published:
        await server.agree()
        for percentage in (1, 1, 7, 3, 7, 101, 200):
            published.report(None, percentage)
    assert server.said == [("begin", 0), ("report", 1), ("report", 7), ("report", 100),
                           ("end", None)]  # fmt: skip


async def test_error_ends_it_too() -> None:
    server = Server()

    async def work() -> None:
        with progress(server):
            await server.agree()
            raise ValueError("no good")

    with pytest.raises(ValueError, match="no good"):
        await work()
    assert server.said == [("begin", 0), ("end", None)]


async def test_user_can_cancel() -> None:
    server = Server()
    with progress(server) as published:
        assert not published.is_cancelled
        await server.agree()
        assert not published.is_cancelled
        server.cancel()
        assert published.is_cancelled
    assert server.said == [("begin", 0), ("end", None)]


@pytest.mark.parametrize(("shows", "agrees"), [(False, True), (True, False)])
async def test_client_without_progress_support_gets_none(shows: bool, agrees: bool) -> None:
    server = Server(shows=shows, agrees=agrees)
    with progress(server) as published:
        await server.agree()
        published.report(None, 50)
        assert not published.is_cancelled
    assert server.context == shows
    assert server.sent == []
