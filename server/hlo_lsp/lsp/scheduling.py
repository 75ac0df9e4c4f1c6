"""Long work between two messages of the client."""

import asyncio
import ctypes
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, Generic, ParamSpec, TypeVar

from hlo_lsp.lsp.request import current_request
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.text.checkpoint import Job

T = TypeVar("T")
_SLICE_SECONDS = 0.004  # seconds of long work between two looks at what the client sent
_BUSY_SECONDS = 0.001  # seconds; if such a look takes longer somebody else has work
_BACKOFF_SECONDS = 0.05  # seconds that work which nobody waits for stays away then


class OutdatedError(Exception):
    """What a work looks at has changed meanwhile, or nobody wants it any more."""


class ForegroundRequests:
    """The requests at work on a text, to which background tasks give way."""

    def __init__(self) -> None:
        self._pending = 0
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    @contextmanager
    def hold_background(self) -> Iterator[None]:
        """Hold up background tasks; what is done inside must wait for none of them."""
        self._pending += 1
        self._is_empty.clear()
        try:
            yield
        finally:
            self._pending -= 1
            if not self._pending:
                self._is_empty.set()

    async def give_way(self) -> None:
        """What work in the background does between two slices: let others have their turn."""
        await asyncio.sleep(0)
        await self._is_empty.wait()


async def read_file(file: DumpFile) -> None:
    """Read what has changed in a file."""
    if not file.is_fresh:
        current_request().report(f"reading {file.title}")
        await run_in_slices(file.refresh)


async def yield_to_event_loop() -> None:
    """What work that somebody waits for does between two slices."""
    await asyncio.sleep(0)


async def run_on_compile(
    dump: DumpSet,
    work: Callable[[], T],
    give_way: Callable[[], Awaitable[None]] = yield_to_event_loop,
) -> T:
    """Long work over the files of a compile, from the start again whenever one of them changes."""
    while True:
        for file in dump.files:
            await read_file(file)
        try:
            return await run_on_snapshot(dump, work, give_way)
        except OutdatedError:
            continue


async def run_on_snapshot(
    dump: DumpSet,
    work: Callable[[], T],
    give_way: Callable[[], Awaitable[None]] = yield_to_event_loop,
) -> T:
    """Long work over the files of a compile as they are now.

    Raises:
        OutdatedError: one of them has changed before the end, or was not read.
    """
    is_valid = partial(_has_versions, dump, [file.version for file in dump.files])
    if not is_valid():
        raise OutdatedError
    return await run_in_slices(work, is_valid, give_way)


def _has_versions(dump: DumpSet, versions: list[int]) -> bool:
    """Whether the files of a compile are read, and still of these versions."""
    fresh = all(file.is_fresh for file in dump.files)
    return fresh and versions == [file.version for file in dump.files]


async def run_in_slices(
    work: Callable[[], T],
    is_valid: Callable[[], bool] | None = None,
    give_way: Callable[[], Awaitable[None]] = yield_to_event_loop,
) -> T:
    """Run a long work in slices, with a turn for others, ``rest``, after each.

    Raises:
        OutdatedError: ``is_valid`` is false after such a turn.
    """
    job = Job(work)
    try:
        while not job.step(_SLICE_SECONDS):
            current_request().begin()
            await give_way()
            if is_valid is not None and not is_valid():
                raise OutdatedError
        return job.result
    finally:
        job.cancel()


async def run_in_background(work: Callable[[], T]) -> T:
    """Run a work that no request waits for, slowly while there is other work."""

    async def give_way() -> None:
        begun = time.monotonic()
        await asyncio.sleep(0)
        if time.monotonic() - begun > _BUSY_SECONDS:
            await asyncio.sleep(_BACKOFF_SECONDS)

    return await run_in_slices(work, give_way=give_way)


P = ParamSpec("P")


class SharedTasks(Generic[P, T]):
    """Works that go on, one after the other, each under a key.

    ``P`` is what a work tells those who wait for it between two of its slices.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._going: dict[Hashable, _SharedTask[P, T]] = {}

    @contextmanager
    def join(
        self,
        key: Hashable,
        work: Callable[[Callable[P, None]], Coroutine[Any, Any, T]],
        listen: Callable[P, None],
    ) -> Iterator["asyncio.Task[T]"]:
        """Take part in the work with this key, which begins if none goes on.

        It ends when nobody takes part any more. ``work`` is given what tells all who listen; to
        wait for it shield the task, as others may wait for the same.
        """
        going = self._going.get(key)
        if going is None or going.task.done():
            going = self._going[key] = _SharedTask(work, self._lock)
        request = current_request()

        def hear(*args: P.args, **kwargs: P.kwargs) -> None:
            request.begin()
            listen(*args, **kwargs)

        going.listeners.append(hear)
        try:
            yield going.task
        finally:
            going.listeners.remove(hear)
            if not going.listeners:
                going.task.cancel()
                if self._going.get(key) is going:
                    del self._going[key]


class _SharedTask(Generic[P, T]):
    """A work, and who is told of it."""

    def __init__(
        self, work: Callable[[Callable[P, None]], Coroutine[Any, Any, T]], turn: asyncio.Lock
    ) -> None:
        self.listeners: list[Callable[P, None]] = []
        self.task = asyncio.ensure_future(self._in_turn(work, turn))

    async def _in_turn(
        self, work: Callable[[Callable[P, None]], Coroutine[Any, Any, T]], turn: asyncio.Lock
    ) -> T:
        async with turn:
            return await work(self._tell)

    def _tell(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for listener in self.listeners:
            listener(*args, **kwargs)


def release_memory() -> None:
    """Hand it to the system: glibc keeps 10 to 20 MB after a check of a large compile.

    Takes up to 2 ms; does nothing where the C library is another one.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _malloc_trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):  # Windows has no library of all that is loaded
        return None
    return found
