"""The files of one module on disk, each read once for all facts that are read together."""

from collections.abc import Callable, Iterable
from pathlib import Path

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.model.compile_files import FolderSnapshot
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.folder_scan import ModuleFiles
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.protos.reading import read_document
from hlo_lsp.syntax.file_kinds import detect_file_kind
from hlo_lsp.text.disk import read_document_if, read_first_lines
from hlo_lsp.text.document import Document

MAX_KEPT_BYTES = 4_000_000  # of the files of a module whose texts can stay in memory


class ModuleTexts:
    """The texts of a module that were read; of a large module, none is kept."""

    def __init__(self, module: ModuleFiles) -> None:
        self.is_kept = module.size <= MAX_KEPT_BYTES
        self._documents: dict[Path, Document] = {}

    def read(self, path: Path) -> Document:
        """Return a text.

        Raises:
            UnreadableError: The path is not a readable file.
        """
        return self._documents.get(path) or self._keep(path, read_document(path))

    def read_if(
        self, path: Path, accepts: Callable[[list[str]], bool], *head_bytes: int
    ) -> Document | None:
        """Return a text; None if the lines in its first bytes are not accepted.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        document = self._documents.get(path)
        if document is None:
            document, is_whole = read_document_if(path, accepts, *head_bytes)
            if is_whole:
                self._keep(path, document)
        return document if accepts(document.lines) else None

    def _keep(self, path: Path, document: Document) -> Document:
        if self.is_kept:
            self._documents[path] = document
        return document


class ModuleReader:
    """The files of one module, with ``frames`` that can be the Python lines of its buffers."""

    def __init__(
        self, module: ModuleFiles, frames: FrameChoice, texts: ModuleTexts | None = None
    ) -> None:
        self._module = module
        self._frames = frames
        self._texts = texts or ModuleTexts(module)
        self._files: DumpWorkspace | None = None

    @property
    def workspace(self) -> DumpWorkspace:
        """The compiles of the module with all their files."""
        if self._files is None:
            names = [path.name for path in self._module.stamps]
            folders = FolderSnapshot.of_compile(self._module.path.parent, names)
            self._files = DumpWorkspace(folders=folders, read=self._texts.read)
        return self._files

    @cached_property
    def without_values(self) -> DumpWorkspace:
        """The compiles of the module without files that have no sizes."""
        return self.workspace.view(ROLES_WITHOUT_SIZES, self._frames)

    def with_open(self, opened: Iterable[tuple[str, Path, Document]]) -> DumpWorkspace:
        """Return the compiles ``without_values`` in which some files have the text of an editor."""
        folders = self.workspace.folders
        workspace = DumpWorkspace(ROLES_WITHOUT_SIZES, self._frames, folders, self._texts.read)
        for uri, path, document in opened:
            workspace.open(uri, path, document)
        return workspace

    def is_dump(self, path: Path) -> bool:
        """Return whether a text begins as a dump.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        if self._texts.is_kept or self._known(path) is not None:
            return self.lines_if(path, _is_dump) is not None
        return _is_dump(read_first_lines(path))

    def lines(self, path: Path) -> list[str]:
        """Return the lines of a text.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        known = self._known(path)
        return self._texts.read(path).lines if known is None else known.lines

    def lines_if(
        self, path: Path, accepts: Callable[[list[str]], bool], *head_bytes: int
    ) -> list[str] | None:
        """Return the lines of a text; None if those in its first bytes are not accepted.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        known = self._known(path)
        if known is not None:
            return known.lines if accepts(known.lines) else None
        document = self._texts.read_if(path, accepts, *head_bytes)
        return None if document is None else document.lines

    def _known(self, path: Path) -> DumpFile | None:
        return None if self._files is None else self._files.known(path)


def _is_dump(lines: list[str]) -> bool:
    return detect_file_kind(lines).is_dump
