"""Tests for diagnostics that the client pulls, and their form in the protocol."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp import diagnostics, scheduling
from hlo_lsp.lsp import session as session_module
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.diagnostics import OpenFileDiagnostics, diagnostic_report
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.text import disk
from lsp.opened import DUMP, context, context_in, item, split_dump
from lsp.test_session_edits import edit, part, whole_document

Full = types.RelatedFullDocumentDiagnosticReport
Unchanged = types.RelatedUnchangedDocumentDiagnosticReport
URI = "untitled:1"
CONVERTER = get_converter()
IGNORE_MISSING_FILES = Settings(check=CheckOptions(ignore=frozenset({"sibling-missing"})))
DAMAGED = DUMP.replace("(size=512,offset=512)", "(size=512,offset=1000)")


async def request_context(session: Session, uri: str = URI) -> RequestContext | None:
    return await context_in(session, types.TextDocumentIdentifier(uri))


async def pull(context: RequestContext | None, previous: str | None = None) -> Full | Unchanged:
    """Return the report as a client decodes it."""
    session = Session() if context is None else context.session
    uri = URI if context is None else context.file.uri
    report = await diagnostic_report(session, types.TextDocumentIdentifier(uri), previous)
    shape = {"full": Full, "unchanged": Unchanged}[report["kind"]]
    return CONVERTER.structure(report, shape)


async def pull_full(context: RequestContext | None, previous: str | None = None) -> Full:
    report = await pull(context, previous)
    assert isinstance(report, Full)
    return report


async def test_finding_becomes_a_complete_diagnostic() -> None:
    request = await context(DAMAGED)
    (diagnostic,) = (await pull_full(request)).items
    line = DAMAGED.split("\n")[diagnostic.range.start.line]
    assert line.startswith(" value: <2 add")
    assert line[diagnostic.range.start.character : diagnostic.range.end.character] == "1000"
    assert diagnostic.range.start.line == diagnostic.range.end.line
    assert diagnostic.severity is types.DiagnosticSeverity.Error
    assert (diagnostic.code, diagnostic.source) == ("out-of-bounds", "hlo-lsp")
    assert "1,512" in diagnostic.message
    assert "1,024" in diagnostic.message
    assert diagnostic.related_information is not None
    (related,) = diagnostic.related_information
    assert related.location.uri == request.file.uri
    line = DAMAGED.split("\n")[related.location.range.start.line]
    assert line.startswith("allocation 2")
    span = related.location.range
    assert line[span.start.character : span.end.character] == "1024"


async def test_related_places_are_omitted_without_support() -> None:
    client = replace(Client(), can_show_related=False)
    (diagnostic,) = (await pull_full(await context(DAMAGED, client))).items
    assert diagnostic.related_information is None


async def test_second_pull_is_unchanged() -> None:
    request = await context(DAMAGED)
    first = await pull_full(request)
    second = await pull(request, first.result_id)
    assert isinstance(second, Unchanged)
    assert second.result_id == first.result_id


@pytest.mark.parametrize("previous", [None, "", "something", "0-1"])
async def test_pull_with_unknown_result_id_is_full(previous: str | None) -> None:
    assert len((await pull_full(await context(DAMAGED), previous)).items) == 1


async def test_other_file_has_an_empty_report() -> None:
    session = Session()
    session.open(item(URI, "int main() {}"))
    assert not (await pull_full(await request_context(session))).items


async def test_edit_leads_to_full_report_with_new_id() -> None:
    session = Session()
    file = session.open(item(URI, DUMP))
    first = await pull_full(await request_context(session))
    line = next(n for n, text in enumerate(file.lines) if "offset=512" in text)
    column = file.lines[line].index("offset=512") + len("offset=")
    edit(session, part((line, column), (line, column + 3), "1000"))
    second = await pull_full(await request_context(session), first.result_id)
    assert [d.code for d in second.items] == ["out-of-bounds"]
    assert second.result_id != first.result_id
    edit(session, part((line, column), (line, column + 4), "512"))
    third = await pull_full(await request_context(session), second.result_id)
    assert not third.items
    assert len({first.result_id, second.result_id, third.result_id}) == 3


async def test_closed_companion_file_is_read_from_disk(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    session = Session()
    session.settings = IGNORE_MISSING_FILES
    values, assignment = paths["-buffer-assignment-values"], paths["-buffer-assignment"]
    text = disk.read_document(values).text
    session.open(item(assignment.as_uri(), disk.read_document(assignment).text))
    session.open(item(values.as_uri(), text.replace("<2 add", "<2 other")))
    damaged = await pull_full(await request_context(session, assignment.as_uri()))
    for _ in range(100):  # A result ID from a memory address would repeat.
        session.close(values.as_uri())
        corrected = await pull_full(
            await request_context(session, assignment.as_uri()), damaged.result_id
        )
        assert not corrected.items
        session.open(item(values.as_uri(), text.replace("<2 add", "<2 other")))
        damaged = await pull_full(
            await request_context(session, assignment.as_uri()), corrected.result_id
        )


async def test_reopened_file_gets_a_full_report() -> None:
    session = Session()
    for _ in range(20):
        session.open(item(URI, DAMAGED))
        damaged = await pull_full(await request_context(session))
        assert len(damaged.items) == 1
        session.close(URI)
        session.open(item(URI, DUMP))
        assert not (await pull_full(await request_context(session), damaged.result_id)).items
        session.close(URI)


class ListedProgress(Progress):
    """A progress that lists its begin and its end."""

    def __init__(self, title: str, messages: list[str]) -> None:
        super().__init__(title)
        self._messages = messages

    def __enter__(self) -> Progress:
        self._messages.append(f"{self._title} ...")
        return self

    def end(self) -> None:
        self._messages.append(f"{self._title}: done")


class ProgressListener(SessionListener):
    """A listener that lists the begin and the end of long tasks."""

    def __init__(self, messages: list[str]) -> None:
        self._messages = messages

    def progress(self, title: str, *, is_indefinite: bool = False) -> Progress:  # noqa: ARG002
        return ListedProgress(title, self._messages)


class PullHarness:
    """Session with pulled diagnostics and a client that supports refresh requests."""

    def __init__(self, text: str, **flags: bool) -> None:
        self.refreshes = 0
        self.session = Session()
        capabilities: dict[str, Any] = {
            "can_pull_diagnostics": True,
            "can_refresh_diagnostics": True,
        }
        self.session.client = replace(Client(), **capabilities | flags)
        self.progress_messages: list[str] = []
        self.session.listener = ProgressListener(self.progress_messages)
        self.puller = OpenFileDiagnostics(self.session, lambda _: None, self.refresh)
        self.file = self.session.open(item(URI, text))

    def refresh(self) -> None:
        self.refreshes += 1

    async def pull(self, previous: str | None = None) -> Full | Unchanged:
        document = types.TextDocumentIdentifier(URI)
        params = types.DocumentDiagnosticParams(document, previous_result_id=previous)
        report = await self.puller.pull(params)
        return CONVERTER.structure(report, {"full": Full, "unchanged": Unchanged}[report["kind"]])

    async def pull_codes(self) -> tuple[bool, list[str]]:
        """Return whether the pulled list is complete, and its codes."""
        report = await self.pull()
        assert isinstance(report, Full)
        return report.result_id is not None, [str(one.code) for one in report.items]

    async def settle(self) -> int:
        """Wait for all tasks, and return the number of refresh requests meanwhile."""
        before = self.refreshes
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(*tasks, return_exceptions=True)
        return self.refreshes - before


@pytest.fixture
def large_compile(monkeypatch: pytest.MonkeyPatch) -> type[PullHarness]:
    monkeypatch.setattr(session_module, "MAX_FULL_ANSWER_LINES", 0)
    monkeypatch.setattr(diagnostics, "_QUICK_ANSWER_SECONDS", 0)
    monkeypatch.setattr(scheduling, "_SLICE_SECONDS", 0)
    return PullHarness


async def test_large_compile_answers_early_then_refreshes(
    large_compile: type[PullHarness],
) -> None:
    harness = large_compile(DAMAGED)
    assert await harness.pull_codes() == (False, [])
    assert await harness.settle() > 0
    assert await harness.pull_codes() == (True, ["out-of-bounds"])
    assert await harness.settle() == 0


async def test_large_compile_shows_progress(large_compile: type[PullHarness]) -> None:
    harness = large_compile(DAMAGED)
    await harness.pull()
    await harness.pull()
    await asyncio.sleep(0)
    assert harness.progress_messages == [f"Checking {URI} ..."]
    await harness.settle()
    await harness.pull()
    assert harness.progress_messages == [f"Checking {URI} ...", f"Checking {URI}: done"]


async def test_client_without_refresh_support_gets_complete_list(
    large_compile: type[PullHarness],
) -> None:
    harness = large_compile(DAMAGED, can_refresh_diagnostics=False)
    assert await harness.pull_codes() == (True, ["out-of-bounds"])
    assert await harness.settle() == 0


async def test_small_compile_gets_complete_list(
    large_compile: type[PullHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "MAX_FULL_ANSWER_LINES", 1000)
    harness = large_compile(DAMAGED)
    assert await harness.pull_codes() == (True, ["out-of-bounds"])


async def test_large_compile_can_be_unchanged(large_compile: type[PullHarness]) -> None:
    harness = large_compile(DAMAGED)
    await harness.pull()
    await harness.settle()
    report = await harness.pull()
    assert isinstance(await harness.pull(report.result_id), Unchanged)


async def test_edit_keeps_and_moves_older_diagnostics(large_compile: type[PullHarness]) -> None:
    harness = large_compile(DAMAGED)
    await harness.pull()
    await harness.settle()
    before = await harness.pull()
    assert isinstance(before, Full)
    edit(harness.session, part((0, 0), (0, 0), "\n"))
    after = await harness.pull()
    assert isinstance(after, Full)
    assert after.result_id is None
    assert [one.code for one in after.items] == ["out-of-bounds"]
    assert after.items[0].range.start.line == before.items[0].range.start.line + 1


async def test_edited_line_has_no_diagnostics_until_checked(
    large_compile: type[PullHarness],
) -> None:
    harness = large_compile(DAMAGED)
    await harness.pull()
    await harness.settle()
    edit(harness.session, whole_document(DAMAGED.replace("offset=1000", "offset=1001")))
    assert await harness.pull_codes() == (False, [])
    await harness.settle()
    assert await harness.pull_codes() == (True, ["out-of-bounds"])


async def test_edits_during_a_check_are_checked(large_compile: type[PullHarness]) -> None:
    harness = large_compile(DUMP)
    assert await harness.pull_codes() == (False, [])
    edit(harness.session, whole_document(DAMAGED))
    assert await harness.pull_codes() == (False, [])
    await harness.settle()
    assert await harness.pull_codes() == (True, ["out-of-bounds"])


async def test_early_findings_are_sent_before_the_end(large_compile: type[PullHarness]) -> None:
    harness = large_compile(DAMAGED.replace("<1 x @0> (size=512", "<1 x @0> (size=500"))
    partial_lists = []
    while not (report := await harness.pull_codes())[0]:
        partial_lists.append(report[1])
        await asyncio.sleep(0)
    assert ["size-mismatch"] in partial_lists
    await harness.settle()
    assert harness.refreshes > 1


async def test_closed_file_is_not_checked(large_compile: type[PullHarness]) -> None:
    harness = large_compile(DAMAGED)
    await harness.pull()
    harness.session.close(URI)
    harness.puller.closed(harness.file)
    assert await harness.settle() == 0
    # A file that is not open has no diagnostics.
    assert await harness.pull_codes() == (False, [])
