"""The search for compiles in workspace folders, with checkpoints for other requests."""

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from hlo_lsp.checks.config.selection import Selection
from hlo_lsp.checks.folders.jobs import Job
from hlo_lsp.model.compiles import Compile, FolderListing
from hlo_lsp.text.checkpoint import checkpoint

_FILES_PER_CHECKPOINT = 100  # about 2 ms
_ENDINGS = frozenset({".txt", ".hlo"})

_Stamp = tuple[str, int, int]


def jobs_below(folders: Iterable[Path], selection_of: Callable[[Path], Selection]) -> list[Job]:
    """Return a job for each compile in folders and their subfolders, without hidden ones.

    ``selection_of`` returns the selection of rules for a folder.
    """
    jobs: list[Job] = []
    seen: set[Path] = set()
    for top in folders:
        for name, inner, names in os.walk(top):
            inner[:] = sorted(below for below in inner if not below.startswith("."))
            folder = Path(name)
            wanted = [each for each in sorted(names) if os.path.splitext(each)[1] in _ENDINGS]
            if wanted and folder not in seen:
                seen.add(folder)
                listing = FolderListing(folder, sorted(names))
                jobs += _jobs_in(folder, wanted, listing, selection_of(folder))
            checkpoint()
    return jobs


def _jobs_in(
    folder: Path, names: list[str], listing: FolderListing, selection: Selection
) -> list[Job]:
    compiles: dict[str, tuple[Compile, list[Path]]] = {}
    stamps: dict[Path, _Stamp] = {}
    for count, name in enumerate(names):
        path = folder / name
        stamp = _stamp(path)
        if stamp is not None:
            stamps[path] = stamp
            compile_ = listing.compile(name)
            compiles.setdefault(compile_.stem, (compile_, []))[1].append(path)
        if count % _FILES_PER_CHECKPOINT == _FILES_PER_CHECKPOINT - 1:
            checkpoint()
    jobs = []
    for compile_, files in compiles.values():
        of_compile = {**dict.fromkeys(compile_.files), **dict.fromkeys(files)}
        known = tuple(stamps[path] for path in of_compile if path in stamps)
        jobs.append(Job(tuple(files), frozenset(), known, selection))
    return jobs


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return path.name, status.st_mtime_ns, status.st_size
