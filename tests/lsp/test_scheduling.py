"""Long work over the files of a compile, which may change meanwhile."""

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.background_jobs import Job, checkpoint
from hlo_lsp.lsp import scheduling as running
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.scheduling import Priority, start_task
from hlo_lsp.lsp.server import on_document
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.model.dump_file import DumpFile
from lsp.opened import DUMP, context, item


@pytest.fixture(autouse=True)
def _breathless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have their turn after each step of the work."""
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)


def edit(file: DumpFile) -> None:
    file.changed(file.document.edit((0, 0), (0, 0), "\n"))


async def test_edited_file_starts_work_again_with_current_text() -> None:
    file = (await context()).file
    before = len(file.lines)
    slices = 0

    def count_lines() -> int:
        file.refresh()
        count = 0
        for record in file.records:
            count += record.line_count
            checkpoint()
        return count

    async def edit_twice() -> None:
        nonlocal slices
        slices += 1
        if slices in {3, 10}:
            edit(file)

    assert await running.run_in_slices(count_lines, edit_twice) == before + 2


async def test_edit_of_another_file_does_not_start_work_again() -> None:
    file, other = (await context()).file, (await context()).file
    starts = 0

    def read_records() -> None:
        nonlocal starts
        starts += 1
        file.refresh()
        for _ in file.records:
            checkpoint()

    async def edit_other() -> None:
        edit(other)

    await running.run_in_slices(read_records, edit_other)
    assert starts == 1


async def test_edit_after_the_last_checkpoint_keeps_the_result() -> None:
    file = (await context()).file
    job = Job(file.refresh)
    assert job.step(60)
    edit(file)
    assert job.step(60)


async def test_background_tasks_give_way_to_a_whole_document() -> None:
    session = Session()
    opened = session.open(item("untitled:dump", DUMP))
    done = {"request": 0, "background": 0}
    tasks: list[asyncio.Task[None]] = []

    def steps(name: str) -> None:
        for _ in range(20):
            done[name] += 1
            checkpoint()

    def reply(_: RequestContext, __: Any) -> list[Json]:
        before = done["background"]
        steps("request")
        assert done["background"] == before
        return [{}]

    tasks.append(
        start_task(session.foreground.run(partial(steps, "background"), Priority.PREPARATION))
    )
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

    tasks = [start_task(session.foreground.run(steps, Priority.PREPARATION)) for _ in range(3)]
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
        await Session().foreground.run(partial(done.append, "small"), Priority.INDEX)
    await task
    assert done[0] == "other"


async def test_edits_put_off_what_waits_for_a_pause_in_typing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foreground = running.ForegroundRequests()
    await foreground.typing_paused()  # nothing was typed
    now = 1.0
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        if not waits:
            now += seconds / 2
            foreground.edited()
            now -= seconds / 2
        now += seconds
        waits.append(seconds)

    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(running, "asyncio", SimpleNamespace(sleep=sleep))
    foreground.edited()
    await foreground.typing_paused()
    assert waits == pytest.approx([0.2, 0.1])
