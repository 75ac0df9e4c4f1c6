"""``hlo-lsp modules --hosts``: compare what the hosts of one program compiled."""

import argparse
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cli.dump_jobs import run_jobs
from hlo_lsp.cli.dumps import compiles_at
from hlo_lsp.cli.executors import worker_pool
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cli.workers import Work, WorkerPool
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles, FolderSnapshot, compiles_below
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.host_folders import hosts_of
from hlo_lsp.reports.hosts import (
    HostCompile,
    compare_hosts,
    difference_first,
    hosts_content,
    hosts_json,
)
from hlo_lsp.syntax.texts_without_names import fingerprint
from hlo_lsp.text.disk import UnreadableError, file_size, open_readable, read_document
from hlo_lsp.text.remote import shown

_DIFFERENT_STATUS = 1
_READ_BYTES = 1 << 20
_MEMORY_ROLES = {FileRole.ASSIGNMENT, FileRole.LIVE_RANGE}


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status: 1 if hosts differ."""
    errors = [_not_a_folder(path) for path in options.paths if not path.is_dir()]
    folders = [path for path in options.paths if path.is_dir()]
    with worker_pool(options) as workers:
        compiles = _compiles(workers, folders, errors)
    hosts = {one.host for one in compiles}
    if len(hosts) < 2:
        where = ", ".join(map(shown, folders))
        count = count_noun(len(hosts), "host")
        few = f"{where}: dumps of {count}, but a comparison needs two"
        return print_errors(errors or [few])
    modules = sorted(
        compare_hosts(compiles), key=lambda one: (*difference_first(one), -one.size, one.name)
    )
    print_answer(
        options.format, [hosts_content(hosts, modules)], lambda: hosts_json(hosts, modules)
    )
    status = print_errors(errors)
    return status or (_DIFFERENT_STATUS if any(one.differs for one in modules) else 0)


def _not_a_folder(path: Path) -> str:
    try:
        with open_readable(path):
            return f"{shown(path)}: not a folder"
    except UnreadableError as error:
        return str(error)


def _compiles(workers: WorkerPool, folders: Sequence[Path], errors: list[str]) -> list[HostCompile]:
    """Return the compiles below folders, those of a host in the order of the compiler.

    All files are hashed. Of equal module texts, only one has its fingerprint computed.
    """
    listings = FolderSnapshot()
    named = [path.resolve() for path in folders]
    files = {one.path: one for path in named for one in compiles_below(path, listings)}
    hosts = hosts_of({path.parent for path in files}, named)
    jobs = [_HashJob.of(one) for one in files.values()]
    work = Work(_HashJob.run, _HashJob.lost)
    hashed = run_jobs(workers, jobs, work, _HashJob.files)
    texts: dict[str, _FingerprintJob] = {}
    for job in jobs:
        errors += hashed[job].errors
        if job.text is not None and all(one.is_read for one in hashed[job].compiles):
            texts.setdefault(hashed[job].text_key, _FingerprintJob(job.text, job.size))
    unique = list(texts.values())
    fingerprint_work = Work(_FingerprintJob.run, _FingerprintJob.lost)
    read = run_jobs(workers, unique, fingerprint_work, lambda job: [job.path])
    errors += [error for job in texts.values() if (error := read[job].error) is not None]
    found = []
    for job in jobs:
        host, program = hosts[job.path.parent]
        for number, one in enumerate(hashed[job].compiles):
            text, is_read = one.fingerprint, one.is_read
            if job.text is not None and is_read:
                known = read[texts[hashed[job].text_key]]
                text, is_read = known.fingerprint, known.error is None
            dump = partial(_read, job, number, errors) if is_read else lambda: None
            found.append(HostCompile(host, program, one.module, text, one.memory, dump))
    return found


def _read(job: "_HashJob", number: int, errors: list[str]) -> Compile | None:
    return next(islice(compiles_at(job.path, job.names, errors), number, None), None)


@dataclass(frozen=True, slots=True)
class _HashedCompile:
    """The module of a compile, and hashes; the fingerprint only without a file of its text.

    ``is_read`` is false if a file cannot be read, so that nothing but the module is known.
    """

    module: str
    memory: str | None = None
    fingerprint: str | None = None
    is_read: bool = True


@dataclass(slots=True)
class _Hashed:
    """The compiles of a file, and a key that is equal for equal module texts."""

    text_key: str
    compiles: list[_HashedCompile] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _HashJob:
    """The files of a compile that are hashed; without a module name, one that is read.

    ``names`` are those of all files of the compile.
    """

    path: Path
    names: tuple[str, ...]
    size: int
    module: str | None
    text: Path | None = None
    memory: tuple[Path, ...] = ()

    @classmethod
    def of(cls, compile_: CompileFiles) -> "_HashJob":
        """Return the job of a compile."""
        path, names = compile_.path, compile_.names()
        name = DumpName.of(path.name)
        if name is None or name.module_name is None:  # such as a stdout dump
            return cls(path, names, file_size(path), None)
        memory = tuple(one for one in compile_.memory if suffix_of(one.name).role in _MEMORY_ROLES)
        size = file_size(compile_.module or path)
        return cls(path, names, size, name.module_name, compile_.module, memory)

    def files(self) -> list[Path]:
        """Return the files that are read."""
        if self.module is None:
            return [self.path]
        return [*self.memory, *([] if self.text is None else [self.text])]

    def run(self) -> _Hashed:
        """Return the hashes."""
        if self.module is None:
            return self._of_any_file()
        try:
            key = None if self.text is None else _digest([self.text])
            compile_ = _HashedCompile(self.module, _digest(self.memory))
        except UnreadableError as error:
            return self._unread(str(error))
        return _Hashed(key or str(self.path), [compile_])

    def lost(self, message: str) -> _Hashed:
        """Return the message about a job that no worker has finished."""
        return self._unread(message)

    def _unread(self, error: str) -> _Hashed:
        known = [] if self.module is None else [_HashedCompile(self.module, is_read=False)]
        return _Hashed(str(self.path), known, [error])

    def _of_any_file(self) -> _Hashed:
        found = _Hashed(str(self.path))
        for dump in compiles_at(self.path, self.names, found.errors):
            text, memory = dump.module_file, dump.allocations_file
            found.compiles.append(
                _HashedCompile(
                    dump.module_name,
                    None if memory is None else _digest_of_lines(memory.lines),
                    None if text is None else fingerprint(text.lines),
                )
            )
        return found


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    """The fingerprint of a module text, None if it is empty or cannot be read."""

    fingerprint: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _FingerprintJob:
    """A module text."""

    path: Path
    size: int

    def run(self) -> _Fingerprint:
        """Return the fingerprint."""
        try:
            lines = read_document(self.path).lines
        except UnreadableError as error:
            return _Fingerprint(error=str(error))
        return _Fingerprint(fingerprint(lines) if any(map(str.strip, lines)) else None)

    def lost(self, message: str) -> _Fingerprint:
        """Return the message about a job that no worker has finished."""
        return _Fingerprint(error=message)


def _digest(paths: Sequence[Path]) -> str | None:
    """Return a hash of the contents of files, None without files.

    Raises:
        UnreadableError: A file cannot be read.
    """
    found = hashlib.sha256()
    for path in paths:
        with open_readable(path) as file:
            while data := file.read(_READ_BYTES):
                checkpoint()
                found.update(data)
    return found.hexdigest() if paths else None


def _digest_of_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest()
