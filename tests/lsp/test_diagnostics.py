"""Diagnostics that the server pushes after a pause in typing."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp import diagnostics
from hlo_lsp.lsp import scheduling as running
from hlo_lsp.lsp.client import Client, Json, diagnostic_json
from hlo_lsp.lsp.diagnostics import FileDiagnostics, OpenFileDiagnostics
from hlo_lsp.lsp.findings import findings
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text import disk
from lsp.opened import DUMP, context, item, split_dump
from lsp.test_session_edits import edit, whole_document

URI = "untitled:1"
DAMAGED = DUMP.replace("(size=512,offset=512)", "(size=512,offset=1000)")


class PushHarness:
    """A session with a pusher, driven as the server drives it."""

    def __init__(self, client: Client) -> None:
        self.published: list[Json] = []
        self.refreshes = 0
        self.session = Session()
        self.session.client = client
        self.pusher = OpenFileDiagnostics(
            self.session, self.published.append, self.refresh, nullcontext
        )

    def refresh(self) -> None:
        self.refreshes += 1

    def open(self, uri: str, text: str, version: int = 1) -> DumpFile:
        file = self.session.open(item(uri, text, version))
        self.pusher.changed(file)
        return file

    def edit(self, uri: str, text: str, version: int = 2) -> None:
        file = edit(self.session, whole_document(text), uri=uri, version=version)
        assert file is not None
        self.pusher.changed(file)

    def close(self, uri: str) -> None:
        file = self.session.close(uri)
        assert file is not None
        self.pusher.closed(file)

    async def sent(self) -> list[tuple[str, int | None, list[str]]]:
        """Wait for all tasks, and return new complete diagnostics: file, version, codes."""
        return [(uri, version, codes) for uri, version, codes in await self.all_sent() if version]

    async def all_sent(self) -> list[tuple[str, int | None, list[str]]]:
        """Wait for all tasks, and return new diagnostics, complete or not."""
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(*tasks, return_exceptions=True)
        sent = list(self.published)
        self.published.clear()
        return [
            (said["uri"], said.get("version"), [one["code"] for one in said["diagnostics"]])
            for said in sent
        ]


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Callable[..., PushHarness]:
    monkeypatch.setattr(diagnostics, "_DEBOUNCE_SECONDS", 0)
    return lambda **flags: PushHarness(replace(Client(), **flags))


async def test_opened_file_is_checked(harness: Callable[..., PushHarness]) -> None:
    at = harness()
    at.open(URI, DAMAGED, version=5)
    assert await at.sent() == [(URI, 5, ["out-of-bounds"])]


async def test_an_intact_file_gets_an_empty_list(harness: Callable[..., PushHarness]) -> None:
    at = harness()
    at.open(URI, DUMP)
    assert await at.sent() == [(URI, 1, [])]


async def test_other_file_gets_no_diagnostics(harness: Callable[..., PushHarness]) -> None:
    at = harness()
    at.open(URI, "--flag=1\n")
    assert await at.sent() in ([], [(URI, 1, [])])


async def test_burst_of_edits_is_checked_once(harness: Callable[..., PushHarness]) -> None:
    at = harness()
    at.open(URI, DUMP)
    at.edit(URI, "BufferAssignment:\n", version=2)
    at.edit(URI, "", version=3)
    at.edit(URI, DAMAGED, version=4)
    assert await at.sent() == [(URI, 4, ["out-of-bounds"])]
    at.edit(URI, DUMP, version=5)
    assert await at.sent() == [(URI, 5, [])]


async def test_text_that_becomes_no_dump_loses_its_diagnostics(
    harness: Callable[..., PushHarness],
) -> None:
    at = harness()
    at.open(URI, DAMAGED)
    await at.sent()
    at.edit(URI, "plain text")
    assert await at.sent() == [(URI, 2, [])]


async def test_closing_clears_the_list(harness: Callable[..., PushHarness]) -> None:
    at = harness()
    at.open(URI, DAMAGED)
    await at.sent()
    at.close(URI)
    assert await at.all_sent() == [(URI, None, [])]


async def test_closing_right_after_opening_clears_the_list(
    harness: Callable[..., PushHarness],
) -> None:
    at = harness()
    at.open(URI, DAMAGED)
    at.close(URI)
    assert await at.all_sent() == [(URI, None, [])]
    at.open(URI, DAMAGED)
    await asyncio.sleep(0)
    at.close(URI)
    assert (await at.all_sent())[-1] == (URI, None, [])


async def test_companion_files_are_checked_again(
    harness: Callable[..., PushHarness], tmp_path: Path
) -> None:
    paths = split_dump(tmp_path)
    at = harness()
    at.session.settings = Settings(check=CheckOptions(ignore=frozenset({"sibling-missing"})))
    texts = {path.as_uri(): disk.read_document(path).text for path in paths.values()}
    assignment, values, ranges = texts
    for uri, text in texts.items():
        at.open(uri, text)
    assert sorted(await at.sent()) == sorted((uri, 1, []) for uri in texts)
    at.edit(values, texts[values].replace("<2 add", "<2 other"))
    assert {uri: bool(codes) for uri, _, codes in await at.sent()} == {
        assignment: False,
        values: True,
        ranges: False,
    }
    at.edit(assignment, texts[assignment].replace("<2 add", "<2 other"))
    sent = {uri: bool(codes) for uri, _, codes in await at.sent()}
    assert (sent[assignment], sent[ranges]) == (False, True)
    at.close(values)  # on disk the value is still called add
    assert {uri: codes for uri, _, codes in await at.sent()}[ranges] == []


async def test_foreign_files_are_not_checked_again(
    harness: Callable[..., PushHarness], tmp_path: Path
) -> None:
    at = harness()
    at.open("untitled:other", DUMP)
    at.open(split_dump(tmp_path)["-live-range"].as_uri(), DUMP)
    await at.sent()
    at.open(URI, DUMP)
    at.edit(URI, DAMAGED)
    assert await at.sent() == [(URI, 2, ["out-of-bounds"])]


async def test_a_client_that_pulls_gets_refreshes_only(harness: Callable[..., PushHarness]) -> None:
    at = harness(can_pull_diagnostics=True)
    at.open(URI, DAMAGED)
    at.edit(URI, DUMP)
    at.close(URI)
    assert await at.sent() == []
    assert at.refreshes == 3


async def test_pending_diagnostics_stay(
    harness: Callable[..., PushHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two complete lists stands what is found already, beside what was there before."""
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)
    at = harness()
    at.open(URI, DAMAGED)
    await at.all_sent()
    at.edit(URI, DAMAGED.replace("<1 x @0> (size=512", "<1 x @0> (size=500"))
    *partial, (_, version, whole_list) = await at.all_sent()
    assert partial
    assert version == 2
    assert {"size-mismatch", "out-of-bounds"} <= set(whole_list)
    for _, none, codes in partial:
        assert none is None
        assert {"size-mismatch", "out-of-bounds"} <= set(codes)


async def test_new_settings_apply_at_once(harness: Callable[..., PushHarness]) -> None:
    at = harness()
    at.open(URI, DAMAGED)
    await at.sent()
    at.session.settings = Settings(check=CheckOptions(ignore=frozenset({"out-of-bounds"})))
    at.pusher.all_changed()
    assert await at.sent() == [(URI, 1, [])]


TWICE_DAMAGED = DUMP.replace("<1 x @0> (size=512", "<1 x @0> (size=500").replace(
    "(size=512,offset=512)", "(size=512,offset=1000)"
)
SIZE, BOUNDS = "size-mismatch", "out-of-bounds"


class ShownDiagnostics:
    """A look, and the codes of each list that it has shown."""

    def __init__(self, context: RequestContext, interval: float = 0) -> None:
        self.lists: list[list[str]] = []
        self.context = context
        self.diagnostics = FileDiagnostics(context.file, self._show, interval)

    def _show(self, listed: list[Json]) -> None:
        self.lists.append([str(one["code"]) for one in listed])

    def tell(self, found: list[Finding], *pending: str) -> None:
        self.diagnostics.update(self.context, found, frozenset(pending))


async def of_damaged() -> tuple[RequestContext, Finding, Finding]:
    file = await context(TWICE_DAMAGED)
    first, second = await findings(file)
    assert (first.code, second.code) == (SIZE, BOUNDS)
    return file, first, second


async def test_unchanged_findings_are_shown_once() -> None:
    file, first, second = await of_damaged()
    shown, found = ShownDiagnostics(file), [first]
    shown.tell(found, BOUNDS)
    shown.tell(found, BOUNDS)
    found.append(second)
    shown.tell(found)
    assert shown.lists == [[SIZE], [SIZE, BOUNDS]]


async def test_repeated_finding_is_shown_once() -> None:
    file, first, second = await of_damaged()
    shown = ShownDiagnostics(file)
    shown.diagnostics.complete([diagnostic_json(file.client, one) for one in (second,)])
    shown.tell([first, second], SIZE, BOUNDS)
    assert shown.lists == [[SIZE, BOUNDS]]


async def test_restarted_check_shows_new_findings() -> None:
    file, first, second = await of_damaged()
    shown = ShownDiagnostics(file)
    shown.tell([first])
    shown.tell([second])
    assert shown.lists == [[SIZE], [BOUNDS]]


async def test_new_findings_wait_for_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(diagnostics, "time", SimpleNamespace(monotonic=lambda: now[0]))
    file, first, second = await of_damaged()
    shown, found = ShownDiagnostics(file, interval=1), [first]
    shown.tell(found)
    found.append(second)
    shown.tell(found)
    assert shown.lists == [[SIZE]]
    now[0] += 2
    shown.tell(found)
    assert shown.lists == [[SIZE], [SIZE, BOUNDS]]


async def test_long_lists_are_shown_when_they_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "_MAX_PARTIAL_DIAGNOSTICS", 1)
    file, first, second = await of_damaged()
    shown = ShownDiagnostics(file)
    shown.tell([first, second])
    assert shown.lists == []


LINES = ["a", "b", "c", "d"]


def found(code: str, line: int) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    return {"code": code, "range": {"start": place, "end": dict(place, character=1)}}


def left(
    complete: list[int], lines: list[str], pending: frozenset[str] | None = frozenset("x")
) -> list[int]:
    """Return the lines of the diagnostics that stay valid after an edit."""
    file = DumpFile.of_text("\n".join(LINES))
    one = FileDiagnostics(file, lambda _: None, 0)
    one.complete([found("x", line) for line in complete])
    file.changed(file.document.replace("\n".join(lines)))
    return [int(each["range"]["end"]["line"]) for each in one.still_valid(pending)]


def test_diagnostics_before_an_edit_stay() -> None:
    assert left([0, 1], ["a", "b", "new", "c", "d"]) == [0, 1]


def test_diagnostics_after_an_edit_move_with_lines() -> None:
    assert left([2, 3], ["a", "b", "new", "c", "d"]) == [3, 4]
    assert left([2, 3], ["a", "c", "d"]) == [1, 2]


def test_diagnostics_on_edited_lines_are_removed() -> None:
    assert left([1], ["a", "B", "c", "d"]) == []
    assert left([3], ["a"]) == []


def test_diagnostics_of_finished_rules_are_removed() -> None:
    assert left([1], LINES, frozenset("y")) == []


def test_unchecked_diagnostics_are_kept() -> None:
    assert left([1], LINES, None) == [1]
