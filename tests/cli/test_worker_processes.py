"""The processes that run jobs where Python cannot fork."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from functools import partial
from pathlib import Path

import pytest

from cli import test_workers
from cli.test_workers import looked_at
from hlo_lsp.checks.check_jobs import CheckJob
from hlo_lsp.cli import worker_processes
from hlo_lsp.cli.worker_processes import NewProcesses

pytestmark = pytest.mark.e2e
jobs = test_workers.jobs


@pytest.fixture
def processes() -> Iterator[NewProcesses]:
    with NewProcesses(1, partial(os.putenv, "PREPARED", "yes")) as found:
        yield found


def test_jobs_run_in_new_processes(jobs: list[CheckJob], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_processes, "start_processes", NewProcesses)
    assert looked_at(2, jobs) == {key: ["undefined-instruction"] for key in jobs}


def test_one_process_runs_prepared_jobs(processes: NewProcesses) -> None:
    numbers = [processes.submit(os.getpid) for _ in range(3)]
    assert len({os.getpid(), *(one.result() for one in numbers)}) == 2
    assert processes.submit(os.system, 'test "$PREPARED" = yes').result() == 0


def test_exception_of_a_job_is_raised(processes: NewProcesses) -> None:
    with pytest.raises(FileNotFoundError):
        processes.submit(Path("/no/such/file").read_text).result()


def test_exception_that_cannot_be_pickled(processes: NewProcesses) -> None:
    code = "class Own(Exception): pass\nraise Own('of this code')"
    with pytest.raises(RuntimeError, match="Own: of this code"):
        processes.submit(exec, code, {}).result()


def test_output_of_a_job_is_no_result(processes: NewProcesses) -> None:
    assert processes.submit(os.write, 1, b"x").result() == 1
    assert processes.submit(print, "x").result() is None


def test_process_that_ends_breaks_the_executor(processes: NewProcesses) -> None:
    with pytest.raises(BrokenExecutor):
        processes.submit(os._exit, 1).result()


def test_shutdown_ends_running_jobs() -> None:
    processes = NewProcesses(1, int)
    processes.submit(int).result()  # it has started
    pausing = processes.submit(signal.pause)
    while not pausing.running():
        pass
    processes.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(BrokenExecutor):
        pausing.result()
