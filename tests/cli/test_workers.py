"""Worker processes, and systems without them."""

import concurrent.futures
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.checks.check_jobs import CheckJob, FileResult, check_job, lost_job, plan
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.cli import workers
from hlo_lsp.cli.workers import Work, WorkerPool

BAD = "HloModule m\n\nENTRY %main {\n  ROOT %a = f32[] negate(%b)\n}\n"


class BreakingPool:
    """A process pool that runs the first job and loses a process at the next one."""

    def __init__(self, *_: object, **__: object) -> None:
        self.done = 0

    def submit(
        self, work: Callable[[CheckJob], list[FileResult]], job: CheckJob
    ) -> Future[list[FileResult]]:
        future: Future[list[FileResult]] = Future()
        self.done += 1
        if self.done == 1:
            future.set_result(work(job))
        else:
            future.set_exception(BrokenProcessPool())
        return future

    def shutdown(self, *, wait: bool, cancel_futures: bool) -> None:
        """Do nothing."""


def no_pool(*_: object, **__: object) -> Any:
    raise OSError("no semaphores here")


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[CheckJob]:
    monkeypatch.setattr(workers, "_MIN_PARALLEL_BYTES", 1000)
    for number in range(6):
        text = BAD + "// filling\n" * 40 * (number % 3)
        (tmp_path / f"module_{number:04}.jit_f.txt").write_text(text, "utf-8")
    made = plan([tmp_path], CheckOptions()).jobs
    assert len(made) == 6
    return made


def looked_at(count: int | None, jobs: list[CheckJob]) -> dict[CheckJob, list[str]]:
    with WorkerPool(count) as pool:
        return {
            job: [finding.code for one in found for finding in one.findings]
            for job, found in pool.results(jobs, Work(check_job, lost_job))
        }


@pytest.mark.parametrize("count", [None, 1, 2, 9])
def test_all_jobs_are_run(jobs: list[CheckJob], count: int | None) -> None:
    assert looked_at(count, jobs) == {key: ["undefined-instruction"] for key in jobs}


@pytest.mark.parametrize("pool", [BreakingPool, no_pool])
def test_all_jobs_are_run_without_processes(
    jobs: list[CheckJob], monkeypatch: pytest.MonkeyPatch, pool: object
) -> None:
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", pool)
    assert looked_at(2, jobs) == {key: ["undefined-instruction"] for key in jobs}


def test_small_jobs_start_no_process(jobs: list[CheckJob], monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> Any:
        raise AssertionError

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", forbidden)
    small = [job for job in jobs if job.size < 400]
    assert len(looked_at(2, small)) == 2
    assert len(looked_at(1, jobs)) == 6


def test_no_jobs(jobs: list[CheckJob]) -> None:
    assert looked_at(2, []) == {}
    assert len(jobs) == 6
