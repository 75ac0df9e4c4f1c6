"""Long work that several requests wait for."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from hlo_lsp.lsp.scheduling import SharedTasks


class SharedWorkHarness:
    """Works that tell how far they are, and go on when the test says so."""

    def __init__(self) -> None:
        self.shared = SharedTasks()
        self.log: list[str] = []
        self.gate = asyncio.Event()

    async def wait(
        self, key: str, heard: Callable[[str], None] = lambda _: None, group: str = "group"
    ) -> str:
        async def work(tell: Callable[[str], None]) -> str:
            self.log.append(f"{key} begins")
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.log.append(f"{key} is given up")
                raise
            tell(f"{key} is half done")
            self.log.append(f"{key} ends")
            return key.upper()

        with self.shared.join(key, group, work, heard) as task:
            return await asyncio.shield(task)


async def settled(*waiting: Awaitable[str]) -> Sequence[asyncio.Future[str]]:
    """Run awaitables until all of them wait."""
    tasks = [asyncio.ensure_future(each) for each in waiting]
    for _ in range(5):
        await asyncio.sleep(0)
    return tasks


async def test_equal_requests_share_work_and_progress() -> None:
    harness = SharedWorkHarness()
    heard: list[str] = []
    both = await settled(harness.wait("a", heard.append), harness.wait("a", heard.append))
    harness.gate.set()
    assert await asyncio.gather(*both) == ["A", "A"]
    assert harness.log == ["a begins", "a ends"]
    assert heard == ["a is half done"] * 2


async def test_works_of_a_group_run_one_after_the_other() -> None:
    harness = SharedWorkHarness()
    both = await settled(harness.wait("a"), harness.wait("b"))
    assert harness.log == ["a begins"]
    harness.gate.set()
    assert await asyncio.gather(*both) == ["A", "B"]
    assert harness.log == ["a begins", "a ends", "b begins", "b ends"]


async def test_works_of_other_groups_do_not_wait() -> None:
    harness = SharedWorkHarness()
    both = await settled(harness.wait("a"), harness.wait("b", group="other"))
    assert harness.log == ["a begins", "b begins"]
    harness.gate.set()
    assert await asyncio.gather(*both) == ["A", "B"]


async def test_work_continues_until_the_last_request_ends() -> None:
    harness = SharedWorkHarness()
    first, second = await settled(harness.wait("a"), harness.wait("a"))
    first.cancel()
    await settled()
    assert harness.log == ["a begins"]
    second.cancel()
    await settled()
    assert harness.log == ["a begins", "a is given up"]


async def test_new_work_begins_after_a_cancelled_one() -> None:
    harness = SharedWorkHarness()
    (first,) = await settled(harness.wait("a"))
    first.cancel()
    await settled()
    harness.gate.set()
    assert await harness.wait("a") == "A"
    assert harness.log == ["a begins", "a is given up", "a begins", "a ends"]


async def test_finished_work_is_discarded() -> None:
    harness = SharedWorkHarness()
    harness.gate.set()
    assert [await harness.wait("a"), await harness.wait("a")] == ["A", "A"]
    assert harness.log == ["a begins", "a ends"] * 2


async def test_lower_work_waits_until_no_task_runs() -> None:
    harness = SharedWorkHarness()
    both = await settled(harness.wait("a"), harness.wait("b"))
    waiting = asyncio.ensure_future(harness.shared.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    harness.gate.set()
    await waiting
    assert harness.log[-1] == "b ends"
    await asyncio.gather(*both)
