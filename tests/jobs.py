"""Jobs that run from checkpoint to checkpoint."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from hlo_lsp.background_jobs import Job

T = TypeVar("T")


@contextmanager
def started(work: Callable[[], T]) -> Iterator[Job[T]]:
    """Run a job to its first checkpoint, and cancel it in the end."""
    job = Job(work)
    try:
        job.step(0)
        yield job
    finally:
        job.cancel()


def count_checkpoints(work: Callable[[], T]) -> int:
    """Run a function and return how many checkpoints it has passed."""
    job, count = Job(work), 0
    while not job.step(0):
        count += 1
    return count
