"""The compiles in folders with the Python files that their module texts name."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile_files import CompileFiles, FolderCache
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.symbol_reading import SearchFolder
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.text.disk import UnreadableError, file_stamp, open_regular_file

_PYTHON_FILE = re.compile(rb'"([^"\n]*\.py)"')
_LINES_PER_CHECKPOINT = 5000  # about 2 ms
_FILES_PER_CHECKPOINT = 1000

Stamp = tuple[tuple[Path, object], ...]


@dataclass(frozen=True, slots=True)
class SourceCompile:
    """A compile with a buffer assignment.

    Attributes:
        names: The names of all files of the module.
        files: Its memory files and its module text, without files that have no sizes.
        module: The name of the module, from the name of the file.
        sources: The Python files that the module text names.
    """

    assignment: Path
    names: tuple[str, ...]
    files: tuple[Path, ...]
    stamp: Stamp
    module: str
    written: int
    size: int
    sources: frozenset[str]


class SourceCompiles:
    """The compiles of some folders as of the last scan."""

    def __init__(self) -> None:
        self.found: dict[Path, SourceCompile] = {}
        self._folders = FolderCache()

    def scan(self, folders: Iterable[SearchFolder], version: Callable[[Path], int | None]) -> None:
        """Find the compiles, and read the names of Python files in new and changed ones.

        ``version`` returns the version of an open file, None for a file that is not open.
        """
        found: dict[Path, SourceCompile] = {}
        for compile_ in self._assignments(folders):
            path = compile_.path
            files = tuple(
                one
                for one in compile_.files_read_together()
                if suffix_of(one.name).role not in ROLES_WITHOUT_SIZES
            )
            stamps = {one: file_stamp(one) for one in files}
            stamp = tuple((one, (stamps[one], version(one))) for one in files)
            known = self.found.get(path)
            if known is None or known.stamp != stamp:
                name = DumpName.of(path.name)
                known = SourceCompile(
                    path,
                    compile_.names(),
                    files,
                    stamp,
                    (name and name.module_name) or path.name,
                    (stamps[path] or (0, 0))[0],
                    sum(one[1] for one in stamps.values() if one is not None),
                    frozenset() if compile_.module is None else python_files(compile_.module),
                )
            found[path] = known
        self.found = found

    def _assignments(self, folders: Iterable[SearchFolder]) -> Iterator[CompileFiles]:
        """Yield the compiles of the buffer assignments in some folders, each once."""
        seen: set[Path] = set()
        for folder in folders:
            for name, inner, _ in os.walk(folder.path):
                inner[:] = sorted(i for i in inner if folder.is_recursive and i[0] != ".")
                if Path(name) in seen:
                    continue
                seen.add(Path(name))
                listing = self._folders.listing(Path(name))
                for count, file in enumerate(sorted(listing.names())):
                    if count % _FILES_PER_CHECKPOINT == 0:
                        checkpoint()
                    if "assignment" in file and suffix_of(file).role is FileRole.ASSIGNMENT:
                        yield listing.compile_files(file)


def python_files(path: Path) -> frozenset[str]:
    """Return the Python files that a module text names; empty for a file that cannot be read."""
    found: set[bytes] = set()
    try:
        with open_regular_file(path) as lines:
            for count, line in enumerate(lines):
                if count % _LINES_PER_CHECKPOINT == 0:
                    checkpoint()
                if b'.py"' in line:
                    found.update(_PYTHON_FILE.findall(line))
    except (OSError, UnreadableError):
        return frozenset()
    return frozenset(name.decode("utf-8", "replace") for name in found)
