"""Every file that is open or was read, and the sets they make."""

import itertools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.model.compiles import Compile, compile_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.folders import Folders
from hlo_lsp.model.naming import DumpName
from hlo_lsp.model.suffixes import Role
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.text.disk import UnreadableError, read_head, read_in_steps
from hlo_lsp.text.document import Document
from hlo_lsp.text.steps import Steps, finish

_KINDS = list(FileKind)
_STEP = 3 << 20  # bytes; about what is read, or scanned, between two steps of the work
_LARGE = 8 << 20  # bytes; half a second of reading


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
        self._heads: dict[Path, _OnDisk] = {}
        self._sets: dict[tuple[int, ...], DumpSet] = {}
        self._folders = Folders()

    def open(self, uri: str, path: Path | None, document: Document) -> DumpFile:
        """Take in a file that an editor holds."""
        file = DumpFile(uri, path, document)
        self.open_files[uri] = file
        if path is not None:
            self._open_paths[path] = file
            self._on_disk.pop(path, None)
            self._heads.pop(path, None)
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
        compiles = [self.compile(path) for path in self._open_paths]
        wanted = {path for one in compiles for path in (*one.family(), *_others(one))}
        wanted.update(one.thunk_metadata for one in compiles if one.thunk_metadata)
        for kept in (self._on_disk, self._heads):
            for path in [path for path in kept if path not in wanted]:
                del kept[path]
        used = {id(known.file) for known in (*self._on_disk.values(), *self._heads.values())}
        used.update(map(id, self.open_files.values()))
        self._sets = {key: old for key, old in self._sets.items() if used.issuperset(key)}
        return file

    def compile(self, path: Path) -> Compile:
        """The files of a file's compile, those that only an editor holds among them."""
        listing = self._folders.listing(path.parent)
        unsaved = {other.name for other in self._open_paths if other.parent == path.parent}
        if path.name in listing and all(name in listing for name in unsaved):
            return listing.compile(path.name)
        return compile_of(path, {*listing.names(), *unsaved})

    def stem(self, path: Path) -> str:
        """What the names of the memory files of a compile begin with."""
        return self.compile(path).stem

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

    def set_of(self, file: DumpFile, *, patient: bool = True) -> Steps[DumpSet]:
        """All files of the compile that this one belongs to, up to date.

        Without patience large ones are left out that nobody has read yet; of a module text then
        only the tables of source locations are there. The neighbours of a file that is no dump
        are not looked for.
        """
        yield from file.refresh()
        files = [file]
        others: list[DumpFile] = []
        thunk_names: DumpFile | None = None
        if file.path is not None and file.kind is not FileKind.OTHER:
            compile_ = self.compile(file.path)
            for path in compile_.family()[1:]:
                neighbour = yield from self._neighbour(path, compile_, patient=patient)
                if neighbour is not None and neighbour.kind is not FileKind.OTHER:
                    files.append(neighbour)
            for path in _others(compile_):
                neighbour = yield from self._neighbour(path, compile_, patient=patient)
                if neighbour is not None and neighbour.kind is FileKind.MODULE:
                    others.append(neighbour)
            if file.kind is FileKind.THUNKS and compile_.thunk_metadata is not None:
                thunk_names = yield from self._neighbour(
                    compile_.thunk_metadata, compile_, patient=True
                )
        # A fact that two files hold is taken from the one that was made for it.
        files.sort(key=lambda one: (_KINDS.index(one.kind), one is not file))
        return self._set(files, others, thunk_names)

    def unread(self, file: DumpFile) -> list[Path]:
        """The large files of the compile of this one that nobody has read yet."""
        if file.path is None or file.kind is FileKind.OTHER:
            return []
        compile_ = self.compile(file.path)
        paths = (*compile_.family(), *_others(compile_))
        return [path for path in paths if self._is_unread(path)]

    def texts(self, file: DumpFile) -> frozenset[Path]:
        """The module texts of the compile that the memory files speak of."""
        module = None if file.path is None else self.compile(file.path).module
        return frozenset() if module is None else frozenset({module})

    def read(self, path: Path, report: Callable[[int], None]) -> Steps[None]:
        """Read a file of a compile, however large it is. One that cannot be read is passed over.

        ``report`` is told how far it is, in percent.
        """
        steps = self._disk_file(path)
        size = max(1, (_stamp(path) or (0, 0))[1])
        for count in itertools.count():
            try:
                next(steps)
            except (StopIteration, UnreadableError):
                return
            report(min(99, 100 * count * _STEP // size))
            yield

    def _set(
        self, files: list[DumpFile], others: list[DumpFile], thunk_names: DumpFile | None
    ) -> DumpSet:
        extra = [*others, *([] if thunk_names is None else [thunk_names])]
        key = tuple(map(id, (*files, *extra)))
        found = self._sets.get(key)
        if found is None or found.files != files:
            self._forget_sets(files)
            found = self._sets[key] = DumpSet(files, thunk_names, others)
        return found

    def _forget_sets(self, files: Iterable[DumpFile]) -> None:
        """Drop the sets that a file of the new one was in: a set holds its files in memory."""
        new = set(map(id, files))
        self._sets = {
            key: old for key, old in self._sets.items() if new.isdisjoint(map(id, old.files))
        }

    def _neighbour(self, path: Path, compile_: Compile, *, patient: bool) -> Steps[DumpFile | None]:
        file = self._open_paths.get(path)
        if file is None:
            try:
                if not patient and self._is_unread(path):
                    if path not in compile_.texts or path != compile_.module:
                        return None
                    file = self._head(path)
                else:
                    file = yield from self._disk_file(path)
            except UnreadableError:
                return None
        yield from file.refresh()
        return file

    def _is_unread(self, path: Path) -> bool:
        if path in self._open_paths:
            return False
        stamp = _stamp(path)
        known = self._on_disk.get(path)
        return stamp is not None and stamp[1] > _LARGE and (known is None or known.stamp != stamp)

    def _disk_file(self, path: Path) -> Steps[DumpFile]:
        stamp = _stamp(path)
        known = self._on_disk.get(path)
        if known is None or known.stamp != stamp:
            self._on_disk.pop(path, None)
            document = yield from read_in_steps(path)
            file = DumpFile(path.absolute().as_uri(), path, document)
            if stamp is not None and stamp[1] > _LARGE:
                yield from file.refresh()  # nobody sees it before it is of use
            known = self._on_disk[path] = _OnDisk(stamp or (0, 0), file)
            self._heads.pop(path, None)
        return known.file

    def _head(self, path: Path) -> DumpFile:
        """The lines of a module text in front of its computations."""
        stamp = _stamp(path) or (0, 0)
        known = self._heads.get(path)
        if known is None or known.stamp != stamp:
            document = read_head(path, _begins_computation)
            file = DumpFile(path.absolute().as_uri(), path, document)
            known = self._heads[path] = _OnDisk(stamp, file)
        return known.file


def _others(compile_: Compile) -> list[Path]:
    """The module texts to compare a module text with: from before and after all passes.

    Of a text from between two passes also its two neighbours.
    """
    if compile_.path not in compile_.texts:
        return []
    found = [path for path in compile_.texts if _role(path) is Role.BEFORE_OPTIMIZATIONS]
    if _role(compile_.path) is Role.PASS:
        found += [path for path in (compile_.text_before(), compile_.text_after()) if path]
    found += [path for path in compile_.texts if _role(path) is Role.AFTER_OPTIMIZATIONS]
    return [path for path in dict.fromkeys(found) if path != compile_.path]


def _role(path: Path) -> Role | None:
    name = DumpName.of(path.name)
    return None if name is None else name.role


def _stamp(path: Path) -> tuple[int, int] | None:
    """When a file was changed (ns), and its size in bytes."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _begins_computation(line: str) -> bool:
    return line.endswith(" {") and not line.startswith(" ")
