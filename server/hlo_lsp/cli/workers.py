"""The processes that read the dumps of a command: those of this machine, or of an executor."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from hlo_lsp import __version__
from hlo_lsp.cli.errors import CommandError, describe_error
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.garbage_collection import reduce_gc_frequency
from hlo_lsp.import_path import keep_absolute_import_path
from hlo_lsp.text.remote import Unlisted, add_unlisted, is_within, local_path, shown, unlisted

_MIN_PARALLEL_BYTES = 1 << 20  # Below this size, starting a second process takes longer.
_MAX_JOBS_IN_FLIGHT = 1024  # so that the memory of this process does not grow with the jobs
_CONNECTION_CHECK_SECONDS = 1.0
_MAX_LISTED_FOLDERS = 1000  # of commands, in a worker
_OTHER_SETTINGS = "HLO_LSP_CACHE, or the settings of the server, are not those of the command"
_MAX_LISTING_ATTEMPTS = 3  # of a worker for a command; each can wait for a minute
_R = TypeVar("_R")


class WorkerJob(Protocol):
    """The files of one compile. Jobs and their results are small, and can be pickled."""

    @property
    def path(self) -> Path:
        """One of the files."""
        ...

    @property
    def size(self) -> int:
        """The size of the files in bytes, which determines the time."""
        ...


_J = TypeVar("_J", bound=WorkerJob)


@dataclass(frozen=True, slots=True)
class Work(Generic[_J, _R]):
    """The work of jobs.

    Attributes:
        run: Does the work, in any process that can read the files. Found by its name in a worker.
        lost: Returns the result of a job that no worker has finished, given the message for the
            user. Jobs that are lost for a common reason have the same message.
    """

    run: Callable[[_J], _R]
    lost: Callable[[_J, str], _R]


@dataclass(frozen=True, slots=True)
class Workers:
    """An executor, and whether its futures will still end."""

    executor: Executor
    is_alive: Callable[[], bool] = lambda: True


OpenWorkers = Callable[[], AbstractContextManager[Workers]]


class WorkerPool:
    """The workers of a command.

    By default, these are at most ``count`` processes of this machine, which start with the first
    large job. ``open_workers`` opens others, and does so again when they are broken. These may run
    on other machines, and list the remote folders of ``urls`` from which they read.
    """

    def __init__(
        self,
        count: int | None = None,
        open_workers: OpenWorkers | None = None,
        urls: Mapping[Path, str] | None = None,
    ) -> None:
        self._count = available_cores() if count is None else count
        self._open = open_workers or self._open_processes
        self.is_local = open_workers is None
        self._urls = urls or {}
        self._command = os.urandom(16).hex()  # workers can live longer than a command
        self._workers: Workers | None = None
        self._opened = ExitStack()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._end(wait=kind is None)

    def results(self, jobs: Sequence[_J], work: Work[_J, _R]) -> Iterator[tuple[_J, _R]]:
        """Run the jobs, and yield each result when it is available, in no particular order.

        Raises:
            CommandError: The executor cannot be opened, or ended.
        """
        largest_first = sorted(jobs, key=lambda job: -job.size)
        if not self.is_local:
            # Ray prints on standard output that a worker ended, in the middle of JSON.
            with redirect_stdout(sys.stderr):
                yield from self._remote_results(largest_first, work)
        else:
            yield from self._local_results(largest_first, work)

    def _local_results(self, jobs: Sequence[_J], work: Work[_J, _R]) -> Iterator[tuple[_J, _R]]:
        left = dict.fromkeys(jobs)
        total = sum(job.size for job in jobs)
        if min(self._count, len(jobs)) > 1 and total > _MIN_PARALLEL_BYTES:
            try:
                for job, future in self._ended(jobs, work):
                    found = future.result()
                    del left[job]
                    yield job, found
            except (BrokenExecutor, OSError, ImportError):
                # A process was killed (out of memory) or cannot be started (no semaphores): run
                # the remaining jobs in this process, which then has all the memory.
                self._end(wait=False)
        for job in left:
            yield job, work.run(job)

    @contextmanager
    def _open_processes(self) -> Iterator[Workers]:
        from hlo_lsp.cli.worker_processes import start_processes  # noqa: PLC0415  # for large dumps

        yield Workers(start_processes(self._count, partial(_initialize_worker, unlisted())))

    def _remote_results(self, jobs: Sequence[_J], work: Work[_J, _R]) -> Iterator[tuple[_J, _R]]:
        """Run jobs in an executor. Those that failed run again at the end."""
        unlisted_jobs: list[_J] = []
        failed: list[_J] = []
        for job, future in self._ended(jobs, work):
            failure = _failure(future)
            if failure is None:
                yield job, future.result()
            else:
                (unlisted_jobs if isinstance(failure, ListingError) else failed).append(job)
        # The others run alone, because a job that ends its worker can fail all jobs in flight.
        again = chain(self._ended(unlisted_jobs, work), self._ended(failed, work, limit=1))
        lost: dict[str, list[_J]] = {}
        for job, future in again:
            failure = _failure(future)
            if failure is None:
                yield job, future.result()
            elif isinstance(failure, ListingError):
                lost.setdefault(str(failure), []).append(job)
            else:
                reason = f"its worker failed twice ({describe_error(failure)})"
                yield job, work.lost(job, f"{shown(job.path)}: not read, because {reason}")
        for problem, alike in lost.items():
            count = count_noun(len(alike), "job")
            message = f"{count} not run, because workers cannot list the folder ({problem})"
            yield from ((job, work.lost(job, message)) for job in alike)

    def _ended(
        self, jobs: Iterable[_J], work: Work[_J, _R], limit: int = _MAX_JOBS_IN_FLIGHT
    ) -> "Iterator[tuple[_J, Future[_R]]]":
        """Submit jobs, at most ``limit`` at a time, and yield each that has ended."""
        ended: SimpleQueue[tuple[_J, Future[_R]]] = SimpleQueue()

        def submit(job: _J) -> None:
            self._submit(job, work).add_done_callback(lambda future: ended.put((job, future)))

        waiting, running = iter(jobs), 0
        while True:
            while running < limit and (job := next(waiting, None)) is not None:
                submit(job)
                running += 1
            if not running:
                return
            while True:
                with suppress(Empty):
                    yield ended.get(timeout=_CONNECTION_CHECK_SECONDS)
                    break
                if self._workers is not None and not self._workers.is_alive():
                    raise CommandError("--executor: the connection to the scheduler was lost")
            running -= 1

    def _submit(self, job: _J, work: Work[_J, _R]) -> "Future[_R]":
        if self._workers is None:
            self._workers = self._opened.enter_context(self._open())
        executor = self._workers.executor
        if self.is_local:
            return executor.submit(work.run, job)
        try:
            command = self._command
            paths = RemotePaths(self._urls, unlisted())
            return executor.submit(run_in_folder, command, os.getcwd(), paths, work.run, job)
        except BrokenExecutor:  # by an earlier job: the ones in flight have failed as well
            self._end(wait=False)
            return self._submit(job, work)
        except Exception as error:  # each executor has its own if it has ended
            raise CommandError(f"--executor: it has ended ({describe_error(error)})") from error

    def _end(self, *, wait: bool) -> None:
        workers, self._workers = self._workers, None
        if workers is not None:
            # That of dask has no such argument: its client cancels all when it is closed.
            with suppress(TypeError):
                workers.executor.shutdown(wait=wait, cancel_futures=True)
        self._opened.close()


def _failure(future: "Future[_R]") -> BaseException | None:
    return CancelledError("cancelled") if future.cancelled() else future.exception()


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _initialize_worker(unlisted_paths: Unlisted) -> None:
    reduce_gc_frequency()
    add_unlisted(unlisted_paths)
    # Ctrl-C reaches all processes of a terminal; only the parent reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class ListingError(Exception):
    """A worker cannot list a URL of a command; the message is for the user."""


_ONE_JOB = threading.Lock()  # A worker can have several threads, but analysis needs a process.


@dataclass(frozen=True, slots=True)
class RemotePaths:
    """The URLs of remote paths of a command, and the paths for those that cannot be listed."""

    urls: Mapping[Path, str]
    unlisted: Unlisted = field(default_factory=dict)


def run_in_folder(
    command: str, folder: str, remote: RemotePaths, run: Callable[[_J], _R], job: _J
) -> _R:
    """Run a job in a worker of an executor, with paths relative to the folder of the command.

    Args:
        command: A text that differs from that of other commands.
        folder: The current folder of the command.
        remote: The remote paths of the command.
        run: Runs the job.
        job: The job.
    """
    with _ONE_JOB:
        thresholds, before = gc.get_threshold(), os.getcwd()
        reduce_gc_frequency()
        keep_absolute_import_path()  # else the worker imports from the folder of the command
        with suppress(OSError):  # a worker without this folder can read other paths
            os.chdir(folder)
        try:
            add_unlisted(remote.unlisted)
            for path, url in remote.urls.items():
                if is_within(job.path, path):
                    _listing(command, url, path).ensure()
            return run(job)
        finally:
            os.chdir(before)
            gc.set_threshold(*thresholds)


@dataclass(slots=True)
class _Listing:
    """A remote path that a worker lists once for a command, and the errors of its attempts."""

    url: str
    path: Path
    is_complete: bool = False
    errors: list[str] = field(default_factory=list)

    def ensure(self) -> None:
        """List the path if necessary, as the paths of jobs are those of listed files.

        Raises:
            ListingError: The URL cannot be listed, or it has another path here.
        """
        if not self.is_complete and len(self.errors) < _MAX_LISTING_ATTEMPTS:
            try:
                self.is_complete = local_path(self.url) == self.path
            except OSError as error:
                self.errors.append(str(error))
            else:
                if not self.is_complete:
                    self.errors.append(_OTHER_SETTINGS)
        if not self.is_complete:
            raise ListingError(self.errors[-1])


@lru_cache(maxsize=_MAX_LISTED_FOLDERS)
def _listing(_command: str, url: str, path: Path) -> _Listing:
    return _Listing(url, path)


def worker_version() -> str:
    """Return the version of this package in a worker."""
    return __version__
