"""Tests for checks that several requests share."""

import asyncio

import pytest
from lsprotocol import types

from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.run import check_by_pace
from hlo_lsp.lsp import findings as lsp_findings
from hlo_lsp.lsp import scheduling
from hlo_lsp.lsp.findings import cached_findings, findings, findings_until
from hlo_lsp.lsp.session import Session
from lsp.opened import DUMP, context, item
from lsp.test_session_edits import URI, edit, part, whole_document

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


def has_size_mismatch(found: list[Finding]) -> bool:
    return any(one.code == "size-mismatch" for one in found)


async def test_two_requests_share_one_check(checked_files: list[str]) -> None:
    file = await context(DAMAGED)
    first, second = await asyncio.gather(findings(file), findings(file))
    assert first == second == cached_findings(file)
    assert len(checked_files) == 1


async def test_cancelled_request_keeps_a_shared_check_running(checked_files: list[str]) -> None:
    file = await context(DAMAGED)
    cancelled = asyncio.ensure_future(findings(file))
    remaining = asyncio.ensure_future(findings(file))
    for _ in range(5):
        await asyncio.sleep(0)
    cancelled.cancel()
    assert {one.code for one in await remaining} == {"size-mismatch", "total-mismatch"}
    assert len(checked_files) == 1


async def test_findings_match_the_text_when_returned() -> None:
    """Edit the text after the check ends and before the waiting task continues."""
    session = Session()
    session.open(item(URI, DAMAGED))
    file = await session.context(types.TextDocumentIdentifier(URI))
    assert file is not None

    async def check_findings() -> None:
        found = await findings(file)
        assert all(one.place.line < len(file.file.lines) for one in found)
        assert found == cached_findings(file)

    check_task = asyncio.ensure_future(check_findings())
    while cached_findings(file) is None:
        await asyncio.sleep(0)
    edit(session, whole_document(""))
    await check_task


async def test_first_findings_come_before_the_others() -> None:
    file = await context(DAMAGED)
    found = await findings_until(file, has_size_mismatch)
    assert has_size_mismatch(found)
    assert cached_findings(file) is None  # The check is not complete.
    assert len(found) < len(await findings(file))


async def test_unmet_condition_returns_all_findings() -> None:
    file = await context(DAMAGED)
    found = await findings_until(file, lambda _: False)
    assert found == await findings(file)


async def test_finished_check_returns_all_findings() -> None:
    file = await context(DAMAGED)
    whole = await findings(file)
    assert await findings_until(file, has_size_mismatch) == whole


async def test_first_findings_are_updated_after_an_edit() -> None:
    session = Session()
    session.open(item(URI, DAMAGED))
    file = await session.context(types.TextDocumentIdentifier(URI))
    assert file is not None
    lines = file.file.lines
    line = next(n for n, text in enumerate(lines) if "size=500" in text)
    column = lines[line].index("size=500") + len("size=")

    def is_enough(found: list[Finding]) -> bool:
        if has_size_mismatch(found):
            correction = part((line, column), (line, column + 3), "512")
            asyncio.get_running_loop().call_soon(edit, session, correction)
        return has_size_mismatch(found)

    found = await findings_until(file, is_enough)
    assert [one.code for one in found] == ["total-mismatch"]
