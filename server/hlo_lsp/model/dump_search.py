"""The compiles below a folder, each found by one of its files."""

import os
from collections.abc import Iterator
from pathlib import Path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile_files import FolderCache, FolderListing
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.protos.names import is_skipped, text_name


def compiles_below(path: Path, folders: FolderCache | None = None) -> Iterator[Path]:
    """Yield a file of each compile with memory files or with an optimized module text.

    A path to a file yields the file itself. Hidden folders are left out. ``folders`` are the known
    listings, for repeated calls.
    """
    folders = folders or FolderCache()
    if not path.is_dir():
        yield path
        return
    for folder, inner, names in os.walk(path):
        checkpoint()
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        listing = folders.listing(Path(folder))
        known = frozenset(names)
        for files in listing.modules():
            read = [
                file for file in files if file.name in known and not is_skipped(file.name, known)
            ]
            yield from _compiles(listing, read)


def _compiles(listing: FolderListing, files: list[Path]) -> Iterator[Path]:
    found: dict[str, Path] = {}
    for file in sorted(files, key=_order):
        text = text_name(file.name) or file.name
        if _is_compiled(text) or text.endswith(".hlo"):
            stem = listing.compile(file.name).stem if text == file.name else text[:-4]
            found.setdefault(stem, file)
    if not found:
        # A text of another name, such as the output of --xla_dump_to=-.
        found = {file.name: file for file in files if suffix_of(file.name).role is FileRole.OTHER}
    yield from found.values()


def _order(file: Path) -> tuple[bool, str]:
    """Return a sort key: the buffer assignment first."""
    return suffix_of(file.name).role is not FileRole.ASSIGNMENT, file.name


def dump_sets(workspace: DumpWorkspace, file: DumpFile) -> Iterator[DumpSet]:
    """Yield the compile of a file, or each compile of a stdout dump.

    As in a folder, texts before other passes are left out if there are texts after all passes.
    """
    parts = [part for part in workspace.parts(file) if part.kind.has_records]
    compiled = [part for part in parts if part.path is not None and _is_compiled(part.path.name)]
    yield from dict.fromkeys(map(workspace.set_of, compiled or parts))


def _is_compiled(name: str) -> bool:
    role = suffix_of(name).role
    return role.is_memory or role is FileRole.AFTER_OPTIMIZATIONS
