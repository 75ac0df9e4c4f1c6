"""Work-done progress: how far long work is, and whether the user still wants it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hlo_lsp.lsp.scheduling import OutdatedError, run_in_slices
from hlo_lsp.model.workspace import DumpWorkspace


class Progress:
    """Long work as the editor shows it, from the beginning to the end of a ``with`` block.

    The work does not wait for the client to agree to a token: what was reported until then is said
    with the beginning. A client that shows no progress, or does not agree, is told nothing. Of work
    that is ``boundless`` nobody knows how far it is, and nobody stops it.
    """

    def __init__(self, server: LanguageServer, title: str, *, is_indefinite: bool = False) -> None:
        self._server = server
        self._title = title
        self._is_indefinite = is_indefinite
        self._token = str(uuid4())
        self._percentage = 0
        self._message: str | None = None
        self._has_begun = False
        self._has_ended = False
        self._creation: asyncio.Task[None] | None = None

    def __enter__(self) -> "Progress":
        window = self._server.client_capabilities.window
        if window is not None and window.work_done_progress:
            self._creation = asyncio.ensure_future(self._create())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._has_ended = True
        if self._has_begun:
            self._end()

    @property
    def is_cancelled(self) -> bool:
        """Whether the user has asked to stop."""
        stopped = self._server.work_done_progress.tokens.get(self._token)
        return stopped is not None and stopped.cancelled()

    def report(self, percentage: int, message: str | None = None) -> None:
        """Say how far the work is, from 0 to 100; sent once for each number.

        It never goes back, which the protocol forbids.
        """
        percentage = min(max(percentage, self._percentage), 100)
        if percentage == self._percentage:
            return
        self._percentage, self._message = percentage, message
        if self._has_begun:
            report = types.WorkDoneProgressReport(message=message, percentage=percentage)
            self._server.work_done_progress.report(self._token, report)

    async def _create(self) -> None:
        try:
            await self._server.work_done_progress.create_async(self._token)
        except JsonRpcException:
            return
        self._has_begun = True
        beginning = types.WorkDoneProgressBegin(
            self._title,
            cancellable=not self._is_indefinite,
            message=self._message,
            percentage=None if self._is_indefinite else self._percentage,
        )
        self._server.work_done_progress.begin(self._token, beginning)
        if self._has_ended:
            self._end()

    def _end(self) -> None:
        self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())


class ProgressSink(Protocol):
    """What is told how far a work is, and says whether it is still wanted."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the user has asked to stop."""

    def report(self, percentage: int, message: str | None = None) -> None:
        """Say how far the work is, from 0 to 100."""


class SilentProgress:
    """Nobody is told."""

    is_cancelled = False

    def report(self, percentage: int, message: str | None = None) -> None:
        """Say nothing."""


ProgressFactory = Callable[[str], AbstractContextManager[ProgressSink]]


def silent_progress(_: str) -> AbstractContextManager[ProgressSink]:
    """For a client that cannot be told."""
    return nullcontext(SilentProgress())


class FileLoader:
    """Reads large files one after the other; each once, until it changes.

    Between two slices of the work it takes a ``rest``.
    """

    def __init__(self, library: DumpWorkspace, give_way: Callable[[], Awaitable[None]]) -> None:
        self.reporter: ProgressFactory = silent_progress
        self.done: Callable[[Path], None] = lambda _: None
        self._library = library
        self._give_way = give_way
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._unwanted: set[Path] = set()
        self._lock = asyncio.Lock()

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
        async with self._lock:
            with self.reporter(f"Reading {path.name}") as progress:
                read = partial(self._library.read, path, progress.report)
                try:
                    await run_in_slices(read, lambda: not progress.is_cancelled, self._give_way)
                except OutdatedError:
                    self._unwanted.add(path)
                    return
        self.done(path)
