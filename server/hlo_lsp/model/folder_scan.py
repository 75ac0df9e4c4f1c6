"""One walk of folders: the files in them as of that time, grouped by compile."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from hlo_lsp.background_jobs import cached_property, checkpoint
from hlo_lsp.model.compile_files import (
    CompileFiles,
    FolderListing,
    Folders,
    compiles_in,
    walk_folders,
)
from hlo_lsp.text.disk import file_stamp

Stamp = tuple[int, int]
"""The modification time (ns) and size (bytes) of a file."""


class SearchScope(Enum):
    """Why a folder is searched."""

    WORKSPACE = "workspace"
    REQUEST = "request"  # the user named it
    OPEN_FILE = "open file"  # it has an open file; its subfolders are not searched


@dataclass(frozen=True, slots=True)
class SearchFolder:
    """A folder to search, with its subfolders except hidden ones, unless it has an open file."""

    path: Path
    scope: SearchScope = SearchScope.WORKSPACE


@dataclass(frozen=True, slots=True, eq=False)
class ModuleFiles:
    """The regular files of one module, by name.

    Attributes:
        stamps: The stamp of each file.
        size: Their total size in bytes.
        written: The time (ns) of the last change of one of them.
    """

    path: Path
    stamps: dict[Path, Stamp]
    size: int
    written: int


@dataclass(eq=False)
class ScannedFolder:
    """A folder as of a scan.

    Attributes:
        top: The searched folder that it is in.
        path: The folder.
        names: The names of its files, without those of folders.
    """

    top: SearchFolder
    path: Path
    names: Sequence[str]
    _folders: Folders
    _modules: dict[Path, ModuleFiles] = field(default_factory=dict)

    @cached_property
    def listing(self) -> FolderListing:
        """The names in the folder, grouped by module."""
        return self._folders.listing(self.path)

    def compiles(self) -> Iterator[CompileFiles]:
        """Yield its compiles, as ``compiles_below`` does."""
        return compiles_in(self.listing, self.names)

    def stamp(self, path: Path) -> Stamp | None:
        """Return the stamp of a file; None if it is not a regular file."""
        module = self.module_of(path.name)
        return None if module is None else module.stamps.get(path)

    def module_of(self, name: str) -> ModuleFiles | None:
        """Return the files of the module of a file; None if it was removed since the scan."""
        return self.module(self.listing.compile_files(name)) if name in self.listing else None

    def module(self, compile_: CompileFiles) -> ModuleFiles:
        """Return the files of the module of a compile, as they are when it is first asked for."""
        path = compile_.files[0]
        if path not in self._modules:
            checkpoint()
            stamps = {
                file: stamp for file in compile_.files if (stamp := file_stamp(file)) is not None
            }
            size = sum(size for _, size in stamps.values())
            written = max((changed for changed, _ in stamps.values()), default=0)
            self._modules[path] = ModuleFiles(path, stamps, size, written)
        return self._modules[path]


def scan_folders(searched: Iterable[SearchFolder], folders: Folders) -> Iterator[ScannedFolder]:
    """Yield each folder once, with the first searched folder that it is in.

    In ``folders``, unchanged folders are not listed again.
    """
    seen: set[Path] = set()
    for top in searched:
        for path, names in walk_folders(top.path):
            if path not in seen:
                seen.add(path)
                yield ScannedFolder(top, path, names, folders)
            if top.scope is SearchScope.OPEN_FILE:
                break
