"""The symbols of all dumps in some folders, reread when a file changes."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.model.symbol_reading import has_names, read_symbols, repeats_names
from hlo_lsp.model.symbol_search import FileSymbols
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.checkpoint import checkpoint
from hlo_lsp.text.disk import UnreadableError, read_document
from hlo_lsp.text.document import Document

_DETECTION_BYTES = 1 << 14  # enough to detect the kind of a file
_FILES_PER_CHECKPOINT = 200  # about 2 ms
_EXTENSIONS = frozenset({"", ".txt", ".hlo"})


@dataclass(frozen=True, slots=True)
class SearchFolder:
    """A folder to search, optionally with its subfolders except hidden ones."""

    path: Path
    is_recursive: bool


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A new or changed file; ``stamp`` is its modification time (ns) and size (bytes)."""

    path: Path
    title: str
    stamp: tuple[int, int]


class SymbolFolders:
    """The symbols of the files that were read, by path, without the texts."""

    def __init__(self) -> None:
        self.files: dict[Path, list[FileSymbols]] = {}
        self._stamps: dict[Path, tuple[int, int]] = {}

    def scan(self, folders: Iterable[SearchFolder]) -> list[UnreadFile]:
        """Return the new and changed files of the folders, and forget the files that are gone."""
        unread: dict[Path, UnreadFile] = {}
        seen: set[Path] = set()
        for folder in folders:
            for name, inner, names in os.walk(folder.path):
                inner[:] = sorted(i for i in inner if folder.is_recursive and i[0] != ".")
                for count, path in enumerate(_candidate_paths(Path(name), names)):
                    stamp = _file_stamp(path)
                    if stamp is not None and path not in seen:
                        seen.add(path)
                        if self._stamps.get(path) != stamp:
                            title = path.relative_to(folder.path).as_posix()
                            unread[path] = UnreadFile(path, title, stamp)
                    if count % _FILES_PER_CHECKPOINT == _FILES_PER_CHECKPOINT - 1:
                        checkpoint()
                checkpoint()
        for path in self._stamps.keys() - seen:
            del self._stamps[path]
            self.files.pop(path, None)
        return list(unread.values())

    def read(self, unread: UnreadFile) -> None:
        """Read the symbols of a file, if its kind has any."""
        path = unread.path
        self.files.pop(path, None)
        if has_names(_detect_kind(path)):
            try:
                document = read_document(path)
            except UnreadableError:
                return
            uri = path.absolute().as_uri()
            self.files[path] = read_symbols(uri, unread.title, document.lines)
        self._stamps[path] = unread.stamp


def _candidate_paths(folder: Path, names: list[str]) -> Iterable[Path]:
    """Yield the files that may be dumps with symbols."""
    there = set(names)
    for name in sorted(names):
        if os.path.splitext(name)[1] in _EXTENSIONS and not repeats_names(name, there):
            yield folder / name


def _file_stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def _detect_kind(path: Path) -> FileKind:
    """Return the kind of a file by its first bytes, OTHER if it is not readable text."""
    try:
        with path.open("rb") as file:
            head = file.read(_DETECTION_BYTES)
    except OSError:
        return FileKind.OTHER
    if b"\0" in head:
        return FileKind.OTHER
    return detect_file_kind(Document(head.decode("utf-8", "replace")).lines)
