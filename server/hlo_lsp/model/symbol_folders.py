"""The names in all dumps of some folders, read again when a file changes."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.model.symbol_reading import has_names, read_text, repeats_names
from hlo_lsp.model.symbol_search import FileSymbols
from hlo_lsp.syntax.file_kinds import FileKind, sniff
from hlo_lsp.text.checkpoint import checkpoint
from hlo_lsp.text.disk import UnreadableError, read
from hlo_lsp.text.document import Document

_HEAD = 1 << 14  # bytes that tell the kind of a file
_STEP = 200  # files whose state is asked for between two breaths: about 2 ms
_ENDINGS = frozenset({"", ".txt", ".hlo"})  # other texts of a dump have endings of their own


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to search, with all folders in it or without; hidden ones are left out."""

    path: Path
    is_deep: bool


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is new, or not as it was. ``stamp`` is time of change (ns) and size (bytes)."""

    path: Path
    title: str
    stamp: tuple[int, int]


class SymbolFolders:
    """What was read so far: names by path, none of them with its text."""

    def __init__(self) -> None:
        self.files: dict[Path, list[FileSymbols]] = {}
        self._stamps: dict[Path, tuple[int, int]] = {}

    def look(self, folders: Iterable[Folder]) -> list[Unread]:
        """Which files of the folders are to be read; what is gone from there is forgotten."""
        unread: dict[Path, Unread] = {}
        seen: set[Path] = set()
        for folder in folders:
            for name, inner, names in os.walk(folder.path):
                inner[:] = sorted(i for i in inner if folder.is_deep and i[0] != ".")
                for count, path in enumerate(_with_names(Path(name), names)):
                    stamp = _stamp(path)
                    if stamp is not None and path not in seen:
                        seen.add(path)
                        if self._stamps.get(path) != stamp:
                            title = path.relative_to(folder.path).as_posix()
                            unread[path] = Unread(path, title, stamp)
                    if count % _STEP == _STEP - 1:
                        checkpoint()
                checkpoint()
        for path in self._stamps.keys() - seen:
            del self._stamps[path]
            self.files.pop(path, None)
        return list(unread.values())

    def read(self, unread: Unread) -> None:
        """Read the names of a file, if it is one that has any."""
        path = unread.path
        self.files.pop(path, None)
        if has_names(_kind(path)):
            try:
                document = read(path)
            except UnreadableError:
                return
            uri = path.absolute().as_uri()
            self.files[path] = read_text(uri, unread.title, document.lines)
        self._stamps[path] = unread.stamp


def _with_names(folder: Path, names: list[str]) -> Iterable[Path]:
    """The files that may be dumps with names."""
    there = set(names)
    for name in sorted(names):
        if os.path.splitext(name)[1] in _ENDINGS and not repeats_names(name, there):
            yield folder / name


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def _kind(path: Path) -> FileKind:
    """The kind of a file by its first bytes; OTHER for what cannot be read or is no text."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return FileKind.OTHER
    if b"\0" in head:
        return FileKind.OTHER
    return sniff(Document(head.decode("utf-8", "replace")).lines)
