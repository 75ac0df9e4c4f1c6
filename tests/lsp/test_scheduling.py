"""Long work over the files of a compile, which may change meanwhile."""

import asyncio
from functools import partial
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.lsp import scheduling as running
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.scheduling import (
    OutdatedError,
    run_in_background,
    run_on_compile,
    run_on_snapshot,
)
from hlo_lsp.lsp.server import on_document
from hlo_lsp.lsp.session import RequestContext, Session
from lsp.opened import DUMP, context, item


@pytest.fixture(autouse=True)
def _breathless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have their turn after each step of the work."""
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)


def edit(file: RequestContext) -> None:
    file.file.changed(file.file.document.edit((0, 0), (0, 0), "\n"))


def counted(file: RequestContext, edits_at: int | None = None) -> int:
    """How many lines the records have; in some step the text is edited."""
    count = 0
    for step, record in enumerate(file.file.records):
        if step == edits_at:
            edit(file)
        count += record.line_count
        checkpoint()
    return count


def no_work() -> None:
    """Work that is done before anybody else has a turn."""


async def test_work_waits_until_edited_files_are_read() -> None:
    file = await context()
    edit(file)
    with pytest.raises(OutdatedError):
        await run_on_snapshot(file.dump, no_work)


async def test_work_ends_when_a_file_is_edited() -> None:
    file = await context()
    with pytest.raises(OutdatedError):
        await run_on_snapshot(file.dump, partial(counted, file, edits_at=3))


async def test_outdated_work_starts_again_with_current_text() -> None:
    file = await context()
    before = len(file.file.lines)
    edits = iter([3, None])
    assert await run_on_compile(file.dump, lambda: counted(file, next(edits))) == before + 1
    edit(file)
    assert await run_on_compile(file.dump, lambda: counted(file)) == before + 2


async def test_background_tasks_give_way_to_a_whole_document() -> None:
    session = Session()
    opened = session.open(item("untitled:dump", DUMP))
    done = {"request": 0, "background": 0}
    tasks: list[asyncio.Task[None]] = []

    def steps(name: str) -> None:
        for _ in range(20):
            done[name] += 1
            checkpoint()

    async def reply(_: RequestContext, __: Any) -> list[Json]:
        tasks.append(session.run_in_background(partial(steps, "background")))
        await running.run_in_slices(partial(steps, "request"))
        assert done == {"request": 20, "background": 1}
        return [{}]

    params = types.DocumentSymbolParams(types.TextDocumentIdentifier(opened.uri))
    assert await on_document(session, reply)(params) == [{}]
    await tasks[0]
    assert done["background"] == 20


async def test_message_waits_for_one_background_slice() -> None:
    session = Session()
    slices: list[int] = []

    def steps() -> None:
        for number in range(200):
            slices.append(number)
            checkpoint()

    tasks = [session.run_in_background(steps) for _ in range(3)]
    while len(slices) < 20:
        await asyncio.sleep(0)
    before = len(slices)
    for _ in range(4):  # as a message does from its bytes to its request
        await asyncio.sleep(0)
    assert len(slices) - before <= 1
    await asyncio.wait(tasks)


async def test_small_background_work_lets_other_tasks_run() -> None:
    done: list[str] = []

    async def other() -> None:
        done.append("other")

    task = asyncio.ensure_future(other())
    for _ in range(3):
        await run_in_background(partial(done.append, "small"))
    await task
    assert done[0] == "other"
