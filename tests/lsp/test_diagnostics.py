"""Tests for diagnostics that the server pushes after a pause in typing."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.checks.run import check_by_pace
from hlo_lsp.lsp import diagnostics, findings, scheduling, session
from hlo_lsp.lsp.client import Client, Json, diagnostic_json
from hlo_lsp.lsp.diagnostics import FileDiagnostics, OpenFileDiagnostics
from hlo_lsp.lsp.findings import CheckedText, all_findings
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.model import workspace
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text import disk
from lsp.opened import DUMP, context, item, split_dump
from lsp.test_session_edits import edit, whole_document

URI = "untitled:1"
DAMAGED = DUMP.replace("(size=512,offset=512)", "(size=512,offset=1000)")
WRONG_MODULE = """\
HloModule f, is_scheduled=true, entry_computation_layout={(f32[4]{0:T(128)})->f32[5]{0:T(128)}}

ENTRY %main (x: f32[4]) -> f32[5] {
  %x = f32[4]{0:T(128)} parameter(0)
  %add = f32[4]{0:T(128)S(1)} add(%x, %x)
  ROOT %mul = f32[5]{0:T(128)} multiply(%add, %add)
}
"""
OF_RECORDS = ["shape-mismatch"] * 2
OF_COMPILE = ["shape-definition-mismatch", *OF_RECORDS]


class PushHarness:
    """Session whose diagnostics are pushed like those of the server."""

    def __init__(self, client: Client) -> None:
        self.published: list[Json] = []
        self.refreshes = 0
        self.session = Session()
        self.session.client = client
        self.pusher = OpenFileDiagnostics(self.session, self.published.append, self.refresh)

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

    async def complete_reports(self) -> list[tuple[str, int | None, list[str]]]:
        """Wait for all tasks, and return new complete reports as (URI, version, codes)."""
        return [
            (uri, version, codes) for uri, version, codes in await self.all_reports() if version
        ]

    async def all_reports(self) -> list[tuple[str, int | None, list[str]]]:
        """Wait for all tasks, and return new reports, complete or partial."""
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(*tasks, return_exceptions=True)
        reports = list(self.published)
        self.published.clear()
        return [
            (report["uri"], report.get("version"), [one["code"] for one in report["diagnostics"]])
            for report in reports
        ]


@pytest.fixture
def new_harness(monkeypatch: pytest.MonkeyPatch) -> Callable[..., PushHarness]:
    monkeypatch.setattr(diagnostics, "_DEBOUNCE_SECONDS", 0)
    return lambda **flags: PushHarness(replace(Client(), **flags))


async def test_opened_file_is_checked(new_harness: Callable[..., PushHarness]) -> None:
    harness = new_harness()
    harness.open(URI, DAMAGED, version=5)
    assert await harness.complete_reports() == [(URI, 5, ["out-of-bounds"])]


async def test_intact_file_gets_an_empty_list(new_harness: Callable[..., PushHarness]) -> None:
    harness = new_harness()
    harness.open(URI, DUMP)
    assert await harness.complete_reports() == [(URI, 1, [])]


async def test_other_file_gets_no_diagnostics(new_harness: Callable[..., PushHarness]) -> None:
    harness = new_harness()
    harness.open(URI, "--flag=1\n")
    assert await harness.complete_reports() in ([], [(URI, 1, [])])


async def test_burst_of_edits_is_checked_once(new_harness: Callable[..., PushHarness]) -> None:
    harness = new_harness()
    harness.open(URI, DUMP)
    harness.edit(URI, "BufferAssignment:\n", version=2)
    harness.edit(URI, "", version=3)
    harness.edit(URI, DAMAGED, version=4)
    assert await harness.complete_reports() == [(URI, 4, ["out-of-bounds"])]
    harness.edit(URI, DUMP, version=5)
    assert await harness.complete_reports() == [(URI, 5, [])]


async def test_edit_that_removes_dump_clears_diagnostics(
    new_harness: Callable[..., PushHarness],
) -> None:
    harness = new_harness()
    harness.open(URI, DAMAGED)
    await harness.complete_reports()
    harness.edit(URI, "plain text")
    assert await harness.complete_reports() == [(URI, 2, [])]


async def test_closing_file_clears_its_diagnostics(new_harness: Callable[..., PushHarness]) -> None:
    harness = new_harness()
    harness.open(URI, DAMAGED)
    await harness.complete_reports()
    harness.close(URI)
    assert await harness.all_reports() == [(URI, None, [])]


async def test_closing_unchecked_file_clears_its_diagnostics(
    new_harness: Callable[..., PushHarness],
) -> None:
    harness = new_harness()
    harness.open(URI, DAMAGED)
    harness.close(URI)
    assert await harness.all_reports() == [(URI, None, [])]
    harness.open(URI, DAMAGED)
    await asyncio.sleep(0)
    harness.close(URI)
    assert (await harness.all_reports())[-1] == (URI, None, [])


async def test_companion_files_are_checked_again(
    new_harness: Callable[..., PushHarness], tmp_path: Path
) -> None:
    paths = split_dump(tmp_path)
    harness = new_harness()
    harness.session.settings = Settings(check=CheckOptions(ignore=frozenset({"sibling-missing"})))
    texts = {path.as_uri(): disk.read_document(path).text for path in paths.values()}
    assignment, values, ranges = texts
    for uri, text in texts.items():
        harness.open(uri, text)
    assert sorted(await harness.complete_reports()) == sorted((uri, 1, []) for uri in texts)
    harness.edit(values, texts[values].replace("<2 add", "<2 other"))
    assert {uri: bool(codes) for uri, _, codes in await harness.complete_reports()} == {
        assignment: False,
        values: True,
        ranges: False,
    }
    harness.edit(assignment, texts[assignment].replace("<2 add", "<2 other"))
    has_diagnostics = {uri: bool(codes) for uri, _, codes in await harness.complete_reports()}
    assert (has_diagnostics[assignment], has_diagnostics[ranges]) == (False, True)
    harness.close(values)  # On disk, the value still has the name add.
    assert {uri: codes for uri, _, codes in await harness.complete_reports()}[ranges] == []


class CancelledProgress(Progress):
    """The progress of a task that the user cancels at once."""

    @property
    def is_cancelled(self) -> bool:
        return True


class LoadingListener(SessionListener):
    """A listener that checks files again when others are read, as the server does.

    The user cancels the reading of the files in ``cancelled``.
    """

    def __init__(self, harness: PushHarness, cancelled: frozenset[str] = frozenset()) -> None:
        self._harness = harness
        self._cancelled = cancelled

    def progress(self, title: str, *, is_indefinite: bool = False) -> Progress:  # noqa: ARG002
        is_cancelled = title.removeprefix("Reading ") in self._cancelled
        return (CancelledProgress if is_cancelled else Progress)(title)

    def file_loaded(self, path: Path) -> None:
        self._harness.pusher.companion_read(path)


def open_module(harness: PushHarness, folder: Path) -> str:
    """Open a module text that contradicts itself and the other files, and return its URI."""
    split_dump(folder)
    path = folder / "module_0001.f.after_optimizations.txt"
    path.write_text(WRONG_MODULE, "utf-8")
    harness.open(path.as_uri(), WRONG_MODULE)
    return path.as_uri()


@pytest.fixture
def slow_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[PushHarness], None]:
    """Read all companions in the background, and return a function that waits for diagnostics."""
    for name in ("_LARGE_FILE_BYTES", "_LARGE_COMPANION_BYTES"):
        monkeypatch.setattr(workspace, name, 0)
    harnesses: list[PushHarness] = []
    original = DumpWorkspace.read

    def read(self: DumpWorkspace, path: Path, report: Callable[[int], None]) -> None:
        while not any(harness.published for harness in harnesses):
            report(0)
            checkpoint()
        original(self, path, report)

    monkeypatch.setattr(DumpWorkspace, "read", read)
    return harnesses.append


async def test_one_complete_check_follows_when_all_companions_are_read(
    new_harness: Callable[..., PushHarness],
    slow_reading: Callable[[PushHarness], None],
    tmp_path: Path,
) -> None:
    harness = new_harness()
    slow_reading(harness)
    harness.session.listener = LoadingListener(harness)
    uri = open_module(harness, tmp_path)
    reports = await harness.all_reports()
    assert reports[0] == (uri, None, OF_RECORDS)
    assert [report for report in reports if report[1]] == [(uri, 1, OF_COMPILE)]


@pytest.mark.usefixtures("slow_reading")
async def test_complete_check_does_not_wait_for_cancelled_reading(
    new_harness: Callable[..., PushHarness], tmp_path: Path
) -> None:
    harness = new_harness()
    names = frozenset(path.name for path in split_dump(tmp_path).values())
    harness.session.listener = LoadingListener(harness, names)
    uri = open_module(harness, tmp_path)
    assert await harness.complete_reports() == [(uri, 1, OF_RECORDS)]


async def test_complete_check_does_not_wait_for_unreadable_files(
    new_harness: Callable[..., PushHarness],
    slow_reading: Callable[[PushHarness], None],
    tmp_path: Path,
) -> None:
    harness = new_harness()
    slow_reading(harness)
    harness.session.listener = LoadingListener(harness)
    uri = open_module(harness, tmp_path)
    for path in tmp_path.glob("*-*.txt"):
        path.write_bytes(b"\0" * 100)
    end = time.monotonic() + 5
    while not any("version" in one for one in harness.published) and time.monotonic() < end:
        await asyncio.sleep(0.01)
    harness.close(uri)  # in an endless loop of checks, the harness would wait forever
    assert await harness.complete_reports() == [(uri, 1, OF_RECORDS)]


class PullHarness(PushHarness):
    """Session whose client pulls the diagnostics of a file after each refresh."""

    def __init__(self, client: Client) -> None:
        super().__init__(replace(client, can_pull_diagnostics=True, can_refresh_diagnostics=True))
        self.uri = ""
        self.reports: list[Json] = []

    def refresh(self) -> None:
        super().refresh()
        asyncio.ensure_future(self._pull())  # noqa: RUF006  # the harness waits for all tasks

    async def _pull(self) -> None:
        document = types.TextDocumentIdentifier(self.uri)
        self.reports.append(await self.pusher.pull(types.DocumentDiagnosticParams(document)))


@pytest.fixture
def partial_checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the partial checks; a list of them is called large."""
    monkeypatch.setattr(session, "MAX_FULL_ANSWER_LINES", 0)
    found: list[str] = []
    original = findings._findings_on_records

    def check(context: RequestContext, *rest: Any) -> Any:
        found.append(context.file.uri)
        return original(context, *rest)

    monkeypatch.setattr(findings, "_findings_on_records", check)
    return found


def read_until(monkeypatch: pytest.MonkeyPatch, is_over: Callable[[], bool]) -> None:
    """Read companions in the background, which lasts until a condition is true."""
    for name in ("_LARGE_FILE_BYTES", "_LARGE_COMPANION_BYTES"):
        monkeypatch.setattr(workspace, name, 0)
    original = DumpWorkspace.read

    def read(self: DumpWorkspace, path: Path, report: Callable[[int], None]) -> None:
        while not is_over():
            report(0)
            checkpoint()
        original(self, path, report)

    monkeypatch.setattr(DumpWorkspace, "read", read)


async def test_pulls_do_not_repeat_a_partial_check(
    partial_checks: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    harness = PullHarness(Client())
    read_until(monkeypatch, lambda: len(harness.reports) > 5)
    harness.session.listener = LoadingListener(harness)
    harness.uri = open_module(harness, tmp_path)
    while len(harness.reports) <= 5:
        await asyncio.sleep(0.02)
        harness.refresh()
    await harness.all_reports()
    assert len(partial_checks) == 1
    assert [one["code"] for one in harness.reports[-1]["items"]] == OF_COMPILE


async def test_refresh_follows_reading_that_ends_during_a_partial_check(
    partial_checks: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    harness = PullHarness(Client())
    read_until(monkeypatch, lambda: bool(partial_checks))
    harness.session.listener = LoadingListener(harness)
    original = check_by_pace

    def slow_check(*arguments: Any) -> Any:
        yield from original(*arguments)
        for _ in range(30):  # the files are read, and the client pulls again
            time.sleep(0.005)
            checkpoint()

    monkeypatch.setattr(findings, "check_by_pace", slow_check)
    harness.uri = open_module(harness, tmp_path)
    await harness.all_reports()
    assert partial_checks
    assert [one["code"] for one in harness.reports[-1]["items"]] == OF_COMPILE


async def test_foreign_files_are_not_checked_again(
    new_harness: Callable[..., PushHarness], tmp_path: Path
) -> None:
    harness = new_harness()
    harness.open("untitled:other", DUMP)
    harness.open(split_dump(tmp_path)["-live-range"].as_uri(), DUMP)
    await harness.complete_reports()
    harness.open(URI, DUMP)
    harness.edit(URI, DAMAGED)
    assert await harness.complete_reports() == [(URI, 2, ["out-of-bounds"])]


async def test_pulling_client_gets_only_refreshes(new_harness: Callable[..., PushHarness]) -> None:
    harness = new_harness(can_pull_diagnostics=True)
    harness.open(URI, DAMAGED)
    harness.edit(URI, DUMP)
    harness.close(URI)
    assert await harness.complete_reports() == []
    assert harness.refreshes == 3


async def test_pending_diagnostics_are_kept(
    new_harness: Callable[..., PushHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that partial reports have both new findings and earlier diagnostics."""
    monkeypatch.setattr(scheduling, "_SLICE_SECONDS", 0)
    harness = new_harness()
    harness.open(URI, DAMAGED)
    await harness.all_reports()
    harness.edit(URI, DAMAGED.replace("<1 x @0> (size=512", "<1 x @0> (size=500"))
    *partial, (_, version, whole_list) = await harness.all_reports()
    assert partial
    assert version == 2
    assert {"size-mismatch", "out-of-bounds"} <= set(whole_list)
    for _, none, codes in partial:
        assert none is None
        assert {"size-mismatch", "out-of-bounds"} <= set(codes)


async def test_new_settings_apply_at_once(new_harness: Callable[..., PushHarness]) -> None:
    harness = new_harness()
    harness.open(URI, DAMAGED)
    await harness.complete_reports()
    harness.session.settings = Settings(check=CheckOptions(ignore=frozenset({"out-of-bounds"})))
    harness.pusher.all_changed()
    assert await harness.complete_reports() == [(URI, 1, [])]


TWICE_DAMAGED = DUMP.replace("<1 x @0> (size=512", "<1 x @0> (size=500").replace(
    "(size=512,offset=512)", "(size=512,offset=1000)"
)
SIZE, BOUNDS = "size-mismatch", "out-of-bounds"


class ShownDiagnostics:
    """Diagnostics of a file, and the codes of each list that was shown."""

    def __init__(self, context: RequestContext, interval: float = 0) -> None:
        self.lists: list[list[str]] = []
        self.context = context
        self.diagnostics = FileDiagnostics(context.file, self._show, interval)

    def _show(self, listed: list[Json]) -> None:
        self.lists.append([str(one["code"]) for one in listed])

    def update(self, found: list[Finding], *pending: str) -> None:
        self.diagnostics.update(self.context, found, frozenset(pending))


def checked_text(file: DumpFile, found: list[Json]) -> CheckedText:
    lines = {line: file.lines[line] for line in (one["range"]["start"]["line"] for one in found)}
    return CheckedText(found, lines, len(file.lines), "1")


async def damaged_findings() -> tuple[RequestContext, Finding, Finding]:
    file = await context(TWICE_DAMAGED)
    first, second = all_findings([file])
    assert (first.code, second.code) == (SIZE, BOUNDS)
    return file, first, second


async def test_next_check_keeps_the_list_of_a_partial_one() -> None:
    file, first, second = await damaged_findings()
    shown = ShownDiagnostics(file)
    listed = [diagnostic_json(file.client, one) for one in (first, second)]
    shown.diagnostics.complete(replace(checked_text(file.file, listed), is_complete=False))
    shown.update([first], SIZE, BOUNDS)
    assert shown.lists == [[SIZE, BOUNDS]]
    shown.update([first])
    assert shown.lists[1:] == [[SIZE]]


async def test_unchanged_findings_are_shown_once() -> None:
    file, first, second = await damaged_findings()
    shown, found = ShownDiagnostics(file), [first]
    shown.update(found, BOUNDS)
    shown.update(found, BOUNDS)
    found.append(second)
    shown.update(found)
    assert shown.lists == [[SIZE], [SIZE, BOUNDS]]


async def test_repeated_finding_is_shown_once() -> None:
    file, first, second = await damaged_findings()
    shown = ShownDiagnostics(file)
    shown.diagnostics.complete(checked_text(file.file, [diagnostic_json(file.client, second)]))
    shown.update([first, second], SIZE, BOUNDS)
    assert shown.lists == [[SIZE, BOUNDS]]


async def test_restarted_check_shows_new_findings() -> None:
    file, first, second = await damaged_findings()
    shown = ShownDiagnostics(file)
    shown.update([first])
    shown.update([second])
    assert shown.lists == [[SIZE], [BOUNDS]]


async def test_new_findings_wait_for_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(diagnostics, "time", SimpleNamespace(monotonic=lambda: now[0]))
    file, first, second = await damaged_findings()
    shown, found = ShownDiagnostics(file, interval=1), [first]
    shown.update(found)
    found.append(second)
    shown.update(found)
    assert shown.lists == [[SIZE]]
    now[0] += 2
    shown.update(found)
    assert shown.lists == [[SIZE], [SIZE, BOUNDS]]


async def test_long_lists_are_shown_only_when_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "_MAX_PARTIAL_DIAGNOSTICS", 1)
    file, first, second = await damaged_findings()
    shown = ShownDiagnostics(file)
    shown.update([first, second])
    assert shown.lists == []


LINES = ["a", "b", "c", "d"]


def diagnostic_at(code: str, line: int) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    return {"code": code, "range": {"start": place, "end": dict(place, character=1)}}


def remaining_lines(
    complete: list[int], lines: list[str], pending: frozenset[str] | None = frozenset("x")
) -> list[int]:
    """Return the lines of the diagnostics that stay valid after an edit."""
    file = DumpFile.of_text("\n".join(LINES))
    file_diagnostics = FileDiagnostics(file, lambda _: None, 0)
    file_diagnostics.complete(checked_text(file, [diagnostic_at("x", line) for line in complete]))
    file.changed(file.document.replace("\n".join(lines)))
    return [
        int(diagnostic["range"]["end"]["line"])
        for diagnostic in file_diagnostics.still_valid(pending)
    ]


def test_diagnostics_before_an_edit_are_kept() -> None:
    assert remaining_lines([0, 1], ["a", "b", "new", "c", "d"]) == [0, 1]


def test_diagnostics_after_an_edit_move_with_lines() -> None:
    assert remaining_lines([2, 3], ["a", "b", "new", "c", "d"]) == [3, 4]
    assert remaining_lines([2, 3], ["a", "c", "d"]) == [1, 2]


def test_diagnostics_on_edited_lines_are_removed() -> None:
    assert remaining_lines([1], ["a", "B", "c", "d"]) == []
    assert remaining_lines([3], ["a"]) == []


def test_diagnostics_of_finished_rules_are_removed() -> None:
    assert remaining_lines([1], LINES, frozenset("y")) == []


def test_unchecked_diagnostics_are_kept() -> None:
    assert remaining_lines([1], LINES, None) == [1]
