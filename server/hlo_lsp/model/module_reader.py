"""The files of one module on disk, each read once for all facts that are read together."""

from collections.abc import Callable, Iterable
from pathlib import Path

from hlo_lsp.model.compile_files import FolderSnapshot
from hlo_lsp.model.folder_scan import ModuleFiles
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.protos.reading import read_document
from hlo_lsp.syntax.file_kinds import detect_file_kind
from hlo_lsp.text.disk import read_document_if, read_first_lines
from hlo_lsp.text.document import Document

MAX_KEPT_BYTES = 4_000_000  # of the files of a module whose texts stay in memory meanwhile


class ModuleReader:
    """The files of one module.

    The texts of a small module stay in memory until its reader is dropped. Of a large one, only
    files with records do.

    Attributes:
        path: The first of them.
        frames: The frames of a call stack that can be the Python line of a buffer.
        workspace: Its compiles with all their files.
        without_values: Its compiles without files that have no sizes.
    """

    def __init__(self, module: ModuleFiles, frames: FrameChoice) -> None:
        self.path = module.path
        self.frames = frames
        self._texts: dict[Path, Document] = {}
        self._is_small = module.size <= MAX_KEPT_BYTES
        own = FolderSnapshot.of_compile(module.path.parent, [path.name for path in module.stamps])
        self.workspace = DumpWorkspace(folders=own, read=self._document)
        self.without_values = self.workspace.view(ROLES_WITHOUT_SIZES, frames)

    def with_open(self, opened: Iterable[tuple[str, Path, Document]]) -> DumpWorkspace:
        """Return the compiles ``without_values`` in which some files have the text of an editor."""
        folders = self.without_values.folders
        workspace = DumpWorkspace(ROLES_WITHOUT_SIZES, self.frames, folders, self._document)
        for uri, path, document in opened:
            workspace.open(uri, path, document)
        return workspace

    def is_dump(self, path: Path) -> bool:
        """Return whether a text begins as a dump.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        if self._is_small or self.workspace.known(path) is not None:
            return detect_file_kind(self.lines_if(path, _is_dump) or []).is_dump
        return _is_dump(read_first_lines(path))

    def lines(self, path: Path) -> list[str]:
        """Return the lines of a text.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        known = self.workspace.known(path)
        return self._document(path).lines if known is None else known.lines

    def lines_if(
        self, path: Path, accepts: Callable[[list[str]], bool], *head_bytes: int
    ) -> list[str] | None:
        """Return the lines of a text; None if those in its first bytes are not accepted.

        Raises:
            UnreadableError: The path is not a readable text file.
        """
        known = self.workspace.known(path)
        document = self._texts.get(path) if known is None else known.document
        if document is None:
            document, is_whole = read_document_if(path, accepts, *head_bytes)
            if is_whole:
                self._keep(path, document)
        return document.lines if accepts(document.lines) else None

    def _document(self, path: Path) -> Document:
        if path not in self._texts:
            document = read_document(path)
            self._keep(path, document)
            return document
        return self._texts[path]

    def _keep(self, path: Path, document: Document) -> None:
        if self._is_small:
            self._texts[path] = document


def _is_dump(lines: list[str]) -> bool:
    return detect_file_kind(lines).is_dump
