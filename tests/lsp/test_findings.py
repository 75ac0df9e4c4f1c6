"""Tests for checks that several requests share."""

import asyncio
import weakref

import pytest
from lsprotocol import types

from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.run import check_by_pace
from hlo_lsp.garbage_collection import collect_all
from hlo_lsp.lsp import findings as lsp_findings
from hlo_lsp.lsp import scheduling
from hlo_lsp.lsp.findings import CheckedText, check_text, known_findings
from hlo_lsp.lsp.session import RequestContext, Session
from lsp.opened import DUMP, context, item
from lsp.test_session_edits import URI, edit, whole_document

DAMAGED = DUMP.replace("<2 add @1> (size=512", "<2 add @1> (size=500").replace(
    "used: 2048 (2.0KiB)", "used: 2049 (2.0KiB)"
)


@pytest.fixture(autouse=True)
def _yield_after_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let other tasks run after each step of a check."""
    monkeypatch.setattr(scheduling, "_SLICE_SECONDS", 0)


@pytest.fixture
def checked_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the URIs of the files whose check has started."""
    names: list[str] = []
    original = check_by_pace

    def record_check(dump, file, *options):  # type: ignore[no-untyped-def]
        names.append(file.uri)
        return original(dump, file, *options)

    monkeypatch.setattr(lsp_findings, "check_by_pace", record_check)
    return names


async def checked(context: RequestContext) -> CheckedText:
    return await check_text(context.session, types.TextDocumentIdentifier(context.file.uri))


def codes(text: CheckedText) -> list[str]:
    return [one["code"] for one in text.diagnostics]


async def test_two_requests_share_one_check(checked_files: list[str]) -> None:
    file = await context(DAMAGED)
    first, second = await asyncio.gather(checked(file), checked(file))
    assert first is second
    assert len(checked_files) == 1


async def test_cancelled_request_keeps_a_shared_check_running(checked_files: list[str]) -> None:
    file = await context(DAMAGED)
    cancelled = asyncio.ensure_future(checked(file))
    remaining = asyncio.ensure_future(checked(file))
    for _ in range(5):
        await asyncio.sleep(0)
    cancelled.cancel()
    assert set(codes(await remaining)) == {"size-mismatch", "total-mismatch"}
    assert len(checked_files) == 1


async def test_complete_findings_are_known_until_the_next_edit(checked_files: list[str]) -> None:
    session = Session()
    session.open(item(URI, DAMAGED))
    document = types.TextDocumentIdentifier(URI)
    first = await check_text(session, document)
    assert await check_text(session, document) == first
    assert len(checked_files) == 1
    edit(session, whole_document(DUMP))
    assert codes(await check_text(session, document)) == []
    assert len(checked_files) == 2


async def test_closed_file_is_freed_with_its_findings() -> None:
    opened = await context(DAMAGED)
    await checked(opened)
    file = weakref.ref(opened.file)
    opened.session.close(opened.file.uri)
    del opened
    collect_all()  # others may be frozen with it: earlier tests have created objects, too
    assert file() is None


async def test_first_findings_come_before_the_others() -> None:
    file = await context(DAMAGED)
    counts: list[int] = []

    def listener(_: RequestContext, found: list[Finding], __: frozenset[str]) -> None:
        counts.append(len(found))
        assert known_findings(file) is None  # the check is not complete

    document = types.TextDocumentIdentifier(file.file.uri)
    text = await check_text(file.session, document, listener)
    assert min(filter(None, counts)) < len(text.diagnostics) == len(known_findings(file) or ())


async def test_edit_starts_the_check_again() -> None:
    session = Session()
    session.open(item(URI, DAMAGED))
    versions: list[int | None] = []

    def listener(_: RequestContext, found: list[Finding], __: frozenset[str]) -> None:
        versions.append(session.version(URI))
        if found and session.version(URI) == 1:
            edit(session, whole_document("\n" + DUMP.replace("(2.0KiB)", "(3.0KiB)")))

    text = await check_text(session, types.TextDocumentIdentifier(URI), listener)
    assert set(versions) == {1, 2}
    assert [one["range"]["start"]["line"] for one in text.diagnostics] == [9]
    assert text.lines == {9: "Total bytes used: 2048 (3.0KiB)"}
