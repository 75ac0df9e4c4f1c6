"""What there is to look at below the paths of a user, one compile after the other."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hlo_lsp.checks.config.config_file import (
    ConfigError,
    ConfigFile,
    find_config_file,
    read_config_file,
)
from hlo_lsp.checks.config.options import CheckOptions
from hlo_lsp.checks.config.selection import Selection
from hlo_lsp.model.compiles import FolderListing

_Stamp = tuple[str, int, int]


@dataclass(frozen=True)
class Job:
    """Files of one compile that are to be looked at together.

    Equal jobs find the same: ``stamps`` are names, times of change (ns), and sizes (bytes) of all
    files of the compile. ``named`` are those of ``files`` that the user named himself.
    """

    files: tuple[Path, ...]
    named: frozenset[Path]
    stamps: tuple[_Stamp, ...]
    selection: Selection

    @cached_property
    def size(self) -> int:
        """How much there is to read, in bytes."""
        return sum(size for _, _, size in self.stamps)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done. ``files`` are in the order of the paths and of names below them.

    ``errors`` are those in settings files that count for some of the files, ``closed`` folders that
    cannot be looked into, each with the reason: ``dumps/private: Permission denied``.
    """

    jobs: list[Job]
    files: list[Path]
    errors: list[ConfigError]
    closed: dict[Path, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Group:
    compile_files: tuple[Path, ...]
    files: list[Path] = field(default_factory=list)
    named: set[Path] = field(default_factory=set)


def plan(paths: Sequence[Path], wishes: CheckOptions) -> Plan:
    """What is to be done for files, and for everything below folders.

    Whatever is said for a folder in ``hlo-lsp.toml`` counts there; ``wishes`` have the last word.
    A file that two paths lead to is looked at once.
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
    settings = _Settings(wishes)
    jobs = [settings.job(Path(folder), group) for (folder, _), group in groups.items()]
    return Plan(jobs, list(seen.values()), settings.errors, closed)


def _below(top: Path, closed: dict[Path, str]) -> Iterator[Path]:
    """The files below a folder; links to folders are not followed, they may lead back to it."""

    def complain(error: OSError) -> None:
        folder = Path(error.filename)
        closed[folder] = f"{folder}: {error.strerror}"

    for folder, _, names in os.walk(top, onerror=complain):
        paths = (Path(folder, name) for name in names)
        yield from (path for path in paths if os.path.isfile(path))


def _group(
    groups: dict[tuple[str, str], _Group], folder: str, file: Path, listing: FolderListing
) -> _Group:
    if file.name not in listing:  # it is not there: reading it will say so
        return groups.setdefault((folder, file.name), _Group(()))
    compile_ = listing.compile(file.name)
    return groups.setdefault((folder, compile_.stem), _Group(compile_.files))


def _listing(folder: Path) -> FolderListing:
    try:
        return FolderListing(folder, sorted(os.listdir(folder)))
    except OSError:
        return FolderListing(folder, [])


class _Settings:
    """The settings files of folders, each read once."""

    def __init__(self, wishes: CheckOptions) -> None:
        self._wishes = wishes
        self._of_folder: dict[Path, Selection] = {}
        self._files: dict[Path, ConfigFile] = {}

    @property
    def errors(self) -> list[ConfigError]:
        return [error for file in self._files.values() for error in file.errors]

    def job(self, folder: Path, group: _Group) -> Job:
        if folder not in self._of_folder:
            self._of_folder[folder] = self._selection(folder)
        stamps = tuple(_stamps(group.compile_files))
        files = tuple(group.files)
        return Job(files, frozenset(group.named), stamps, self._of_folder[folder])

    def _selection(self, folder: Path) -> Selection:
        path = find_config_file(folder)
        if path is None:
            return Selection.of([self._wishes])
        if path not in self._files:
            self._files[path] = read_config_file(path)
        return Selection.of([self._files[path].options, self._wishes])


def _stamps(files: Iterable[Path]) -> Iterable[_Stamp]:
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        yield file.name, status.st_mtime_ns, status.st_size
