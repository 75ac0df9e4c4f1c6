"""What is shown of a file before all of it was looked at."""

from types import SimpleNamespace

import pytest

from hlo_lsp.checks.finding import Finding
from hlo_lsp.lsp import checking as look_module
from hlo_lsp.lsp.checking import PartialDiagnostics, PublishedDiagnostics, findings
from hlo_lsp.lsp.diagnostic_conversion import diagnostic_json
from hlo_lsp.lsp.positions import Json
from hlo_lsp.lsp.session import RequestContext
from lsp.opened import DUMP, context

DAMAGED = DUMP.replace("<1 x @0> (size=512", "<1 x @0> (size=500").replace(
    "(size=512,offset=512)", "(size=512,offset=1000)"
)
SIZE, BOUNDS = "size-mismatch", "out-of-bounds"


class Screen:
    """A look, and the codes of each list that it has shown."""

    def __init__(
        self,
        context: RequestContext,
        published: PublishedDiagnostics | None = None,
        interval: float = 0,
    ) -> None:
        self.lists: list[list[str]] = []
        self.context = context
        self.partial_list = PartialDiagnostics(
            context.file, published or PublishedDiagnostics(), self._show, interval
        )

    def _show(self, listed: list[Json]) -> None:
        self.lists.append([str(one["code"]) for one in listed])

    def tell(self, found: list[Finding], *pending: str) -> None:
        self.partial_list.update(self.context, found, frozenset(pending))


async def of_damaged() -> tuple[RequestContext, Finding, Finding]:
    file = await context(DAMAGED)
    first, second = await findings(file)
    assert (first.code, second.code) == (SIZE, BOUNDS)
    return file, first, second


async def test_what_was_found_is_shown_once() -> None:
    file, first, second = await of_damaged()
    screen, found = Screen(file), [first]
    screen.tell(found, BOUNDS)
    screen.tell(found, BOUNDS)
    found.append(second)
    screen.tell(found)
    assert screen.lists == [[SIZE], [SIZE, BOUNDS]]


async def test_what_is_found_again_stands_there_once() -> None:
    file, first, second = await of_damaged()
    published = PublishedDiagnostics()
    published.complete(
        [diagnostic_json(file.client, one) for one in (first, second)], file.file.lines
    )
    screen = Screen(file, published)
    screen.tell([second], SIZE, BOUNDS)
    assert screen.lists == [[SIZE, BOUNDS]]


async def test_a_look_that_begins_anew_shows_what_it_finds_then() -> None:
    file, first, second = await of_damaged()
    screen = Screen(file)
    screen.tell([first])
    screen.tell([second])
    assert screen.lists == [[SIZE], [BOUNDS]]


async def test_news_wait_for_the_end_of_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(look_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    file, first, second = await of_damaged()
    screen, found = Screen(file, interval=1), [first]
    screen.tell(found)
    found.append(second)
    screen.tell(found)
    assert screen.lists == [[SIZE]]
    now[0] += 2
    screen.tell(found)
    assert screen.lists == [[SIZE], [SIZE, BOUNDS]]


async def test_long_lists_are_shown_when_they_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_module, "_MAX_PARTIAL_DIAGNOSTICS", 1)
    file, first, second = await of_damaged()
    screen = Screen(file)
    screen.tell([first, second])
    assert screen.lists == []
