"""Reading of large files in the background, and what a session reports about it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path

from hlo_lsp.lsp.progress import Progress
from hlo_lsp.lsp.scheduling import run_in_slices
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.disk import file_stamp

logger = logging.getLogger(__name__)


class SessionListener:
    """A listener to a session, which ignores all reports."""

    def progress(self, title: str, *, is_indefinite: bool = False) -> Progress:  # noqa: ARG002
        """Return the progress of a long task; if it is indefinite, it has no percentage."""
        return Progress(title)

    def file_loaded(self, path: Path) -> None:
        """Handle that a large file was read, or that its reading failed or was cancelled."""

    def profiles_changed(self) -> None:
        """Handle that a profile was read."""

    def times_computed(self) -> None:
        """Handle that the times of a large compile were computed."""

    def problem_found(self, message: str) -> None:
        """Handle a problem in a configuration file."""


class _ReadingCancelledError(Exception):
    """Raised when the user cancelled the reading of a file."""


class FileLoader:
    """Reads large files one after the other; each once, until it changes.

    ``give_way`` is awaited between two slices of the work, ``listener`` returns the listener.
    """

    def __init__(
        self,
        workspace: DumpWorkspace,
        give_way: Callable[[], Awaitable[None]],
        listener: Callable[[], SessionListener],
    ) -> None:
        self._listener = listener
        self._workspace = workspace
        self._give_way = give_way
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._cancelled: set[Path] = set()
        self._unreadable: dict[Path, tuple[int, int] | None] = {}  # with their stamps
        self._lock = asyncio.Lock()

    async def wait(self, paths: Iterable[Path], seconds: float | None) -> None:
        """Read files and wait for them at most so many seconds; reading continues afterwards.

        A file whose reading the user cancelled is not read until a file is opened. The same applies
        to a file that cannot be read, unless it changes.
        """
        tasks = [self._task(path) for path in paths if not self._is_skipped(path)]
        if tasks and seconds != 0:
            await asyncio.wait(tasks, timeout=seconds)

    def is_reading(self, path: Path) -> bool:
        """Return whether a file is being read, or waits to be read."""
        task = self._tasks.get(path)
        return task is not None and not task.done()

    def retry(self) -> None:
        """Read files again whose reading failed, or was cancelled by the user."""
        self._cancelled.clear()
        self._unreadable.clear()

    def _is_skipped(self, path: Path) -> bool:
        is_unreadable = path in self._unreadable and self._unreadable[path] == file_stamp(path)
        return is_unreadable or path in self._cancelled

    def _task(self, path: Path) -> "asyncio.Task[None]":
        task = self._tasks.get(path)
        if task is None:
            task = self._tasks[path] = asyncio.create_task(self._load(path))
            task.add_done_callback(lambda _: self._tasks.pop(path, None))
        return task

    async def _load(self, path: Path) -> None:
        async with self._lock:
            stamp = file_stamp(path)
            with self._listener().progress(f"Reading {path.name}") as progress:

                def report(percentage: int) -> None:
                    progress.report(None, percentage)
                    if progress.is_cancelled:
                        raise _ReadingCancelledError

                try:
                    work = partial(self._workspace.read, path, report)
                    await run_in_slices(work, self._give_way)
                except _ReadingCancelledError:
                    self._cancelled.add(path)
                except Exception:  # a bug with one file must not hide the findings in all others
                    logger.exception("reading %s failed", path)
        if self._workspace.is_unread(path):
            self._unreadable[path] = stamp
        self._listener().file_loaded(path)
