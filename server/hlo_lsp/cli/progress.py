"""The progress bar of jobs."""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from hlo_lsp.cli.workers import Work, WorkerJob, WorkerPool
from hlo_lsp.model.display import count_noun

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
        size = sum(job.size for job in jobs)  # which determines the time
        task = progress.add_task("", total=size, done=0, all=count_noun(len(jobs), "compile"))
        for done, (job, found) in enumerate(workers.results(jobs, work), 1):
            progress.update(task, advance=job.size, done=done)
            yield job, found
