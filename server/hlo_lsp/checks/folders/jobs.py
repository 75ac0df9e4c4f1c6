"""The plan of a check run: the files below the given paths, grouped by compile."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hlo_lsp.checks.catalogue import Selection
from hlo_lsp.checks.config.config_file import (
    ConfigError,
    ConfigFile,
    find_config_file,
    read_config_file,
)
from hlo_lsp.checks.config.options import CheckOptions
from hlo_lsp.model.compiles import Compile, FolderListing
from hlo_lsp.text.checkpoint import checkpoint

_Stamp = tuple[str, int, int]


@dataclass(frozen=True)
class CheckJob:
    """Files of one compile that are checked together.

    Equal jobs have equal results: ``stamps`` are the names, modification times (ns), and sizes
    (bytes) of all files of the compile. ``named`` are the ``files`` that the user named.
    """

    files: tuple[Path, ...]
    named: frozenset[Path]
    stamps: tuple[_Stamp, ...]
    selection: Selection

    @cached_property
    def size(self) -> int:
        """The total size of the files of the compile, in bytes."""
        return sum(size for _, _, size in self.stamps)


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a check run.

    ``files`` are in the order of the paths and of names below them. ``errors`` are those of the
    config files that apply. ``closed`` are unreadable folders, each with the reason:
    ``dumps/private: Permission denied``.
    """

    jobs: list[CheckJob]
    files: list[Path]
    errors: list[ConfigError]
    closed: dict[Path, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Group:
    compile_files: tuple[Path, ...]
    files: list[Path] = field(default_factory=list)
    named: set[Path] = field(default_factory=set)


def plan(paths: Sequence[Path], overrides: CheckOptions) -> Plan:
    """Return the jobs for files and for everything below folders.

    The ``hlo-lsp.toml`` of a folder applies to its files, and ``overrides`` take precedence over
    it. A file that several paths lead to is checked once.
    """
    groups: dict[tuple[str, str], _Group] = {}
    listings: dict[str, FolderListing] = {}
    seen: dict[str, Path] = {}
    closed: dict[Path, str] = {}
    for path in paths:
        files = sorted(_below(path, closed)) if os.path.isdir(path) else [path]
        for file in files:
            absolute = os.path.abspath(file)
            if absolute in seen:
                continue
            seen[absolute] = file
            folder = os.path.dirname(absolute)
            if folder not in listings:
                listings[folder] = _listing(file.parent)
            group = _group(groups, folder, file, listings[folder])
            group.files.append(file)
            if file is path:
                group.named.add(file)
    configs = _ConfigFiles(overrides)
    jobs = [configs.job(Path(folder), group) for (folder, _), group in groups.items()]
    return Plan(jobs, list(seen.values()), configs.errors, closed)


def _below(top: Path, closed: dict[Path, str]) -> Iterator[Path]:
    """Yield the files below a folder. Links to folders are not followed: they may form cycles."""

    def record_error(error: OSError) -> None:
        folder = Path(error.filename)
        closed[folder] = f"{folder}: {error.strerror}"

    for folder, _, names in os.walk(top, onerror=record_error):
        paths = (Path(folder, name) for name in names)
        yield from (path for path in paths if os.path.isfile(path))


def _group(
    groups: dict[tuple[str, str], _Group], folder: str, file: Path, listing: FolderListing
) -> _Group:
    if file.name not in listing:  # the file does not exist, which reading it reports
        return groups.setdefault((folder, file.name), _Group(()))
    compile_ = listing.compile(file.name)
    return groups.setdefault((folder, compile_.stem), _Group(compile_.files))


def _listing(folder: Path) -> FolderListing:
    try:
        return FolderListing(folder, sorted(os.listdir(folder)))
    except OSError:
        return FolderListing(folder, [])


class _ConfigFiles:
    """The config files of folders, each read once."""

    def __init__(self, overrides: CheckOptions) -> None:
        self._overrides = overrides
        self._of_folder: dict[Path, Selection] = {}
        self._files: dict[Path, ConfigFile] = {}

    @property
    def errors(self) -> list[ConfigError]:
        return [error for file in self._files.values() for error in file.errors]

    def job(self, folder: Path, group: _Group) -> CheckJob:
        if folder not in self._of_folder:
            self._of_folder[folder] = self._selection(folder)
        stamps = tuple(_stamps(group.compile_files))
        files = tuple(group.files)
        return CheckJob(files, frozenset(group.named), stamps, self._of_folder[folder])

    def _selection(self, folder: Path) -> Selection:
        path = find_config_file(folder)
        if path is None:
            return Selection.of([self._overrides])
        if path not in self._files:
            self._files[path] = read_config_file(path)
        return Selection.of([self._files[path].options, self._overrides])


def _stamps(files: Iterable[Path]) -> Iterable[_Stamp]:
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        yield file.name, status.st_mtime_ns, status.st_size


_FILES_PER_CHECKPOINT = 100  # about 2 ms
_ENDINGS = frozenset({".txt", ".hlo"})


def jobs_below(
    folders: Iterable[Path], selection_of: Callable[[Path], Selection]
) -> list[CheckJob]:
    """Return a job for each compile in folders and their subfolders, without hidden ones.

    ``selection_of`` returns the selection of rules for a folder.
    """
    jobs: list[CheckJob] = []
    seen: set[Path] = set()
    for top in folders:
        for name, inner, names in os.walk(top):
            inner[:] = sorted(below for below in inner if not below.startswith("."))
            folder = Path(name)
            wanted = [each for each in sorted(names) if os.path.splitext(each)[1] in _ENDINGS]
            if wanted and folder not in seen:
                seen.add(folder)
                listing = FolderListing(folder, sorted(names))
                jobs += _jobs_in(folder, wanted, listing, selection_of(folder))
            checkpoint()
    return jobs


def _jobs_in(
    folder: Path, names: list[str], listing: FolderListing, selection: Selection
) -> list[CheckJob]:
    compiles: dict[str, tuple[Compile, list[Path]]] = {}
    stamps: dict[Path, _Stamp] = {}
    for count, name in enumerate(names):
        path = folder / name
        stamp = _stamp(path)
        if stamp is not None:
            stamps[path] = stamp
            compile_ = listing.compile(name)
            compiles.setdefault(compile_.stem, (compile_, []))[1].append(path)
        if count % _FILES_PER_CHECKPOINT == _FILES_PER_CHECKPOINT - 1:
            checkpoint()
    jobs = []
    for compile_, files in compiles.values():
        of_compile = {**dict.fromkeys(compile_.files), **dict.fromkeys(files)}
        known = tuple(stamps[path] for path in of_compile if path in stamps)
        jobs.append(CheckJob(tuple(files), frozenset(), known, selection))
    return jobs


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return path.name, status.st_mtime_ns, status.st_size
