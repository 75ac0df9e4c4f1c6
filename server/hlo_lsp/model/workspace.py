"""Every file that is open or was read, and the sets they make."""

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.model.compiles import Compile, FolderCache, compile_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.dump_set_cache import DumpSetCache
from hlo_lsp.model.stdout_dump import SectionFile, StdoutDump
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.checkpoint import Cancelled, Job, checkpoint
from hlo_lsp.text.disk import UnreadableError, read_document, read_document_until
from hlo_lsp.text.document import Document, LineChange

_BYTES_PER_STEP = 1 << 20  # bytes; about what is read, or scanned, between two steps of the work
_LARGE_FILE_BYTES = 8 << 20  # bytes; half a second of reading
_LARGE_COMPANION_BYTES = 1 << 20  # bytes; a tenth of a second


@dataclass(slots=True)
class _CachedFile:
    stamp: tuple[int, int]
    file: DumpFile


class DumpWorkspace:
    """Open files by URI, and files on disk by path, read again when they change there.

    An open file hides the one on disk.
    """

    def __init__(self) -> None:
        self.open_files: dict[str, DumpFile] = {}
        self._open_paths: dict[Path, DumpFile] = {}
        self._on_disk: dict[Path, _CachedFile] = {}
        self._heads: dict[Path, _CachedFile] = {}
        self._bundles: dict[str, StdoutDump] = {}
        self._families = DumpSetCache()
        self._folders = FolderCache()

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
        file.close()
        if file.path is not None:
            self._open_paths.pop(file.path, None)
        self._families.forget([file])
        compiles = [self.compile(path) for path in self._open_paths]
        wanted = {path for one in compiles for path in (*one.files_read_together(), *one.comparison_texts())}
        wanted.update(one.thunk_metadata for one in compiles if one.thunk_metadata)
        for kept in (self._on_disk, self._heads):
            for path in [path for path in kept if path not in wanted]:
                del kept[path]
        on_disk = (known.file for known in (*self._on_disk.values(), *self._heads.values()))
        kept_files = [*on_disk, *self.open_files.values()]
        self._families.keep(kept_files)
        self._bundles = {one.whole.uri: one for one in self._bundles.values()
                         if one.whole in kept_files}  # fmt: skip
        return file

    def reload(self) -> None:
        """Forget the files on disk, and what is known of the texts of open ones."""
        self._on_disk.clear()
        self._heads.clear()
        self._bundles.clear()
        self._families = DumpSetCache()
        self._folders = FolderCache()
        for file in self.open_files.values():
            count = len(file.lines)
            file.changed(LineChange(0, count, count))

    def stdout_dump(self, file: DumpFile) -> StdoutDump:
        """An open file, or one on disk, taken apart into the files that its text holds."""
        found = self._bundles.get(file.uri)
        if found is None or found.whole is not file:
            found = self._bundles[file.uri] = StdoutDump(file)
        return found

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
        return self.known_file(path)

    def known_file(self, path: Path) -> DumpFile:
        """A file, open or on disk, read unless it was read before.

        Raises:
            UnreadableError: there is no such text file.
        """
        known = self._open_paths.get(path)
        if known is None:
            known = self._disk_file(path)
        known.refresh()
        return known

    def is_unread(self, path: Path) -> bool:
        """Whether a file is neither open nor read as it is on disk now."""
        known = self._on_disk.get(path)
        return path not in self._open_paths and (known is None or known.stamp != _file_stamp(path))

    def parts(self, file: DumpFile) -> Sequence[DumpFile]:
        """The files in the text of a file, read in one go: it alone, unless it is a bundle."""
        return self.known_parts(file)

    def known_parts(self, file: DumpFile) -> Sequence[DumpFile]:
        """The same, in steps."""
        if file.kind is not FileKind.STDOUT_DUMP:
            return [file]
        bundle = self.stdout_dump(file)
        bundle.refresh()
        for part in bundle.sections:
            part.refresh()
        return bundle.sections

    def set_of(self, file: DumpFile, *, patient: bool = True) -> DumpSet:
        """All files of the compile that this one belongs to, up to date.

        Without patience large ones are left out that nobody has read yet (for a module text, which
        says most by itself, those that are not small); of the module of other files then only the
        tables of source locations are there. The neighbours of a file that is no dump
        are not looked for.
        """
        if isinstance(file, SectionFile):
            return file.set_of()
        file.refresh()
        compile_ = None
        if file.path is not None and file.kind.has_records:
            compile_ = self.compile(file.path)
        return self._families.set_of(file, compile_, self._neighbour, patient=patient)

    def unread_companions(self, file: DumpFile) -> list[Path]:
        """The large files of the compile of this one that nobody has read yet, small ones first."""
        if file.path is None or not file.kind.has_records or isinstance(file, SectionFile):
            return []
        compile_ = self.compile(file.path)
        paths = (*compile_.files_read_together(), *compile_.comparison_texts())
        found = [path for path in paths if self._is_unread(path, compile_)]
        return sorted(found, key=lambda path: (_file_stamp(path) or (0, 0))[1])

    def texts(self, file: DumpFile) -> frozenset[Path]:
        """The module texts of the compile that the memory files speak of."""
        if file.path is None or isinstance(file, SectionFile):
            return frozenset()
        module = self.compile(file.path).module
        return frozenset() if module is None else frozenset({module})

    def read(self, path: Path, report: Callable[[int], None]) -> None:
        """Read a file of a compile, however large it is. One that cannot be read is passed over.

        ``report`` is told how far it is, in percent.
        """
        size = max(1, (_file_stamp(path) or (0, 0))[1])
        job = Job(lambda: self._disk_file(path))
        try:
            for count in itertools.count():
                if job.step(0):
                    return
                report(min(99, 100 * count * _BYTES_PER_STEP // size))
                checkpoint()
        except UnreadableError:
            return
        finally:
            job.cancel()

    def _neighbour(self, path: Path, compile_: Compile, *, patient: bool) -> DumpFile | None:
        file = self._open_paths.get(path)
        if file is None:
            try:
                if not patient and self._is_unread(path, compile_):
                    if path not in compile_.texts or path != compile_.module:
                        return None
                    file = self._head(path)
                else:
                    file = self._disk_file(path)
            except UnreadableError:
                return None
        file.refresh()
        return file

    def _is_unread(self, path: Path, compile_: Compile) -> bool:
        if path in self._open_paths:
            return False
        stamp = _file_stamp(path)
        known = self._on_disk.get(path)
        large = _LARGE_COMPANION_BYTES if compile_.path in compile_.texts else _LARGE_FILE_BYTES
        return stamp is not None and stamp[1] > large and (known is None or known.stamp != stamp)

    def _disk_file(self, path: Path) -> DumpFile:
        stamp = _file_stamp(path)
        known = self._on_disk.get(path)
        if known is None or known.stamp != stamp:
            self._on_disk.pop(path, None)
            document = read_document(path)
            file = DumpFile(path.absolute().as_uri(), path, document)
            try:
                file.refresh()
            except Cancelled:  # no other caller can finish what was begun here
                file.close()
                raise
            known = self._on_disk[path] = _CachedFile(stamp or (0, 0), file)
            self._heads.pop(path, None)
        return known.file

    def _head(self, path: Path) -> DumpFile:
        """The lines of a module text in front of its computations."""
        stamp = _file_stamp(path) or (0, 0)
        known = self._heads.get(path)
        if known is None or known.stamp != stamp:
            document = read_document_until(path, _begins_computation)
            file = DumpFile(path.absolute().as_uri(), path, document)
            known = self._heads[path] = _CachedFile(stamp, file)
        return known.file


def _file_stamp(path: Path) -> tuple[int, int] | None:
    """When a file was changed (ns), and its size in bytes."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _begins_computation(line: str) -> bool:
    return line.endswith(" {") and not line.startswith(" ")
