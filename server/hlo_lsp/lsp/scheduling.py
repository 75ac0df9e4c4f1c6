"""Long work in slices, so that the event loop handles messages in between."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from hlo_lsp.background_jobs import Job, Outdated
from hlo_lsp.garbage_collection import collection_paused
from hlo_lsp.lsp.progress import current_request
from hlo_lsp.model.dump_file import DumpFile

logger = logging.getLogger(__name__)

T = TypeVar("T")
Listener = Callable[..., None]
_SLICE_SECONDS = 0.004  # of work between two iterations of the event loop
_ATTEMPT_SECONDS = 0.001  # of short work before it runs on another thread
_ITERATIONS_OF_MESSAGE = 6  # of the event loop from its bytes to the request, or to the reply
_BUSY_SECONDS = 0.001  # the event loop has other work if one iteration takes more processor time
_BACKOFF_SECONDS = 0.05  # pause of low-priority work while there is other work
_TYPING_PAUSE_SECONDS = 0.2  # without an edit: longer than between two keys


class Priority(IntEnum):
    """The purpose of background work: it waits for requests, and for work of earlier priorities."""

    CHECK = 1  # the diagnostics of open files, and what a longer request reads
    PREPARATION = 2  # facts that later answers need
    INDEX = 3  # facts about all files on disk


class ForegroundRequests:
    """The active requests, checks, and the last edit; background tasks pause for them."""

    def __init__(self) -> None:
        self.checks = SharedTasks()
        self._pending = 0
        self._last_edit = -math.inf  # time.monotonic()
        self._is_empty = asyncio.Event()
        self._is_empty.set()
        self._turn = asyncio.Lock()

    def edited(self) -> None:
        """Record an edit."""
        self._last_edit = time.monotonic()

    async def typing_paused(self, seconds: float = _TYPING_PAUSE_SECONDS) -> None:
        """Wait until so many seconds are without an edit, so that not every key restarts work."""
        while (rest := self._last_edit + seconds - time.monotonic()) > 0:
            await asyncio.sleep(rest)

    @contextmanager
    def hold_background(self) -> Iterator[None]:
        """Pause background tasks; the code inside must not wait for one."""
        self._pending += 1
        self._is_empty.clear()
        try:
            yield
        finally:
            self._pending -= 1
            if not self._pending:
                self._is_empty.set()

    async def give_way(self, priority: Priority = Priority.CHECK) -> None:
        """Let other tasks run, and wait for work that precedes a priority.

        An index waits for any other work of this process. Other processes, such as a compiler that
        uses all processors, cause no pauses.

        Other tasks that call this continue one after the other, when no request is active. Before
        each of them, the event loop runs a few times: it needs these iterations to read a message,
        to start its task, and to send the reply.
        """
        if priority is Priority.INDEX:
            begun = time.process_time()
            await asyncio.sleep(0)
            if time.process_time() - begun > _BUSY_SECONDS:
                await asyncio.sleep(_BACKOFF_SECONDS)
            return
        if priority is Priority.PREPARATION:
            await self.checks.wait()  # they compute some of the facts
        async with self._turn:
            idle = 0
            while idle < _ITERATIONS_OF_MESSAGE:
                await asyncio.sleep(0)
                idle += 1
                if self._pending:
                    await self._is_empty.wait()
                    idle = 0

    async def run(
        self,
        work: Callable[[], T],
        priority: Priority = Priority.CHECK,
        *,
        typing_pause_seconds: float = _TYPING_PAUSE_SECONDS,
    ) -> T:
        """Run work in slices; preparation and indexes pause before it, too.

        Without the first pause, many small pieces of such work would block the event loop. After an
        edit, preparation starts again when typing pauses.
        """
        before_restart = yield_to_event_loop
        if priority is Priority.PREPARATION:
            before_restart = partial(self.typing_paused, typing_pause_seconds)
        give_way = partial(self.give_way, priority)
        if priority > Priority.CHECK:
            await give_way()
        return await run_in_slices(work, give_way, before_restart=before_restart)


async def read_file(file: DumpFile) -> None:
    """Update the records of a file after edits."""
    if not file.is_fresh:
        current_request().report(f"reading {file.title}")
        await run_in_slices(file.refresh, is_short=True)


async def yield_to_event_loop() -> None:
    """Let other tasks run once."""
    await asyncio.sleep(0)


async def run_in_slices(
    work: Callable[[], T],
    give_way: Callable[[], Awaitable[None]] = yield_to_event_loop,
    *,
    is_short: bool = False,
    before_restart: Callable[[], Awaitable[None]] = yield_to_event_loop,
) -> T:
    """Run work in slices, and await ``give_way`` after each.

    Work that usually ``is_short`` first runs on this thread. If it takes longer than a millisecond,
    it starts again in slices. When a file changes that the work has refreshed, the work starts
    again after ``before_restart``. No other code starts work again after an edit, so the
    work must have no effect until its end.
    """
    while True:
        job = Job(work)
        with collection_paused(), suppress(Outdated):
            try:
                if is_short and job.attempt(_ATTEMPT_SECONDS):
                    return job.result
                while not job.step(_SLICE_SECONDS):
                    current_request().begin()
                    await give_way()
                return job.result
            finally:
                job.cancel()
        await before_restart()


def start_task(work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    """Start a background task, and log its failure."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(_log_failure)
    return task


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("a background task failed", exc_info=task.exception())


class Refresh:
    """Work that follows from changes: it runs once at a time, and again after further changes.

    Before, it waits until ``pause_seconds`` are without a change.
    """

    def __init__(self, work: Callable[[], Awaitable[None]], pause_seconds: float = 0.0) -> None:
        self._work = work
        self._pause_seconds = pause_seconds
        self._due = 0.0  # time.monotonic()
        self._is_outdated = False
        self.task: asyncio.Task[None] | None = None

    def schedule(self) -> None:
        """Run the work after the pause or, if it is running, again."""
        self._due = time.monotonic() + self._pause_seconds
        self._is_outdated = True
        if self.task is None:
            self.task = start_task(self._run())

    async def _run(self) -> None:
        try:
            while self._is_outdated:
                while (rest := self._due - time.monotonic()) > 0:
                    await asyncio.sleep(rest)
                self._is_outdated = False
                await self._work()
        finally:
            self.task = None


class SharedTasks:
    """Tasks that several callers can wait for; those of a group run one after the other."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._running: dict[Hashable, tuple[asyncio.Task[Any], list[Listener]]] = {}

    @contextmanager
    def join(
        self,
        key: Hashable,
        group: Hashable,
        work: Callable[[Listener], Coroutine[Any, Any, T]],
        listen: Listener,
    ) -> Iterator["asyncio.Task[T]"]:
        """Join the task of a key, which starts if it is not running.

        The task is cancelled when its last listener leaves. ``work`` receives a function that calls
        all listeners, between two of its slices. To wait for the task, shield it, because others
        may wait for it.
        """
        if key not in self._running or self._running[key][0].done():
            new: list[Listener] = []
            self._running[key] = asyncio.ensure_future(self._run(group, work, new)), new
        task, listeners = self._running[key]
        request = current_request()

        def call_listener(*args: Any) -> None:
            request.begin()
            listen(*args)

        listeners.append(call_listener)
        try:
            yield task
        finally:
            listeners.remove(call_listener)
            if not listeners:
                task.cancel()
                if self._running.get(key, (None,))[0] is task:
                    del self._running[key]

    async def wait(self) -> None:
        """Wait until no task is running."""
        while running := [task for task, _ in self._running.values() if not task.done()]:
            await asyncio.wait(running)

    async def _run(
        self,
        group: Hashable,
        work: Callable[[Listener], Coroutine[Any, Any, T]],
        listeners: list[Listener],
    ) -> T:
        def call_listeners(*args: Any) -> None:
            for listener in listeners:
                listener(*args)

        lock = self._locks.setdefault(group, asyncio.Lock())
        async with lock:
            return await work(call_listeners)
