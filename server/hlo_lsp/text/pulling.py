"""Copies of remote folders."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from hlo_lsp.text.downloads import downloads, is_complete, is_left_over
from hlo_lsp.text.file_systems import RemoteFile, list_tree
from hlo_lsp.text.private_folders import has_link
from hlo_lsp.text.remote_errors import RemoteError
from hlo_lsp.text.urls import public

_PARTIAL_PREFIX = ".hlo-lsp-partial-"
_RECORD_NAME = ".hlo-lsp-pulled.json"
_Stamp = tuple[int, int]


@dataclass(slots=True)
class Pulled:
    """What became of the files below a URL.

    Attributes:
        copied: The number of files that were downloaded.
        current: The number of files that were there already.
        left_out: The number of files that are not of a dump.
        errors: By URL.
    """

    copied: int = 0
    current: int = 0
    left_out: int = 0
    errors: dict[str, OSError] = field(default_factory=dict)


class NotReplacedError(OSError):
    """A file of the folder that this program has not written; ``strerror`` is for the user."""


def pull(
    url: str,
    folder: Path,
    is_wanted: Callable[[str], bool],
    report: Callable[[int, int, int], None] = lambda *_: None,
    *,
    force: bool = False,
) -> Pulled:
    """Copy files below a URL into a folder; files that are there already are not read again.

    The names and the content are chosen by the server. So a file is left out unless its name is
    wanted, and none of its folders is hidden; and only files that an earlier call wrote, and that
    were not changed since, are replaced. Links in the folder are not followed.

    Args:
        url: The URL of a folder or of a file.
        folder: The folder, which is created.
        is_wanted: Returns whether to copy a file of this name.
        report: Called with the number of complete files, of all files, and of new bytes.
        force: Replace files whoever wrote them.

    Raises:
        RemoteError: The URL cannot be listed.
        OSError: The folder cannot be written.
    """
    tree = list_tree(url)
    top = tree.top
    files = tree.files if top in tree.folders else {top: tree.files[top]}
    start = top if top in tree.folders else top.parent
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{_PARTIAL_PREFIX}*"):
        if is_left_over(old):
            shutil.rmtree(old, ignore_errors=True)
    # Others may copy into the same folder meanwhile.
    partial = Path(mkdtemp(prefix=_PARTIAL_PREFIX, dir=folder))
    found, written = Pulled(), _read_record(folder)
    futures: dict[Future[RemoteFile], tuple[PurePosixPath, RemoteFile]] = {}
    try:
        for path, file in files.items():
            relative = path.relative_to(start)
            if not is_wanted(path.name) or any(part[0] == "." for part in relative.parts):
                found.left_out += 1
            elif is_complete(folder / relative, file):
                written[str(relative)] = file.stamp
                found.current += 1
            else:
                try:
                    if path in tree.folders:  # a bucket permits both
                        raise RemoteError("not copied, because a folder has this name")
                    _prepare(folder, relative, None if force else written)
                except OSError as error:
                    found.errors[public(file.url)] = error
                else:
                    download = downloads().start(file, folder / relative, partial)
                    futures[download] = relative, file
        _wait(futures, found, written, report)
    finally:
        _write_record(folder, partial, written)
        shutil.rmtree(partial, ignore_errors=True)
    return found


def _wait(
    futures: dict[Future[RemoteFile], tuple[PurePosixPath, RemoteFile]],
    found: Pulled,
    written: dict[str, _Stamp],
    report: Callable[[int, int, int], None],
) -> None:
    """Wait for downloads, and add what became of them."""
    left, size, current = set(futures), 0, found.current
    while left:
        report(current + len(futures) - len(left), current + len(futures), size)
        done, left = wait(left, 1, "FIRST_COMPLETED")
        for future in done:
            relative, file = futures[future]
            try:
                result = future.result()
            except OSError as error:
                found.errors[public(file.url)] = error
            else:
                size += result.size
                found.copied += 1
                written[str(relative)] = result.stamp


def _prepare(folder: Path, relative: PurePosixPath, written: dict[str, _Stamp] | None) -> None:
    """Create the folder of a file, and check that the file may be written.

    Args:
        folder: The folder of the copy.
        relative: The path of the file in it.
        written: The files that may be replaced if they have these stamps; None for all files.

    Raises:
        NotReplacedError: The file is not one of those.
        OSError: The folder cannot be created, or the file or one of its folders is a link.
    """
    target = folder / relative
    if has_link(folder, str(relative)):
        raise OSError(errno.ELOOP, f"not copied, because {target} is a link, or in one")
    target.parent.mkdir(parents=True, exist_ok=True)
    if written is None or not target.exists():
        return
    status = target.stat()
    if written.get(str(relative)) != (status.st_mtime_ns, status.st_size):
        reason = f"not copied, because {target} was not written by this command, or has changed"
        raise NotReplacedError(errno.EEXIST, reason)


def _read_record(folder: Path) -> dict[str, _Stamp]:
    """Return the files in the folder that earlier calls wrote, with their stamps."""
    path = folder / _RECORD_NAME
    try:
        content = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        return {name: (modified, size) for name, (modified, size) in content.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _write_record(folder: Path, partial: Path, written: dict[str, _Stamp]) -> None:
    """Add files to the record of a folder. Without it, the next call replaces none of them."""
    new = partial / _RECORD_NAME
    with suppress(OSError):
        new.write_text(json.dumps({**_read_record(folder), **written}), "utf-8")
        os.replace(new, folder / _RECORD_NAME)
