"""The progress bar of jobs."""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from hlo_lsp.cli.workers import Work, WorkerJob, WorkerPool
from hlo_lsp.text.amounts import format_short_bytes

_MIN_SHOWN_BYTES = 1 << 20  # read in less than half a second
_J = TypeVar("_J", bound=WorkerJob)
_R = TypeVar("_R")


def with_progress_bar(
    workers: WorkerPool, jobs: Sequence[_J], work: Work[_J, _R]
) -> Iterator[tuple[_J, _R]]:
    """Run jobs, and yield their results, with a progress bar on a terminal for much work."""
    size = sum(job.size for job in jobs)
    if size < _MIN_SHOWN_BYTES or sys.stderr is None or not sys.stderr.isatty():
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
        done = 0
        task = progress.add_task("", total=size, done="0 B", all=format_short_bytes(size))
        for job, found in workers.results(jobs, work):
            done += job.size
            progress.update(task, completed=done, done=format_short_bytes(done))
            yield job, found
