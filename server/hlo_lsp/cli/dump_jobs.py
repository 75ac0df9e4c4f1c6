"""Work on all compiles at the paths of a command line, distributed over workers."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from hlo_lsp.cli.dumps import current_folder_frames, files_read, no_dumps_message
from hlo_lsp.cli.progress import with_progress_bar
from hlo_lsp.cli.workers import Work, WorkerJob, WorkerPool
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles, FolderSnapshot, compiles_below
from hlo_lsp.model.file_dumps import dumps_of
from hlo_lsp.model.file_names import FileRole
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.disk import file_size
from hlo_lsp.text.remote import is_remote, read_ahead

_T = TypeVar("_T")
_R = TypeVar("_R")


_J = TypeVar("_J", bound=WorkerJob)
CompileWork = Callable[[Iterator[Compile], list[str]], Iterable[_T]]
"""Returns the results for compiles, and adds messages to a list; both can be pickled."""


def results_at(
    workers: WorkerPool,
    paths: Sequence[Path],
    errors: list[str],
    work: CompileWork[_T],
    *,
    unread: frozenset[FileRole] = frozenset(),
    frames: FrameChoice | None = None,
) -> Iterator[_T]:
    """Yield the results of work on the compiles that ``dumps_at`` yields, in the same order.

    Args:
        workers: The workers that read the compiles.
        paths: Files and folders.
        errors: The list to which a message about each path without a dump is added.
        work: The work on the compiles of a file.
        unread: As of ``dumps_at``.
        frames: As of ``dumps_at``.
    """
    frames = frames or current_folder_frames()
    jobs = [
        _DumpJob(tuple(group), file_size(group[0].path), work, unread, frames)
        for group in _files_by_compile(paths)
    ]
    found = run_jobs(
        workers,
        jobs,
        Work(_DumpJob[_T].run, _DumpJob[_T].lost),
        lambda job: files_read(unread, job.files[0].compile_files()),
    )
    errors_of: list[list[str]] = [[] for _ in paths]
    full: set[int] = set()
    for job in jobs:
        attempts = found.pop(job)
        for named, attempt in zip(job.files, attempts, strict=False):
            errors_of[named.number] += attempt.errors
            yield from attempt.results
        if attempts[-1].has_dump:
            full.update(named.number for named in job.files)
    for number, path in enumerate(paths):
        is_empty = number not in full and not errors_of[number]
        errors += [no_dumps_message(path)] if is_empty else errors_of[number]


def _files_by_compile(paths: Sequence[Path]) -> "Iterable[list[_NamedFile]]":
    folders = FolderSnapshot()
    files: dict[tuple[str, str], list[_NamedFile]] = {}
    for number, path in enumerate(paths):
        for one in compiles_below(path, folders):
            named = _NamedFile(str(one.path), number, one.path == path, one.names())
            files.setdefault((os.path.dirname(one.path), one.stem), []).append(named)
    return files.values()


def run_jobs(
    workers: WorkerPool,
    jobs: Sequence[_J],
    work: Work[_J, _R],
    files: Callable[[_J], Iterable[Path]],
) -> dict[_J, _R]:
    """Run jobs, and return their results.

    Remote dumps are read by this process, which downloads the ``files`` of several jobs at the same
    time, unless another executor reads them.
    """
    if workers.is_local and any(is_remote(job.path) for job in jobs):
        return {job: work.run(job) for job in read_ahead(jobs, files)}
    return dict(with_progress_bar(workers, jobs, work))


@dataclass(frozen=True, slots=True)
class _NamedFile:
    """A file of a compile, and the number of the path that leads to it.

    ``names`` are those of the files of the compile, as they were listed. A name needs less memory
    than a path, and there are thousands of compiles.
    """

    name: str
    number: int
    is_named: bool
    names: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.name)

    def folders(self) -> FolderSnapshot:
        """Return the listing of the folder of the compile with nothing but its files."""
        return FolderSnapshot.of_compile(self.path.parent, self.names)

    def compile_files(self) -> CompileFiles:
        """Return the files of the compile."""
        return self.folders().listing(self.path.parent).compile_files(self.path.name)


@dataclass(slots=True)
class _Attempt(Generic[_T]):
    """The results for the compiles of one file."""

    results: list[_T] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    has_dump: bool = False


@dataclass(frozen=True, slots=True)
class _DumpJob(Generic[_T]):
    """The work on a compile: on the first of ``files`` that is a dump, with its size in bytes."""

    files: tuple[_NamedFile, ...]
    size: int
    work: CompileWork[_T]
    unread_roles: frozenset[FileRole]
    frames: FrameChoice

    @property
    def path(self) -> Path:
        """The first file."""
        return self.files[0].path

    def run(self) -> list[_Attempt[_T]]:
        """Return the results for each file, up to the first that is a dump."""
        attempts: list[_Attempt[_T]] = []
        for file in self.files:
            attempts.append(self._attempt(file))
            if attempts[-1].has_dump:
                break
        return attempts

    def lost(self, message: str) -> list[_Attempt[_T]]:
        """Return the message about a job that no worker has finished."""
        return [_Attempt(errors=[message])]

    def _attempt(self, file: _NamedFile) -> _Attempt[_T]:
        attempt = _Attempt[_T]()

        def dumps() -> Iterator[Compile]:
            # A workspace of one compile needs less memory.
            workspace = DumpWorkspace(self.unread_roles, self.frames, file.folders())
            for dump in dumps_of(workspace, file.path, attempt.errors, is_named=file.is_named):
                attempt.has_dump = True
                yield dump

        attempt.results.extend(self.work(dumps(), attempt.errors))
        return attempt
