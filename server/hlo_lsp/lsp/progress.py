"""Work-done progress of background tasks, and loading of large files."""

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
    """Work-done progress of a background task, from begin to end of a ``with`` block.

    The task does not wait for the client to create the token: what is reported until then is sent
    with the begin notification. A client that does not support or create the token receives
    nothing. An indefinite progress has no percentage and cannot be cancelled.
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
        """True if the user has cancelled the task."""
        stopped = self._server.work_done_progress.tokens.get(self._token)
        return stopped is not None and stopped.cancelled()

    def report(self, percentage: int, message: str | None = None) -> None:
        """Report a percentage from 0 to 100; each is sent once.

        The percentage never decreases, because the protocol forbids it.
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
    """Receives the progress of a task."""

    @property
    def is_cancelled(self) -> bool:
        """True if the user has cancelled the task."""

    def report(self, percentage: int, message: str | None = None) -> None:
        """Report a percentage from 0 to 100."""


class SilentProgress:
    """A progress that is not shown."""

    is_cancelled = False

    def report(self, percentage: int, message: str | None = None) -> None:
        """Discard the report."""


ProgressFactory = Callable[[str], AbstractContextManager[ProgressSink]]


def silent_progress(_: str) -> AbstractContextManager[ProgressSink]:
    """Return a progress for clients without support."""
    return nullcontext(SilentProgress())


class FileLoader:
    """Reads large files one after the other; each once, until it changes.

    ``give_way`` is awaited between two slices of the work.
    """

    def __init__(self, workspace: DumpWorkspace, give_way: Callable[[], Awaitable[None]]) -> None:
        self.progress_factory: ProgressFactory = silent_progress
        self.on_loaded: Callable[[Path], None] = lambda _: None
        self._workspace = workspace
        self._give_way = give_way
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._cancelled: set[Path] = set()
        self._lock = asyncio.Lock()

    async def wait(self, paths: Iterable[Path], seconds: float | None) -> None:
        """Read files and wait for them at most so many seconds; reading continues afterwards.

        A file whose reading the user cancelled is not read until it is opened.
        """
        tasks = [self._task(path) for path in paths if path not in self._cancelled]
        if tasks and seconds != 0:
            await asyncio.wait(tasks, timeout=seconds)

    def clear_cancelled(self) -> None:
        """Read files again whose reading the user cancelled."""
        self._cancelled.clear()

    def _task(self, path: Path) -> "asyncio.Task[None]":
        task = self._tasks.get(path)
        if task is None:
            task = self._tasks[path] = asyncio.create_task(self._load(path))
            task.add_done_callback(lambda _: self._tasks.pop(path, None))
        return task

    async def _load(self, path: Path) -> None:
        async with self._lock:
            with self.progress_factory(f"Reading {path.name}") as progress:
                read = partial(self._workspace.read, path, progress.report)
                try:
                    await run_in_slices(read, lambda: not progress.is_cancelled, self._give_way)
                except OutdatedError:
                    self._cancelled.add(path)
                    return
        self.on_loaded(path)
