"""What a command is doing, on standard error if that is a terminal."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from hlo_lsp.cli.workers import Work, WorkerJob, WorkerPool
from hlo_lsp.display.phrases import shortened
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import printable

_J = TypeVar("_J", bound=WorkerJob)
_R = TypeVar("_R")


def with_progress_bar(
    workers: WorkerPool, jobs: Sequence[_J], work: Work[_J, _R]
) -> Iterator[tuple[_J, _R]]:
    """Run jobs, and yield their results, with a progress bar if standard error is a terminal."""
    if not jobs or sys.stderr is None or not sys.stderr.isatty():
        yield from workers.results(jobs, work)
        return
    # A late import, because importing it takes 60 ms.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    counts = TextColumn("{task.fields[done]} of {task.fields[all]}")
    columns = (counts, BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        # The size determines the time, and not every job is about a compile.
        done, size = 0, sum(job.size for job in jobs)
        task = progress.add_task("", total=size, done="0 B", all=format_short_bytes(size))
        for job, found in workers.results(jobs, work):
            done += job.size
            progress.update(task, completed=done, done=format_short_bytes(done))
            yield job, found


_NOTE_DELAY_SECONDS = 0.5
_MAX_NOTE_LENGTH = 70


@contextmanager
def progress_note() -> Iterator[Callable[[str], None]]:
    """Yield a function that sets the text shown on a terminal after half a second of work."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    note = _Note()
    timer = threading.Timer(_NOTE_DELAY_SECONDS, note.start)
    timer.daemon = True
    timer.start()
    try:
        yield note.set
    finally:
        timer.cancel()
        note.stop()


class _Note:
    """A line on the terminal that is shown from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = ""
        self._status: Any = None
        self._is_stopped = False

    def start(self) -> None:
        # A late import, because importing it takes 60 ms.
        from rich.console import Console  # noqa: PLC0415

        with self._lock:
            if not self._is_stopped:
                self._status = Console(stderr=True).status(_one_line(self._text))
                self._status.start()

    def set(self, text: str) -> None:
        with self._lock:
            self._text = text
            if self._status is not None:
                self._status.update(_one_line(text))

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            if self._status is not None:
                self._status.stop()


def _one_line(text: str) -> Any:
    """Return a text that fits in a line of most terminals."""
    from rich.text import Text  # noqa: PLC0415  # as above

    return Text(shortened(printable(text), _MAX_NOTE_LENGTH))
