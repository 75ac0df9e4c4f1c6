"""How often Python looks for garbage."""

import gc
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

from hlo_lsp.checks.folders.folder import Checked, check_job
from hlo_lsp.checks.folders.jobs import Job


def reduce_gc_frequency() -> None:
    """Let most objects stay where they are.

    A dump is hundreds of thousands of small objects that all stay: looking through them for
    cycles at the default rate takes up to three quarters of the time of a long reply.
    """
    gc.set_threshold(400_000, 10, 5)


_MIN_PARALLEL_BYTES = 1 << 20  # bytes to read, from which on a second process is worth its start


class WorkerPool:
    """As many processes as are of use, at most ``count``; they start with the first large work."""

    def __init__(self, count: int | None = None) -> None:
        self._count = available_cores() if count is None else count
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._end(wait=kind is None)

    def results(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, list[Checked]]]:
        """Do the jobs, and give back each when it is done: in no certain order."""
        largest_first = sorted(jobs, key=lambda job: -job.size)
        total = sum(job.size for job in jobs)
        left = dict.fromkeys(largest_first)
        if min(self._count, len(jobs)) > 1 and total > _MIN_PARALLEL_BYTES:
            try:
                futures = self._submitted(largest_first)
                for future in as_completed(futures):
                    job = futures[future]
                    found = future.result()
                    del left[job]
                    yield job, found
            except (BrokenProcessPool, OSError, ImportError):
                # A process was ended (memory), or none can be started here (no semaphores): what
                # is left is done by this one, with all the memory there is.
                self._end(wait=False)
        for job in left:
            yield job, check_job(job)

    def _submitted(self, jobs: Sequence[Job]) -> dict[Future[list[Checked]], Job]:
        """All at once: processes are forked while this one has no other thread than the pool's."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._count, initializer=_initialize_worker)
        return {self._pool.submit(check_job, job): job for job in jobs}

    def _end(self, *, wait: bool) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=wait, cancel_futures=True)
            self._pool = None


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _initialize_worker() -> None:
    reduce_gc_frequency()
    # The parent says what is to be said about ctrl-C, which all processes of a terminal get.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
