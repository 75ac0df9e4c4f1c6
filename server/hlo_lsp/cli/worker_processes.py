"""The processes of this machine that run the jobs of a command."""

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from hlo_lsp.python_processes import python_environment, result_of, worker_command

_T = TypeVar("_T")
Prepare = Callable[[], object]
"""What a process does before its first job; it can be pickled."""


def start_processes(count: int, prepare: Prepare) -> Executor:
    """Return an executor with at most ``count`` processes, which start with the first jobs."""
    if sys.platform == "linux":
        # A fork has imported everything, and starts within a few milliseconds.
        # A late import, because it takes 20 ms, and most commands do not need it.
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
        from multiprocessing import get_context  # noqa: PLC0415

        return ProcessPoolExecutor(count, get_context("fork"), initializer=prepare)
    return NewProcesses(count, prepare)


class NewProcesses(ThreadPoolExecutor):
    """New processes of Python, each with a thread of this process that waits for it."""

    def __init__(self, count: int, prepare: Prepare) -> None:
        super().__init__(count)
        self._prepare = prepare
        self._own = threading.local()
        self._processes: list[_NewProcess] = []

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Run a function in a process."""
        return super().submit(self._run, partial(fn, *args, **kwargs))

    def _run(self, work: Callable[[], _T]) -> _T:
        process: _NewProcess | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = _NewProcess()
            self._processes.append(process)
            process.run(self._prepare)
        return process.run(work)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, those that run a job only if ``wait`` is false."""
        if not wait:
            self._end_processes()
        super().shutdown(wait=wait, cancel_futures=cancel_futures)
        self._end_processes()

    def _end_processes(self) -> None:
        for process in self._processes:
            process.end()


class _NewProcess:
    """A process that runs one function after another."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            worker_command(),
            stdin=pipe,
            stdout=pipe,
            env=python_environment(),
            # Ctrl-C in a terminal reaches this process only, which ends the others.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def run(self, work: Callable[[], _T]) -> _T:
        """Return the result of a function.

        Raises:
            BrokenExecutor: The process has ended.
        """
        data = pickle.dumps(work)
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        try:
            requests.write(data)
            requests.flush()
            outcome = pickle.load(answers)
        except (OSError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise BrokenExecutor("a process ended early") from error
        found: _T = result_of(outcome)
        return found

    def end(self) -> None:
        """End the process, also while it runs a function."""
        self._process.kill()
        with suppress(OSError), self._process:  # it has not read all bytes
            pass
