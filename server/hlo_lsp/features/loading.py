"""Large neighbours, read in the background: a hover does not wait for 200 MB."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Protocol

from hlo_lsp.features.running import OutdatedError, run
from hlo_lsp.model.library import Library


class Reported(Protocol):
    """What is told how far a work is, and says whether it is still wanted."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the user has asked to stop."""

    def report(self, percentage: int, message: str | None = None) -> None:
        """Say how far the work is, from 0 to 100."""


class Unreported:
    """Nobody is told."""

    is_cancelled = False

    def report(self, percentage: int, message: str | None = None) -> None:
        """Say nothing."""


Reporter = Callable[[str], AbstractContextManager[Reported]]


def unreported(_: str) -> AbstractContextManager[Reported]:
    """For a client that cannot be told."""
    return nullcontext(Unreported())


class Loader:
    """Reads large files one after the other; each once, until it changes.

    Between two slices of the work it takes a ``rest``.
    """

    def __init__(self, library: Library, rest: Callable[[], Awaitable[None]]) -> None:
        self.reporter: Reporter = unreported
        self.done: Callable[[Path], None] = lambda _: None
        self._library = library
        self._rest = rest
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._unwanted: set[Path] = set()
        self._turn = asyncio.Lock()

    async def wait(self, paths: Iterable[Path], seconds: float | None) -> None:
        """Read files, and wait for so long at most. What takes longer goes on by itself.

        A file that the user did not want to wait for is left alone until it is opened.
        """
        tasks = [self._task(path) for path in paths if path not in self._unwanted]
        if tasks and seconds != 0:
            await asyncio.wait(tasks, timeout=seconds)

    def allow(self) -> None:
        """The user opened a file: what he stopped before may be read again."""
        self._unwanted.clear()

    def _task(self, path: Path) -> "asyncio.Task[None]":
        task = self._tasks.get(path)
        if task is None:
            task = self._tasks[path] = asyncio.create_task(self._load(path))
            task.add_done_callback(lambda _: self._tasks.pop(path, None))
        return task

    async def _load(self, path: Path) -> None:
        async with self._turn:
            with self.reporter(f"Reading {path.name}") as progress:
                read = partial(self._library.read, path, progress.report)
                try:
                    await run(read, lambda: not progress.is_cancelled, self._rest)
                except OutdatedError:
                    self._unwanted.add(path)
                    return
        self.done(path)
