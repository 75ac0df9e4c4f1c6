"""The workspace: open files, files read from disk, and the compiles that they form."""

import itertools
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.background_jobs import Cancelled, Job, checkpoint
from hlo_lsp.model.compile import Compile, CompileCache
from hlo_lsp.model.compile_files import CompileFiles, FolderCache, FolderListing, Folders
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.source import PROGRAM_FRAMES, FrameChoice
from hlo_lsp.model.stdout_dump import SectionFile, StdoutDump
from hlo_lsp.protos.reading import read_document
from hlo_lsp.syntax.embedded_hlo import HostLanguage, embedded_sections, language_of_path
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import UnreadableError, file_size, file_stamp, read_document_until
from hlo_lsp.text.document import Document, LineChange

# Files without sizes, live ranges, and origins. The values file is by far the largest of a compile.
ROLES_WITHOUT_SIZES = frozenset({FileRole.VALUES, FileRole.REPORT})
# Costs follow from the module text, and from the sizes of tuples in allocations.
ROLES_WITHOUT_AXES = ROLES_WITHOUT_SIZES | {FileRole.LIVE_RANGE}
ROLES_WITHOUT_COST = ROLES_WITHOUT_AXES | {FileRole.BEFORE_OPTIMIZATIONS}
"""Of these, the text before optimizations names the axes of a mesh."""
_STEP_SECONDS = 0.002  # between two reports of progress; switching threads takes 0.02 ms
_BYTES_PER_STEP = 600_000  # of a values file, approximately
_LARGE_FILE_BYTES = 8 << 20  # half a second of reading
_LARGE_COMPANION_BYTES = 1 << 20  # a tenth of a second


_UNREAD = (-1, -1)  # the stamp of no file


@dataclass(slots=True)
class _CachedFile:
    """A file as it was with a stamp; an outdated one is replaced when it is read again."""

    stamp: tuple[int, int]
    file: DumpFile


class DumpWorkspace:
    """Open files by URI, and files on disk by path, which are reloaded after changes.

    An open file takes precedence over the file on disk.
    """

    def __init__(
        self,
        unread_roles: Container[FileRole] = (),
        frames: FrameChoice = PROGRAM_FRAMES,
        folders: Folders | None = None,
        read: Callable[[Path], Document] = read_document,
    ) -> None:
        """Create an empty workspace.

        Args:
            unread_roles: Companion files that are not read unless they are open.
            frames: The frames of a call stack that can be the Python line of a buffer.
            folders: The listings of folders; by default, folders are listed again after changes.
            read: The function that reads a file from disk.
        """
        self._unread_roles = unread_roles
        self._read = read
        self.frames = frames
        self.open_files: dict[str, DumpFile] = {}
        self.open_hosts: dict[str, DumpFile] = {}  # open texts in other languages
        self.open_paths: dict[Path, DumpFile] = {}  # open files that have a path
        self._on_disk: dict[Path, _CachedFile] = {}
        self._heads: dict[Path, _CachedFile] = {}
        self._stdout_dumps: dict[str, StdoutDump] = {}
        self._compile_cache = CompileCache(frames)
        self.folders: Folders = folders or FolderCache()

    def view(self, unread_roles: Container[FileRole], frames: FrameChoice) -> "DumpWorkspace":
        """Return a workspace with other compiles of the same files, each of which is read once."""
        other = DumpWorkspace(unread_roles, frames, self.folders, self._read)
        other._on_disk = self._on_disk
        return other

    def choose_frames(self, frames: FrameChoice) -> None:
        """Let other frames be the Python lines of buffers; all compiles are new then."""
        self.frames = frames
        self._stdout_dumps.clear()
        self._compile_cache = CompileCache(frames)

    def open(
        self, uri: str, path: Path | None, document: Document, host: HostLanguage | None = None
    ) -> DumpFile:
        """Add a file that is open in an editor; ``host`` is its language if it is not a dump.

        If the same text was read from disk, the file with its records is reused.
        """
        if host is not None:
            self.open_hosts[uri] = DumpFile(uri, path, document, host)
            return self.open_hosts[uri]
        known = None
        if path is not None:
            known = self._on_disk.pop(path, None)
            self._forget(self._heads.pop(path, None))
        if known is not None and _is_equal(known.file, document, None):
            file = known.file
            file.uri = uri
        else:
            self._forget(known)
            file = DumpFile(uri, path, document)
        self.open_files[uri] = file
        if path is not None:
            self.open_paths[path] = file
        return file

    def opened(self, uri: str) -> DumpFile | None:
        """Return a file or a text in another language that is open in an editor."""
        return self.open_files.get(uri) or self.open_hosts.get(uri)

    def close(self, uri: str) -> DumpFile | None:
        """Remove a file that the editor closed; the file on disk replaces it.

        If another file of its compile is open, its records are kept for the case that the text on
        disk is the same. The files of compiles without open files are removed.
        """
        host = self.open_hosts.pop(uri, None)
        if host is not None:
            host.close()
            self._stdout_dumps.pop(uri, None)
            return host
        file = self.open_files.pop(uri, None)
        if file is None:
            return None
        file.close()
        if file.path is not None:
            self.open_paths.pop(file.path, None)
            file.uri = file.path.absolute().as_uri()
            self._on_disk[file.path] = _CachedFile(_UNREAD, file)
        wanted = {path for one in self.open_paths for path in self.compile_files(one).files}
        for kept in (self._on_disk, self._heads):
            for path in [path for path in kept if path not in wanted]:
                del kept[path]
        on_disk = (known.file for known in (*self._on_disk.values(), *self._heads.values()))
        kept_files = [*on_disk, *self.open_files.values(), *self.open_hosts.values()]
        self._compile_cache.retain(kept_files)
        dumps = (one for one in self._stdout_dumps.values() if one.whole in kept_files)
        self._stdout_dumps = {one.whole.uri: one for one in dumps}
        return file

    def reload(self) -> None:
        """Drop all files read from disk, and rescan open files."""
        self._on_disk.clear()
        self._heads.clear()
        self._stdout_dumps.clear()
        self._compile_cache = CompileCache(self.frames)
        self.folders = FolderCache()
        for file in (*self.open_files.values(), *self.open_hosts.values()):
            count = len(file.lines)
            file.changed(LineChange(0, count, count))

    def stdout_dump(self, file: DumpFile) -> StdoutDump:
        """Return the sections of a file that consists of several files."""
        found = self._stdout_dumps.get(file.uri)
        if found is None or found.whole is not file:
            found = self._stdout_dumps[file.uri] = StdoutDump(file, self.frames)
        return found

    def compile_files(self, path: Path) -> CompileFiles:
        """Return the compile of a file, including files that exist only in the editor."""
        return self._listing_with([path]).compile_files(path.name)

    def is_compile_of_any(self, path: Path, others: Collection[Path]) -> bool:
        """Return whether one of other files in its folder is of the compile of a file.

        The files may have been deleted.
        """
        listing = self._listing_with([path, *others])
        stem = listing.compile_files(path.name).stem
        return any(listing.compile_files(other.name).stem == stem for other in others)

    def _listing_with(self, paths: Sequence[Path]) -> FolderListing:
        """Return the listing of a folder with the names of some files in it, and of open ones."""
        folder = paths[0].parent
        unsaved = (other.name for other in self.open_paths if other.parent == folder)
        return self.folders.listing(folder).with_names((*(one.name for one in paths), *unsaved))

    def file(self, path: Path) -> DumpFile:
        """Return an up-to-date file, open or on disk.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        known = self.open_paths.get(path)
        if known is None:
            known = self._disk_file(path)
        known.refresh()
        return known

    def is_unread(self, path: Path) -> bool:
        """Return True if a file is not open and its current version on disk is not read."""
        return path not in self.open_paths and self.known(path) is None

    def parts(self, file: DumpFile) -> Sequence[DumpFile]:
        """Return the up-to-date sections of a stdout dump, or the file itself."""
        file.refresh()
        if not file.kind.has_sections:
            return [file]
        dump = self.stdout_dump(file)
        dump.refresh()
        for section in dump.sections:
            section.refresh()
        return dump.sections

    def compile_of(self, file: DumpFile, *, patient: bool = True) -> Compile:
        """Return the up-to-date files of the compile of a file.

        Unless ``patient``, large files that are not read yet are left out. The limit is lower for
        companions of a module text, which is the most informative file; of a large module text,
        the tables of source locations are read. A file that is not a dump has no companions.
        """
        if isinstance(file, SectionFile):
            return file.compile_of()
        file.refresh()
        compile_ = None
        if file.path is not None and file.kind.has_records:
            compile_ = self.compile_files(file.path)
        return self._compile_cache.compile_of(file, compile_, self._companion, patient=patient)

    def compiles(self, file: DumpFile) -> Iterable[Compile]:
        """Return the compile of a file, or each compile of a stdout dump.

        As in a folder, texts of earlier passes are left out if there is a compiled module or a
        memory file.
        """
        parts = [part for part in self.parts(file) if part.kind.has_records]
        compiled = [
            part
            for part in parts
            if part.path is not None and suffix_of(part.path.name).role.is_compiled
        ]
        return dict.fromkeys(map(self.compile_of, compiled or parts))

    def unread_companions(self, file: DumpFile, *, with_module: bool = True) -> list[Path]:
        """Return the large companion files that are not read yet, small ones first.

        Unless ``with_module``, the module text of the memory files is left out.
        """
        if file.path is None or not file.kind.has_records or isinstance(file, SectionFile):
            return []
        compile_ = self.compile_files(file.path)
        paths = [*compile_.files_read_together(), *compile_.comparison_texts()]
        if not with_module:
            paths = [path for path in paths if path != compile_.module]
        found = [path for path in paths if self._is_unread(path, compile_)]
        return sorted(found, key=file_size)

    def read(self, path: Path, report: Callable[[int], None]) -> None:
        """Read a file of any size; report the progress in percent, ignore unreadable files."""
        size = max(1, file_size(path))
        job = Job(lambda: self._disk_file(path))
        try:
            for count in itertools.count():
                if job.step(_STEP_SECONDS):
                    return
                report(min(99, 100 * count * _BYTES_PER_STEP // size))
                checkpoint()
        except UnreadableError:
            return
        finally:
            job.cancel()

    def _companion(self, path: Path, compile_: CompileFiles, patient: bool) -> DumpFile | None:
        file = self.open_paths.get(path)
        if file is None:
            if suffix_of(path.name).role in self._unread_roles:
                return None
            file = self.known(path)
        if file is None:
            try:
                if not patient and self._is_unread(path, compile_):
                    outdated = self._on_disk.get(path)
                    if outdated is not None:
                        file = outdated.file
                    elif path in compile_.texts and path == compile_.module:
                        file = self.head(path)
                    else:
                        return None
                else:
                    file = self._disk_file(path)
            except UnreadableError:
                return None
        file.refresh()
        return file

    def _is_unread(self, path: Path, compile_: CompileFiles) -> bool:
        large = _LARGE_COMPANION_BYTES if compile_.path in compile_.texts else _LARGE_FILE_BYTES
        return self.is_unread(path) and file_size(path) > large

    def known(self, path: Path) -> DumpFile | None:
        """Return a file on disk if its current version was read."""
        known = self._on_disk.get(path)
        return known.file if known is not None and known.stamp == file_stamp(path) else None

    def _disk_file(self, path: Path) -> DumpFile:
        """Read a file from disk, unless its version is known.

        A file whose text has not changed keeps its records, and its compile what follows from them.
        """
        known = self.known(path)
        if known is not None:
            return known
        stamp = file_stamp(path) or _UNREAD
        try:
            document = self._read(path)
        except UnreadableError:
            self._forget(self._on_disk.pop(path, None))
            raise
        host = _host_language(path, document.lines)
        outdated = self._on_disk.get(path)
        if outdated is not None and _is_equal(outdated.file, document, host):
            outdated.stamp = stamp
            return outdated.file
        file = DumpFile(path.absolute().as_uri(), path, document, host)
        try:
            file.refresh()
            _ = file.memory.rows  # built here in slices, and not by the first hover
        except Cancelled:  # no other caller has this file, so none can finish the refresh
            file.close()
            raise
        if path not in self.open_paths:  # it may have been opened while it was read
            self._forget(self._on_disk.pop(path, None))
            self._forget(self._heads.pop(path, None))
            self._on_disk[path] = _CachedFile(stamp, file)
        return file

    def _forget(self, replaced: _CachedFile | None) -> None:
        """Drop the compiles with a file that another version replaces."""
        if replaced is not None:
            self._compile_cache.forget([replaced.file])

    def head(self, path: Path) -> DumpFile:
        """Return a file of the lines of a module text before its computations.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        stamp = file_stamp(path) or (0, 0)
        known = self._heads.get(path)
        if known is None or known.stamp != stamp:
            self._forget(known)
            document = read_document_until(path, _begins_computation)
            file = DumpFile(path.absolute().as_uri(), path, document)
            known = self._heads[path] = _CachedFile(stamp, file)
        return known.file


def _is_equal(file: DumpFile, document: Document, host: HostLanguage | None) -> bool:
    return file.host is host and file.document == document


def _host_language(path: Path, lines: Sequence[str]) -> HostLanguage | None:
    """Return the language of a source file; None if it is, or contains, a dump of another kind."""
    host = language_of_path(path)
    if host is None or embedded_sections(lines, host):
        return host
    kind = detect_file_kind(lines)
    has_line = kind is FileKind.MODULE and not lines[0].startswith("HloModule ")
    return host if has_line or not kind.is_dump else None


def _begins_computation(line: str) -> bool:
    return line.endswith(" {") and not line.startswith(" ")
