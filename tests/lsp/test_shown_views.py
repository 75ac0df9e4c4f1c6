"""Views of the client: refreshed once, and only if an answer that it shows has changed."""

import asyncio

from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.shown_views import ShownView
from lsp.opened import DUMP, item

URI = "untitled:dump"


class ShownViewHarness:
    """A view of a client that shows one answer, and the refreshes that the client receives."""

    def __init__(self, *, can_refresh: bool = True) -> None:
        self.session = Session()
        self.session.client = Client(can_refresh_lenses=can_refresh)
        self.session.open(item(URI, DUMP))
        self.view = ShownView(self.session, "can_refresh_lenses", self._receive, 0)
        self.answer: object = "1 ms"
        self.log: list[str] = []
        self.may_reply = asyncio.Event()

    async def ask(self) -> object:
        """Return the answer, as a request of the client receives it."""
        return await self.view.answer(URI, None, self._compute)

    async def change(self, answer: object) -> list[str]:
        """Change the answer, and return what the client received until now."""
        self.answer = answer
        self.view.schedule()
        await asyncio.sleep(0.01)
        return self.log

    async def _compute(self) -> object:
        await asyncio.sleep(0)
        return self.answer

    async def _receive(self, _: None) -> None:
        self.log.append("refresh")
        await self.may_reply.wait()
        self.log.append("reply")


async def test_changed_answer_is_refreshed_once() -> None:
    harness = ShownViewHarness()
    await harness.ask()
    assert await harness.change("2 ms") == ["refresh"]
    assert await harness.change("3 ms") == ["refresh"]  # the client has not asked again yet
    await harness.ask()
    assert await harness.change("4 ms") == ["refresh", "refresh"]


async def test_equal_answer_is_not_refreshed() -> None:
    harness = ShownViewHarness()
    await harness.ask()
    assert await harness.change("1 ms") == []


async def test_answer_that_nobody_shows_is_not_refreshed() -> None:
    harness = ShownViewHarness()
    assert await harness.change("2 ms") == []
    await harness.ask()
    harness.session.close(URI)
    assert await harness.change("3 ms") == []


async def test_edited_text_is_not_refreshed() -> None:
    harness = ShownViewHarness()
    await harness.ask()
    document = types.VersionedTextDocumentIdentifier(2, URI)
    change = types.TextDocumentContentChangeWholeDocument(DUMP + "\n")
    harness.session.edit(types.DidChangeTextDocumentParams(document, [change]))
    assert await harness.change("2 ms") == []  # the client asks after each edit


async def test_change_during_a_request_is_refreshed() -> None:
    harness = ShownViewHarness()
    request = asyncio.ensure_future(harness.ask())
    await asyncio.sleep(0)
    harness.view.schedule()
    await request
    assert await harness.change("2 ms") == ["refresh"]


async def test_unchanged_report_stays_shown() -> None:
    harness = ShownViewHarness()
    await harness.ask()

    async def unchanged() -> object:
        return None

    def digest(answer: object) -> str | None:
        return None if answer is None else repr(answer)

    for ask in (harness._compute, unchanged):
        await harness.view.answer(URI, None, ask, again=harness._compute, digest=digest)
    assert await harness.change("1 ms") == []
    assert await harness.change("2 ms") == ["refresh"]


async def test_client_without_support_receives_no_refresh() -> None:
    harness = ShownViewHarness(can_refresh=False)
    await harness.ask()
    harness.view.refresh()
    assert await harness.change("2 ms") == []


async def test_late_reply_does_not_hold_up_the_next_refresh() -> None:
    harness = ShownViewHarness()
    for answer in ("2 ms", "3 ms"):
        await harness.ask()
        await harness.change(answer)
    harness.may_reply.set()
    await asyncio.sleep(0.01)
    assert harness.log == ["refresh", "refresh", "reply", "reply"]
