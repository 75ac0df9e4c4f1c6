import gc
import signal
import sys
import threading
import weakref
from collections.abc import Callable
from functools import partial

import pytest

from hlo_lsp import background_jobs
from hlo_lsp.background_jobs import Cancelled, Job, cached_property, checkpoint
from jobs import count_checkpoints, started


def count_to(number: int, log: list[int]) -> str:
    for each in range(number):
        log.append(each)
        checkpoint()
    return f"counted to {number}"


@pytest.mark.parametrize("number", [0, 1, 5])
def test_work_outside_of_jobs_never_pauses(number: int) -> None:
    log: list[int] = []
    assert count_to(number, log) == f"counted to {number}"
    assert log == list(range(number))


def test_job_pauses_at_each_checkpoint() -> None:
    log: list[int] = []
    job = Job(partial(count_to, 3, log))
    paused = []
    while not job.step(0):
        paused.append([*log])
    assert paused == [[0], [0, 1], [0, 1, 2]]
    assert job.result == "counted to 3"


def test_job_with_time_left_does_not_pause() -> None:
    job = Job(partial(count_to, 3, []))
    assert job.step(60)


def test_time_starts_when_the_thread_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    wake = background_jobs._Worker.resume

    def wake_late(worker: background_jobs._Worker) -> None:
        nonlocal now
        now += 1000
        wake(worker)

    monkeypatch.setattr(background_jobs._Worker, "resume", wake_late)
    monkeypatch.setattr("hlo_lsp.background_jobs.time.monotonic", lambda: now)
    assert Job(partial(count_to, 3, [])).step(60)


def test_finished_job_does_not_run_again() -> None:
    log: list[int] = []
    job = Job(partial(count_to, 1, log))
    job.step(60)
    job.step(60)
    assert log == [0]


def test_error_is_raised_by_step() -> None:
    def fail() -> None:
        checkpoint()
        raise OSError("gone")

    job = Job(fail)
    assert not job.step(0)
    with pytest.raises(OSError, match="gone"):
        job.step(0)


def test_short_work_runs_on_the_calling_thread() -> None:
    job = Job(threading.get_ident)
    assert job.attempt(60)
    assert job.result == threading.get_ident()


def test_work_begins_again_after_an_attempt() -> None:
    log: list[int] = []
    job = Job(partial(count_to, 2, log))
    assert not job.attempt(0)
    assert job.step(60)
    assert log == [0, 0, 1]


def test_error_is_raised_by_an_attempt() -> None:
    with pytest.raises(ZeroDivisionError):
        Job(lambda: 1 // 0).attempt(60)


def test_cancelled_job_runs_its_cleanup_only() -> None:
    log: list[str] = []

    def work() -> None:
        try:
            checkpoint()
            log.append("not reached")
        finally:
            log.append("cleanup")

    with started(work) as job:
        assert not log
        job.cancel()
        assert log == ["cleanup"]
    assert log == ["cleanup"]


class _Text:
    pass


def test_cancelled_job_keeps_nothing_in_memory() -> None:
    text = _Text()
    known = weakref.ref(text)
    job = Job(partial(_hold, text))
    del text
    gc.disable()
    try:
        assert not job.step(0)
        job.cancel()
        del job
        assert known() is None
    finally:
        gc.enable()


def _hold(_text: _Text) -> None:
    while True:
        checkpoint()


def test_no_rule_can_swallow_a_cancellation() -> None:
    def work() -> None:
        try:
            checkpoint()
        except Exception:  # noqa: BLE001  # as the runner of the rules does
            pytest.fail("a cancelled job went on")

    with started(work) as job:
        job.cancel()
    assert not issubclass(Cancelled, Exception)


def test_job_that_never_ran_can_be_cancelled() -> None:
    log: list[int] = []
    job = Job(partial(count_to, 3, log))
    job.cancel()
    assert log == []


def nested(log: list[int]) -> str:
    inner = Job(partial(count_to, 3, log))
    while not inner.step(60):
        checkpoint()
    return inner.result


def test_inner_job_pauses_with_the_outer_one() -> None:
    log: list[int] = []
    assert count_checkpoints(partial(nested, log)) >= 3
    assert log == [0, 1, 2]


@pytest.mark.parametrize("work", [partial(count_to, 400, []), partial(nested, [])])
def test_many_jobs_share_few_threads(work: Callable[[], str]) -> None:
    before = threading.active_count()
    for _ in range(20):
        job = Job(work)
        while not job.step(0):
            pass
    assert threading.active_count() <= before + 2


@pytest.mark.skipif(sys.platform == "win32", reason="no pthread_kill")
def test_interrupted_job_can_be_cancelled() -> None:
    is_over, has_ended = threading.Event(), threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    def work() -> None:
        # Later, when the main thread certainly waits.
        threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
        while not is_over.is_set():
            checkpoint()
        has_ended.set()

    job = Job(work)
    # A shell starts background processes with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        job.step(60)
    job.cancel()
    is_over.set()
    assert has_ended.wait(60)  # else its next checkpoint would be that of another test's job
    signal.signal(signal.SIGINT, before)


class Slow:
    """An object with a value that takes a checkpoint to compute."""

    @cached_property
    def value(self) -> int:
        checkpoint()
        return 7


def test_paused_job_in_a_cached_property_blocks_no_other() -> None:
    paused, other = Slow(), Slow()
    jobs = [Job(lambda: paused.value), Job(lambda: other.value)]
    assert [job.step(0) for job in jobs] == [False, False]
    assert [job.step(60) for job in jobs] == [True, True]
    assert [job.result for job in jobs] == [7, 7]
