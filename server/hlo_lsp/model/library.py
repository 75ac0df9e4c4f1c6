"""Every file that is open or was read, and the sets they make."""

import os
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.stems import family, thunk_names_path
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.text.disk import UnreadableError, read_in_steps
from hlo_lsp.text.document import Document
from hlo_lsp.text.steps import Steps, finish


@dataclass(slots=True)
class _OnDisk:
    stamp: tuple[int, int]
    file: DumpFile


class Library:
    """Open files by URI, and files on disk by path, read again when they change there.

    An open file hides the one on disk.
    """

    def __init__(self) -> None:
        self.open_files: dict[str, DumpFile] = {}
        self._open_paths: dict[Path, DumpFile] = {}
        self._on_disk: dict[Path, _OnDisk] = {}
        self._sets: dict[tuple[int, ...], DumpSet] = {}
        self._families: dict[Path, list[Path]] = {}

    def open(self, uri: str, path: Path | None, document: Document) -> DumpFile:
        """Take in a file that an editor holds."""
        file = DumpFile(uri, path, document)
        self.open_files[uri] = file
        if path is not None:
            self._families.pop(path, None)
            self._open_paths[path] = file
            self._on_disk.pop(path, None)
        return file

    def close(self, uri: str) -> DumpFile | None:
        """Let go of a file that the editor closed; from now on the one on disk counts.

        Neighbours that no open file has any more are let go too.
        """
        file = self.open_files.pop(uri, None)
        if file is None:
            return None
        if file.path is not None:
            self._open_paths.pop(file.path, None)
        self._forget_sets([file])
        wanted = {member for path in self._open_paths for member in self.family(path)}
        self._on_disk = {path: kept for path, kept in self._on_disk.items() if path in wanted}
        self._families = {path: kept for path, kept in self._families.items() if path in wanted}
        used = {id(known.file) for known in self._on_disk.values()}
        used.update(map(id, self.open_files.values()))
        self._sets = {key: old for key, old in self._sets.items() if used.issuperset(key)}
        return file

    def family(self, path: Path) -> list[Path]:
        """The paths of a file's compile, itself first; looked up once while the file is open."""
        found = self._families.get(path)
        if found is None:
            names = thunk_names_path(path)
            found = self._families[path] = [*family(path), *([] if names is None else [names])]
        return found

    def stem(self, path: Path) -> str:
        """What the names of the files of a compile begin with."""
        return next(
            other.name.removesuffix("-live-range.txt")
            for other in self.family(path)
            if other.name.endswith("-live-range.txt")
        )

    def file(self, path: Path) -> DumpFile:
        """A file, open or on disk, read in one go.

        Raises:
            UnreadableError: there is no such text file.
        """
        known = self._open_paths.get(path)
        if known is None:
            known = finish(self._disk_file(path))
        finish(known.refresh())
        return known

    def set_of(self, file: DumpFile) -> Steps[DumpSet]:
        """All files of the compile that this one belongs to, up to date.

        The neighbours of a file that is no dump are not looked for.
        """
        yield from file.refresh()
        files = [file]
        thunk_names: DumpFile | None = None
        if file.path is not None and file.kind is not FileKind.OTHER:
            for path in self.family(file.path)[1:]:
                neighbour = yield from self._neighbour(path)
                if neighbour is not None and neighbour.kind is not FileKind.OTHER:
                    files.append(neighbour)
                elif neighbour is not None and path == thunk_names_path(file.path):
                    thunk_names = neighbour
        files.sort(key=_reading_order)
        key = tuple(map(id, files))
        found = self._sets.get(key)
        if found is None or found.thunk_names is not thunk_names:
            self._forget_sets(files)
            found = DumpSet(files, thunk_names)
            self._sets[key] = found
        return found

    def _forget_sets(self, files: list[DumpFile]) -> None:
        """Drop the sets that a file of the new one was in: a set holds its files in memory."""
        new = set(map(id, files))
        self._sets = {key: old for key, old in self._sets.items() if new.isdisjoint(key)}

    def _neighbour(self, path: Path) -> Steps[DumpFile | None]:
        file = self._open_paths.get(path)
        if file is None:
            try:
                file = yield from self._disk_file(path)
            except UnreadableError:
                return None
        yield from file.refresh()
        return file

    def _disk_file(self, path: Path) -> Steps[DumpFile]:
        try:
            status = os.stat(path)
        except OSError as error:
            self._on_disk.pop(path, None)
            raise UnreadableError(f"{path}: {error.strerror}") from error
        stamp = status.st_mtime_ns, status.st_size
        known = self._on_disk.get(path)
        if known is None or known.stamp != stamp:
            document = yield from read_in_steps(path)
            file = DumpFile(path.absolute().as_uri(), path, document)
            known = self._on_disk[path] = _OnDisk(stamp, file)
        return known.file


def _reading_order(file: DumpFile) -> tuple[int, str]:
    """A fact that two files hold is taken from the one that was made for it."""
    return list(FileKind).index(file.kind), file.uri
