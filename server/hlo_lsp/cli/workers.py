"""The worker processes of ``hlo-lsp check``."""

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

from hlo_lsp.checks.folders import CheckJob, FileResult, check_job
from hlo_lsp.lsp.garbage_collection import reduce_gc_frequency

_MIN_PARALLEL_BYTES = 1 << 20  # Below this size, starting a second process takes longer.


class WorkerPool:
    """A pool of at most ``count`` processes that start with the first large job."""

    def __init__(self, count: int | None = None) -> None:
        self._count = available_cores() if count is None else count
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._end(wait=kind is None)

    def results(self, jobs: Sequence[CheckJob]) -> Iterator[tuple[CheckJob, list[FileResult]]]:
        """Run the jobs, and yield each result when it is available, in no particular order."""
        largest_first = sorted(jobs, key=lambda job: -job.size)
        total = sum(job.size for job in jobs)
        left = dict.fromkeys(largest_first)
        if min(self._count, len(jobs)) > 1 and total > _MIN_PARALLEL_BYTES:
            try:
                futures = self._submit(largest_first)
                for future in as_completed(futures):
                    job = futures[future]
                    found = future.result()
                    del left[job]
                    yield job, found
            except (BrokenProcessPool, OSError, ImportError):
                # A process was killed (out of memory) or cannot be started (no semaphores): run
                # the remaining jobs in this process, which then has all the memory.
                self._end(wait=False)
        for job in left:
            yield job, check_job(job)

    def _submit(self, jobs: Sequence[CheckJob]) -> dict[Future[list[FileResult]], CheckJob]:
        """Submit all jobs together, because forking requires a process without other threads."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._count, initializer=_initialize_worker)
        return {self._pool.submit(check_job, job): job for job in jobs}

    def _end(self, *, wait: bool) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=wait, cancel_futures=True)
            self._pool = None


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _initialize_worker() -> None:
    reduce_gc_frequency()
    # Ctrl-C reaches all processes of a terminal; only the parent reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
