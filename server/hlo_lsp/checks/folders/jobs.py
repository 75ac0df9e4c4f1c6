"""The jobs of a check run: the files below given paths or workspace folders, by compile."""

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
from hlo_lsp.model.compiles import FolderListing
from hlo_lsp.text.checkpoint import checkpoint

_ENDINGS = frozenset({".txt", ".hlo"})
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


def plan(paths: Sequence[Path], overrides: CheckOptions) -> Plan:
    """Return the jobs for files and for everything below folders.

    The ``hlo-lsp.toml`` of a folder applies to its files, and ``overrides`` take precedence over
    it. A file that several paths lead to is checked once.
    """
    seen: dict[str, Path] = {}
    named: set[Path] = set()
    folders: dict[Path, list[Path]] = {}
    closed: dict[Path, str] = {}
    for path in paths:
        for file in sorted(_below(path, closed)) if os.path.isdir(path) else [path]:
            absolute = os.path.abspath(file)
            if absolute not in seen:
                seen[absolute] = file
                folders.setdefault(Path(absolute).parent, []).append(file)
                if file is path:
                    named.add(file)
    configs: dict[Path, ConfigFile] = {}
    jobs: list[CheckJob] = []
    for folder, files in folders.items():
        options, config = [overrides], find_config_file(folder)
        if config is not None:
            if config not in configs:
                configs[config] = read_config_file(config)
            options.insert(0, configs[config].options)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            names = []
        listing = FolderListing(files[0].parent, names)
        jobs += _jobs_in(files, listing, Selection.of(options), named)
    errors = [error for config in configs.values() for error in config.errors]
    return Plan(jobs, list(seen.values()), errors, closed)


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
            wanted = [folder / each for each in sorted(names) if _has_usual_ending(each)]
            files = [file for file in wanted if os.path.isfile(file)]
            if files and folder not in seen:
                seen.add(folder)
                listing = FolderListing(folder, sorted(names))
                jobs += _jobs_in(files, listing, selection_of(folder), set())
            checkpoint()
    return jobs


def _has_usual_ending(name: str) -> bool:
    return os.path.splitext(name)[1] in _ENDINGS


def _below(top: Path, closed: dict[Path, str]) -> Iterator[Path]:
    """Yield the files below a folder. Links to folders are not followed: they may form cycles."""

    def record_error(error: OSError) -> None:
        folder = Path(error.filename)
        closed[folder] = f"{folder}: {error.strerror}"

    for folder, _, names in os.walk(top, onerror=record_error):
        paths = (Path(folder, name) for name in names)
        yield from (path for path in paths if os.path.isfile(path))


def _jobs_in(
    files: Iterable[Path], listing: FolderListing, selection: Selection, named: set[Path]
) -> Iterator[CheckJob]:
    groups: dict[str, tuple[tuple[Path, ...], list[Path]]] = {}
    for file in files:
        checkpoint()
        stem: str = file.name
        compile_files: tuple[Path, ...] = (file,)
        if file.name in listing:  # else it does not exist, which reading it reports
            compile_ = listing.compile(file.name)
            stem, compile_files = compile_.stem, compile_.files
        groups.setdefault(stem, (compile_files, []))[1].append(file)
    for compile_files, group in groups.values():
        stamps = tuple(filter(None, map(_stamp, dict.fromkeys((*compile_files, *group)))))
        yield CheckJob(tuple(group), frozenset(named.intersection(group)), stamps, selection)


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    is_file = stat.S_ISREG(status.st_mode)
    return (path.name, status.st_mtime_ns, status.st_size) if is_file else None
