"""Diagnostics that the client asks for, and how findings look in the protocol."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp import diagnostics as pulling
from hlo_lsp.lsp import scheduling as running
from hlo_lsp.lsp import session as session_module
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.diagnostics import OpenFileDiagnostics, diagnostic_report
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.text import disk
from lsp.opened import DUMP, context, item, split_dump
from lsp.test_session_edits import edit, part, whole_document

Full = types.RelatedFullDocumentDiagnosticReport
Unchanged = types.RelatedUnchangedDocumentDiagnosticReport
URI = "untitled:1"
CONVERTER = get_converter()
NO_REPORT = Settings(check=CheckOptions(ignore=frozenset({"sibling-missing"})))
DAMAGED = DUMP.replace("(size=512,offset=512)", "(size=512,offset=1000)")


async def ask(session: Session, uri: str = URI) -> RequestContext | None:
    return await session.context(types.TextDocumentIdentifier(uri))


async def pull(context: RequestContext | None, previous: str | None = None) -> Full | Unchanged:
    """Return the report as a client decodes it."""
    report = await diagnostic_report([] if context is None else [context], previous)
    shape = {"full": Full, "unchanged": Unchanged}[report["kind"]]
    return CONVERTER.structure(report, shape)


async def full(context: RequestContext | None, previous: str | None = None) -> Full:
    report = await pull(context, previous)
    assert isinstance(report, Full)
    return report


async def test_a_finding_has_all_that_a_client_shows() -> None:
    found = await context(DAMAGED)
    (diagnostic,) = (await full(found)).items
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
    assert related.location.uri == found.file.uri
    line = DAMAGED.split("\n")[related.location.range.start.line]
    assert line.startswith("allocation 2")
    span = related.location.range
    assert line[span.start.character : span.end.character] == "1024"


async def test_related_places_are_omitted_without_support() -> None:
    client = replace(Client(), can_show_related=False)
    (diagnostic,) = (await full(await context(DAMAGED, client))).items
    assert diagnostic.related_information is None


async def test_a_second_pull_is_unchanged() -> None:
    found = await context(DAMAGED)
    first = await full(found)
    second = await pull(found, first.result_id)
    assert isinstance(second, Unchanged)
    assert second.result_id == first.result_id


@pytest.mark.parametrize("previous", [None, "", "something", "0-1"])
async def test_a_pull_with_another_result_id_is_full(previous: str | None) -> None:
    assert len((await full(await context(DAMAGED), previous)).items) == 1


async def test_other_file_has_an_empty_report() -> None:
    session = Session()
    session.open(item(URI, "int main() {}"))
    assert not (await full(await ask(session))).items


async def test_edit_makes_a_full_report_with_new_id() -> None:
    session = Session()
    file = session.open(item(URI, DUMP))
    first = await full(await ask(session))
    line = next(n for n, text in enumerate(file.lines) if "offset=512" in text)
    column = file.lines[line].index("offset=512") + len("offset=")
    edit(session, part((line, column), (line, column + 3), "1000"))
    second = await full(await ask(session), first.result_id)
    assert [d.code for d in second.items] == ["out-of-bounds"]
    assert second.result_id != first.result_id
    edit(session, part((line, column), (line, column + 4), "512"))
    third = await full(await ask(session), second.result_id)
    assert not third.items
    assert len({first.result_id, second.result_id, third.result_id}) == 3


async def test_closed_companion_file_is_read_from_disk(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    session = Session()
    session.settings = NO_REPORT
    values, assignment = paths["-buffer-assignment-values"], paths["-buffer-assignment"]
    text = disk.read_document(values).text
    session.open(item(assignment.as_uri(), disk.read_document(assignment).text))
    session.open(item(values.as_uri(), text.replace("<2 add", "<2 other")))
    damaged = await full(await ask(session, assignment.as_uri()))
    for _ in range(100):  # an id that is an address in memory comes again sooner or later
        session.close(values.as_uri())
        mended = await full(await ask(session, assignment.as_uri()), damaged.result_id)
        assert not mended.items
        session.open(item(values.as_uri(), text.replace("<2 add", "<2 other")))
        damaged = await full(await ask(session, assignment.as_uri()), mended.result_id)


async def test_reopened_file_gets_a_full_report() -> None:
    session = Session()
    for _ in range(20):
        session.open(item(URI, DAMAGED))
        damaged = await full(await ask(session))
        assert len(damaged.items) == 1
        session.close(URI)
        session.open(item(URI, DUMP))
        assert not (await full(await ask(session), damaged.result_id)).items
        session.close(URI)


class PullHarness:
    """A session with a puller, whose compiles all count as large; the client can be told."""

    def __init__(self, text: str, **flags: bool) -> None:
        self.refreshes = 0
        self.session = Session()
        capabilities: dict[str, Any] = {
            "can_pull_diagnostics": True,
            "can_refresh_diagnostics": True,
        }
        self.session.client = replace(Client(), **capabilities | flags)
        self.told: list[str] = []
        self.puller = OpenFileDiagnostics(self.session, lambda _: None, self.refresh, self.report)
        self.file = self.session.open(item(URI, text))

    def refresh(self) -> None:
        self.refreshes += 1

    @contextmanager
    def report(self, title: str) -> Iterator[None]:
        self.told.append(f"{title} ...")
        yield
        self.told.append(f"{title}: done")

    async def pull(self, previous: str | None = None) -> Full | Unchanged:
        document = types.TextDocumentIdentifier(URI)
        params = types.DocumentDiagnosticParams(document, previous_result_id=previous)
        report = await self.puller.pull(params)
        return CONVERTER.structure(report, {"full": Full, "unchanged": Unchanged}[report["kind"]])

    async def codes(self) -> tuple[bool, list[str]]:
        """Whether the list is said to be complete, and what is in it."""
        report = await self.pull()
        assert isinstance(report, Full)
        return report.result_id is not None, [str(one.code) for one in report.items]

    async def settle(self) -> int:
        """Let all end that goes on; how often the client was told to ask again meanwhile."""
        before = self.refreshes
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(*tasks, return_exceptions=True)
        return self.refreshes - before


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> type[PullHarness]:
    monkeypatch.setattr(session_module, "MAX_FULL_ANSWER_LINES", 0)
    monkeypatch.setattr(pulling, "_QUICK_ANSWER_SECONDS", 0)
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)
    return PullHarness


async def test_large_compile_answers_early_then_refreshes(
    large: type[PullHarness],
) -> None:
    at = large(DAMAGED)
    assert await at.codes() == (False, [])
    assert await at.settle() > 0
    assert await at.codes() == (True, ["out-of-bounds"])
    assert await at.settle() == 0


async def test_large_compile_shows_progress(large: type[PullHarness]) -> None:
    at = large(DAMAGED)
    await at.pull()
    await at.pull()
    await asyncio.sleep(0)
    assert at.told == [f"Checking {URI} ..."]
    await at.settle()
    await at.pull()
    assert at.told == [f"Checking {URI} ...", f"Checking {URI}: done"]


async def test_client_without_refresh_support_waits(large: type[PullHarness]) -> None:
    at = large(DAMAGED, can_refresh_diagnostics=False)
    assert await at.codes() == (True, ["out-of-bounds"])
    assert await at.settle() == 0


async def test_small_compile_answers_once(
    large: type[PullHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "MAX_FULL_ANSWER_LINES", 1000)
    at = large(DAMAGED)
    assert await at.codes() == (True, ["out-of-bounds"])


async def test_large_compile_can_be_unchanged(large: type[PullHarness]) -> None:
    at = large(DAMAGED)
    await at.pull()
    await at.settle()
    report = await at.pull()
    assert isinstance(await at.pull(report.result_id), Unchanged)


async def test_edit_keeps_and_moves_older_diagnostics(large: type[PullHarness]) -> None:
    at = large(DAMAGED)
    await at.pull()
    await at.settle()
    before = await at.pull()
    assert isinstance(before, Full)
    edit(at.session, part((0, 0), (0, 0), "\n"))
    after = await at.pull()
    assert isinstance(after, Full)
    assert after.result_id is None
    assert [one.code for one in after.items] == ["out-of-bounds"]
    assert after.items[0].range.start.line == before.items[0].range.start.line + 1


async def test_edited_line_has_none_until_checked(large: type[PullHarness]) -> None:
    at = large(DAMAGED)
    await at.pull()
    await at.settle()
    edit(at.session, whole_document(DAMAGED.replace("offset=1000", "offset=1001")))
    assert await at.codes() == (False, [])
    await at.settle()
    assert await at.codes() == (True, ["out-of-bounds"])


async def test_edits_during_a_check_are_checked(large: type[PullHarness]) -> None:
    at = large(DUMP)
    assert await at.codes() == (False, [])
    edit(at.session, whole_document(DAMAGED))
    assert await at.codes() == (False, [])
    await at.settle()
    assert await at.codes() == (True, ["out-of-bounds"])


async def test_early_findings_are_sent_before_the_end(large: type[PullHarness]) -> None:
    at = large(DAMAGED.replace("<1 x @0> (size=512", "<1 x @0> (size=500"))
    told = []
    while not (report := await at.codes())[0]:
        told.append(report[1])
        await asyncio.sleep(0)
    assert ["size-mismatch"] in told
    await at.settle()
    assert at.refreshes > 1


async def test_closed_file_is_not_checked(large: type[PullHarness]) -> None:
    at = large(DAMAGED)
    await at.pull()
    at.session.close(URI)
    at.puller.closed(at.file)
    assert await at.settle() == 0
    assert await at.codes() == (False, [])  # nothing is said of a file that is not open
