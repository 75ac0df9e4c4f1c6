"""Background jobs: long work that pauses at checkpoints for requests, and can be cancelled.

What a job has read may change while it is paused. The change then makes the job outdated, and who
runs the job starts it again. So work needs no provisions for changes: it never sees one.
"""

from __future__ import annotations

import contextvars
import math
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Cancelled(BaseException):  # the name of asyncio and concurrent.futures for it
    """The exception that ends a cancelled job.

    It is not an ``Exception``, so that no handler of rule errors catches it.
    """


class Outdated(BaseException):
    """The exception that ends a job after something that it has read changed."""


class Job(Generic[T]):
    """A function that runs on a thread of its own and pauses at checkpoints.

    Exactly one thread runs at a time: the one that calls ``step`` waits until the function pauses
    or ends. The function therefore needs no locks.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._worker: _Worker | None = None
        self._seconds = 0.0
        self._last_deadline = math.inf
        self._deadline = 0.0
        self._is_cancelled = False
        self._is_outdated = False
        self._is_done = False
        self._result: T
        self._error: BaseException | None = None
        self._context = contextvars.copy_context()

    def step(self, seconds: float) -> bool:
        """Run until the first checkpoint after this time or to the end; return whether it ended.

        The time starts when the thread of the job runs: on a busy machine, this takes longer than a
        step, which would do nothing otherwise. If another job calls this method, the deadline of
        that job applies, too.

        Raises:
            Outdated: something that the job has read changed since the last step.
            BaseException: any exception of the function.
        """
        if self._is_outdated:
            self.cancel()
            raise Outdated
        if self._is_done:
            return True
        outer = _State.job
        self._seconds = seconds
        self._last_deadline = math.inf if outer is None else outer._deadline
        if self._worker is None:
            self._worker = _idle.pop() if _idle else _Worker()
            self._worker.job = self
        _State.job = self
        try:
            self._worker.resume()
        finally:
            _State.job = outer
        if self._is_done:
            _idle.append(self._worker)
            self._worker = None
            if self._error is not None:
                try:
                    raise self._error
                finally:  # its traceback refers to this job, and to all that the function used
                    self._error = None
        return self._is_done

    def attempt(self, seconds: float) -> bool:
        """Run on this thread, up to the first checkpoint after this time; return whether it ended.

        If it has not ended, ``Cancelled`` stops the function, and ``step`` calls it again. Waking
        another thread takes about as long as a short request: 0.15 ms.

        Raises:
            BaseException: any exception of the function.
        """
        outer, _State.job = _State.job, self
        self._deadline = time.monotonic() + seconds
        try:
            self._result = self._context.run(self._work)
            self._is_done = True
        except Cancelled:
            self._context = contextvars.copy_context()
        finally:
            _State.job = outer
        return self._is_done

    @property
    def result(self) -> T:
        """The result of the function, after ``step`` or ``attempt`` returned true."""
        return self._result

    def cancel(self) -> None:
        """Raise ``Cancelled`` at the checkpoint where the function is paused."""
        self._is_cancelled, self._is_outdated = True, False
        # After an interrupt (Ctrl-C) the function still runs, and the process ends: do not wait.
        while self._worker is not None and not self._worker.is_running:
            try:
                self.step(0)
            except Cancelled:
                return
        self._is_done = True

    def outdate(self) -> None:
        """Let the next step raise ``Outdated``; a result that is complete remains."""
        self._is_outdated = not self._is_done

    def run(self) -> None:
        """Call the function; the worker thread calls this method."""
        self._start_time()
        try:
            self._result = self._context.run(self._work)
        except BaseException as error:  # noqa: BLE001  # step raises it on the other thread
            self._error = error
        self._is_done = True

    def pause(self) -> None:
        """Pause if the deadline is over, or end an attempt; ``checkpoint`` calls this method."""
        if self._worker is None:
            raise Cancelled  # in an attempt
        if time.monotonic() >= self._deadline:
            self._worker.pause()
            self._start_time()
        if self._is_cancelled:
            raise Cancelled

    def _start_time(self) -> None:
        self._deadline = min(time.monotonic() + self._seconds, self._last_deadline)


class _Worker:
    """A thread that runs one job after another."""

    def __init__(self) -> None:
        self.job: Job[Any] | None = None
        self.is_running = False
        self._may_run = threading.Lock()
        self._has_paused = threading.Lock()
        self._may_run.acquire()
        self._has_paused.acquire()
        threading.Thread(target=self._serve, name="hlo-lsp job", daemon=True).start()

    def resume(self) -> None:
        """Let the job run until it pauses or ends."""
        self.is_running = True
        self._may_run.release()
        self._has_paused.acquire()

    def pause(self) -> None:
        """Return from ``resume`` and wait for the next one."""
        self.is_running = False
        self._has_paused.release()
        self._may_run.acquire()

    def _serve(self) -> None:
        while True:
            self._may_run.acquire()
            job, self.job = self.job, None
            if job is not None:
                job.run()
            del job  # an idle worker keeps no result in memory
            self.is_running = False
            self._has_paused.release()


class _State:
    """The job that runs now."""

    job: Job[Any] | None = None


_idle: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a forked process has none of the threads


def current_job() -> Job[Any] | None:
    """Return the job that runs now."""
    return _State.job


def checkpoint() -> None:
    """Pause for other work if the deadline of the current job is over.

    Outside of jobs this function does nothing.

    Raises:
        Cancelled: The job was cancelled.
    """
    job = _State.job
    if job is not None and (job._is_cancelled or time.monotonic() >= job._deadline):
        job.pause()


class cached_property(Generic[T_co]):  # noqa: N801  # a decorator, as in functools
    """A property that is computed on first access and kept in the dictionary of its object.

    ``functools.cached_property`` has a lock before Python 3.12, which a job would hold while it is
    paused at a checkpoint. Another job would then wait for the lock forever.
    """

    def __init__(self, compute: Callable[[Any], T_co]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T_co]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T_co: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        """Return the value, which hides this descriptor from then on."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
