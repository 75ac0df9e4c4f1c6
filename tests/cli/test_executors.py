"""Workers of ``--executor``: those of a real dask scheduler, and of factories."""

import os
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from socket import create_server
from typing import Any
from weakref import WeakSet

import pytest

from cli.command import run, run_process
from docs.pages import DOCS, blocks
from editors.absent import absent
from hlo_lsp import __version__
from hlo_lsp.checks.check_jobs import CheckJob, FileResult, check_job, lost_job, plan
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.cli import executors
from hlo_lsp.cli.executors import open_workers
from hlo_lsp.cli.workers import Work, WorkerPool, Workers
from reports.example import ASSIGNMENT, MODULE, RANGES

_FAILING_MODULE = "module_0002.jit_f.cl_12.after_optimizations.txt"
_COMMANDS = (
    ["modules", ".", "missing.txt"],
    ["modules", ".", "host_0", "--all", "--format", "json"],
    ["summary", ".", "--check", "--format", "markdown"],
    ["summary", ".", "host_0/module_0001.jit_f.cl_12.after_optimizations.txt", "--at", "999"],
    ["modules", "--hosts", "."],
    ["check", ".", "missing.txt", "--select", "all"],
)


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    """Return a folder with four compiles of each of three hosts, one of them another program."""
    for host in range(3):
        folder = tmp_path / "pod" / f"host_{host}"
        folder.mkdir(parents=True)
        for number in range(4):
            stem = f"module_{number:04}.jit_f.cl_12.after_optimizations"
            (folder / f"{stem}.txt").write_text(MODULE, "utf-8")
            (folder / f"{stem}-buffer-assignment.txt").write_text(ASSIGNMENT, "utf-8")
            (folder / f"{stem}-live-range.txt").write_text(RANGES, "utf-8")
    other = MODULE.replace("f32[256]", "f32[255]")
    (tmp_path / "pod" / "host_2" / _FAILING_MODULE).write_text(other, "utf-8")
    return tmp_path / "pod"


def test_worker_of_mpi_can_import_the_program() -> None:
    assert runpy.run_module("hlo_lsp", run_name="__worker__")["__name__"] == "__worker__"


def one_process() -> Executor:
    return ProcessPoolExecutor(1)


@pytest.mark.parametrize("command", _COMMANDS, ids=lambda command: " ".join(command[:3]))
def test_executor_gives_the_same_result(command: list[str], pod: Path) -> None:
    expected = run(*command, cwd=pod)
    executor = "concurrent.futures:ThreadPoolExecutor"
    assert run(*command, "--executor", executor, cwd=pod) == expected


@pytest.mark.e2e
def test_job_that_ends_its_worker_is_reported(pod: Path) -> None:
    jobs = plan([pod], CheckOptions()).jobs
    guilty = next(job for job in jobs if _FAILING_MODULE in {path.name for path in job.files})
    work = Work(partial(_check_or_exit, guilty.files[0]), lost_job)
    with WorkerPool(open_workers=partial(open_workers, f"{__name__}:one_process")) as workers:
        results = dict(workers.results(jobs, work))
    assert results.keys() == set(jobs)
    notes = [one.note for found in results.values() for one in found if one.note is not None]
    assert len(notes) == len(guilty.files)
    assert notes[0].startswith(f"{guilty.files[0]}: not read, because its worker failed twice (")


class SynchronousExecutor(Executor):
    """Runs each job when it is submitted, and knows which results are in memory."""

    def __init__(self) -> None:
        self.alive: WeakSet[Future[Any]] = WeakSet()

    def submit(self, work: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        """Run a function."""
        future: Future[Any] = Future()
        future.set_result(work(*arguments))
        self.alive.add(future)
        return future


def test_results_are_released(pod: Path) -> None:
    (job, *_) = plan([pod], CheckOptions()).jobs
    executor = SynchronousExecutor()
    pool = WorkerPool(open_workers=lambda: nullcontext(Workers(executor)))
    with pool as workers:
        found = workers.results([job] * 3000, Work(lambda _: b"", lost_job))
        counts = {len(executor.alive) for _ in found}
    assert 1000 < max(counts) <= 1025


def failing() -> Executor:
    return FailingExecutor()


class FailingExecutor(ThreadPoolExecutor):
    """Workers that fail at each job."""

    def submit(self, work: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        """Run a function without arguments, which is no job."""
        if not arguments:
            return super().submit(work)
        future: Future[Any] = Future()
        future.set_exception(MemoryError())
        return future


@pytest.mark.parametrize("command", ["modules", "summary", "check", "modules --hosts"])
def test_lost_job_has_one_message(command: str, tmp_path: Path) -> None:
    path = tmp_path / "host_0" / _FAILING_MODULE
    path.parent.mkdir()
    path.write_text(MODULE, "utf-8")
    found = run(*command.split(), tmp_path, "--executor", f"{__name__}:failing")
    assert (found.status, found.out) == (2, "")
    assert (
        found.err == f"hlo-lsp: {path}: not read, because its worker failed twice (MemoryError)\n"
    )


def talking() -> Executor:
    return TalkingExecutor()


class TalkingExecutor(ThreadPoolExecutor):
    """Workers that print on standard output."""

    def submit(self, work: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        """Run a function."""
        if arguments:
            print("a worker started")
        return super().submit(work, *arguments)


def test_messages_of_an_executor_are_not_part_of_the_output(pod: Path) -> None:
    expected = run("modules", pod, "--format", "json")
    found = run("modules", pod, "--format", "json", "--executor", f"{__name__}:talking")
    assert found.out == expected.out
    assert "a worker started\n" in found.err


def _check_or_exit(fatal: Path, job: CheckJob) -> list[FileResult]:
    if fatal in job.files:
        os._exit(1)
    return check_job(job)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dask", "write dask=ADDRESS or MODULE:FACTORY"),
        ("dask=nowhere", "no dask scheduler at 'nowhere' (ValueError: missing port number"),
        ("no_such_module:f", "cannot import no_such_module (ModuleNotFoundError"),
        ("json:none", "json has no function none"),
        ("os:getcwd", "getcwd() returned str, not a concurrent.futures.Executor"),
        ("json:dumps", "dumps() failed (TypeError"),
    ],
)
def test_wrong_executor_is_a_sentence(name: str, message: str, pod: Path) -> None:
    if name.startswith("dask="):
        require_dask()
    found = run("modules", pod, "--executor", name)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(f"hlo-lsp: --executor {name}: {message}")
    assert found.err.count("\n") == 1


def test_missing_dask_is_a_sentence(pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = run("modules", pod, "--executor", "dask=tcp://127.0.0.1:1")
    assert found.err.startswith("hlo-lsp: --executor dask=tcp://127.0.0.1:1: dask is not installed")
    assert found.err.rstrip().endswith("install it with `pip install 'hlo-lsp[dask]'`")


def test_other_version_in_the_workers_is_a_sentence(
    pod: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "worker_version", str)
    found = run("modules", pod, "--executor", "concurrent.futures:ThreadPoolExecutor")
    assert found.status == 2
    assert f": the workers have hlo-lsp ; install hlo-lsp {__version__} on them" in found.err


def test_jobs_and_executor_exclude_each_other(pod: Path) -> None:
    found = run("check", pod, "-j", "2", "--executor", "a:b")
    assert found.status == 2
    assert "not allowed with argument" in found.err


@pytest.mark.e2e
def test_module_of_a_folder_needs_its_name(pod: Path) -> None:
    (pod / "of_folder.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor as workers\n", "utf-8"
    )
    command = ("modules", ".", "--executor", "of_folder:workers")
    found = run_process(*command, cwd=pod)
    assert (found.status, found.out) == (2, "")
    assert found.err.endswith("; if it is a file, name its folder with --import-from\n")
    expected = run("modules", ".", cwd=pod)
    assert run_process(*command, "--import-from", ".", cwd=pod) == expected


def test_import_from_needs_an_executor(pod: Path) -> None:
    found = run("modules", pod, "--import-from", ".")
    assert (found.status, found.err) == (2, "hlo-lsp: --import-from: only with --executor\n")


@pytest.mark.e2e
def test_nothing_of_an_executor_is_imported_without_it(pod: Path) -> None:
    code = (
        "import sys; from hlo_lsp.cli.main import main\n"
        "for command in ('modules', 'summary', 'modules --hosts', 'check'):"
        " main([*command.split(), sys.argv[1]])\n"
        "print(*{'distributed', 'dask', 'multiprocessing'}.intersection(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, pod], stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    assert ended.stdout.endswith("\n\n")


def require_dask() -> None:
    if find_spec("distributed") is None:
        absent("dask", "pip install --group test")


_SCHEDULER = """
import asyncio
from distributed import Scheduler

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""
_WORKER = """
import asyncio, sys
from distributed import Worker

async def main():
    async with Worker(sys.argv[1], nthreads=2, dashboard=False) as worker:
        print(worker.address, flush=True)
        await worker.finished()

asyncio.run(main())
"""


@dataclass(frozen=True)
class Cluster:
    """A scheduler, and the processes of its workers."""

    address: str
    workers: list[subprocess.Popen[str]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require_dask()
    folder = tmp_path_factory.mktemp("dask")
    with ExitStack() as ended:

        def started(code: str, *arguments: str) -> tuple[subprocess.Popen[str], str]:
            process = subprocess.Popen(
                [sys.executable, "-c", code, *arguments],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
            ended.enter_context(process)
            ended.callback(process.kill)
            assert process.stdout is not None
            return process, process.stdout.readline().strip()

        address = started(_SCHEDULER)[1]
        workers = [started(_WORKER, address) for _ in range(2)]
        assert all(worker_address for _, worker_address in workers)
        yield Cluster(address, [process for process, _ in workers])


@pytest.mark.e2e
@pytest.mark.xdist_group("dask")
@pytest.mark.parametrize("command", _COMMANDS, ids=lambda command: " ".join(command[:3]))
def test_dask_gives_the_same_result(command: list[str], pod: Path, cluster: Cluster) -> None:
    expected = run(*command, cwd=pod)
    assert run(*command, "--executor", f"dask={cluster.address}", cwd=pod) == expected


@pytest.mark.e2e
@pytest.mark.xdist_group("dask")
def test_dask_worker_that_ends_loses_nothing(pod: Path, cluster: Cluster) -> None:
    for number in range(4, 100):
        (pod / f"module_{number:04}.jit_f.txt").write_text(MODULE, "utf-8")
    jobs = plan([pod], CheckOptions()).jobs
    open_cluster = partial(open_workers, f"dask={cluster.address}")
    with WorkerPool(open_workers=open_cluster) as workers:
        found = workers.results(jobs, Work(check_job, lost_job))
        results = dict([next(found)])
        cluster.workers[0].kill()
        results.update(found)
    assert results == {job: check_job(job) for job in jobs}


@pytest.mark.e2e
@pytest.mark.xdist_group("dask")
def test_commands_of_the_page_run(pod: Path, cluster: Cluster) -> None:
    pod.rename(pod.with_name("dumps"))
    lines = [line for block in blocks(DOCS / "scale.md", "sh") for line in block.text.splitlines()]
    commands = [line for line in lines if "--executor dask=" in line]
    assert commands
    for command in commands:
        words = shlex.split(command.replace("tcp://SCHEDULER:8786", cluster.address))
        assert run(*words[1:], cwd=pod.parent) == run(*words[1:-2], cwd=pod.parent)


@pytest.mark.e2e
def test_no_scheduler_is_a_sentence(pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_dask()
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 0.2)
    with closing(create_server(("127.0.0.1", 0))) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    found = run("modules", pod, "--executor", f"dask={address}")
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(
        f"hlo-lsp: --executor dask={address}: no dask scheduler at {address!r} ("
    )
    assert found.err.count("\n") == 1
