"""What is wrong in a file, for several that ask at the same time."""

import asyncio

import pytest
from lsprotocol import types

from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.run import check_by_pace
from hlo_lsp.lsp import findings as lsp_findings
from hlo_lsp.lsp import scheduling as running
from hlo_lsp.lsp.findings import cached_findings, findings, findings_until
from hlo_lsp.lsp.session import Session
from lsp.opened import DUMP, context, item
from lsp.test_session_edits import URI, edit, part, whole_document

DAMAGED = DUMP.replace("<2 add @1> (size=512", "<2 add @1> (size=500").replace(
    "used: 2048 (2.0KiB)", "used: 2049 (2.0KiB)"
)


@pytest.fixture(autouse=True)
def _breathless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have their turn after each step of the work."""
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files whose check has begun."""
    names: list[str] = []
    real = check_by_pace

    def counted(dump, file, *options):  # type: ignore[no-untyped-def]  # passed on as they are
        names.append(file.uri)
        return real(dump, file, *options)

    monkeypatch.setattr(lsp_findings, "check_by_pace", counted)
    return names


def has_sizes(found: list[Finding]) -> bool:
    return any(one.code == "size-mismatch" for one in found)


async def test_two_requests_share_one_check(begun: list[str]) -> None:
    file = await context(DAMAGED)
    first, second = await asyncio.gather(findings(file), findings(file))
    assert first == second == cached_findings(file)
    assert len(begun) == 1


async def test_cancelled_request_keeps_a_shared_check_running(begun: list[str]) -> None:
    file = await context(DAMAGED)
    leaving = asyncio.ensure_future(findings(file))
    staying = asyncio.ensure_future(findings(file))
    for _ in range(5):
        await asyncio.sleep(0)
    leaving.cancel()
    assert {one.code for one in await staying} == {"size-mismatch", "total-mismatch"}
    assert len(begun) == 1


async def test_findings_match_the_text_when_sent() -> None:
    """Also if it is edited after the end of the work, and before those who wait have their turn."""
    session = Session()
    session.open(item(URI, DAMAGED))
    file = await session.context(types.TextDocumentIdentifier(URI))
    assert file is not None

    async def look() -> None:
        found = await findings(file)
        assert all(one.place.line < len(file.file.lines) for one in found)
        assert found == cached_findings(file)

    looking = asyncio.ensure_future(look())
    while cached_findings(file) is None:
        await asyncio.sleep(0)
    edit(session, whole_document(""))
    await looking


async def test_first_findings_come_before_the_others() -> None:
    file = await context(DAMAGED)
    found = await findings_until(file, has_sizes)
    assert has_sizes(found)
    assert cached_findings(file) is None  # nobody waited for the rest
    assert len(found) < len(await findings(file))


async def test_unsatisfied_request_gets_all_findings() -> None:
    file = await context(DAMAGED)
    found = await findings_until(file, lambda _: False)
    assert found == await findings(file)


async def test_finished_check_returns_all_findings() -> None:
    file = await context(DAMAGED)
    whole = await findings(file)
    assert await findings_until(file, has_sizes) == whole


async def test_first_findings_are_updated_after_an_edit() -> None:
    session = Session()
    session.open(item(URI, DAMAGED))
    file = await session.context(types.TextDocumentIdentifier(URI))
    assert file is not None
    lines = file.file.lines
    line = next(n for n, text in enumerate(lines) if "size=500" in text)
    column = lines[line].index("size=500") + len("size=")

    def is_enough(found: list[Finding]) -> bool:
        if has_sizes(found):
            mend = part((line, column), (line, column + 3), "512")
            asyncio.get_running_loop().call_soon(edit, session, mend)
        return has_sizes(found)

    found = await findings_until(file, is_enough)
    assert [one.code for one in found] == ["total-mismatch"]
