"""Copies of remote folders."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from tempfile import mkdtemp

from hlo_lsp.text.downloads import downloads, is_complete, is_left_over
from hlo_lsp.text.file_systems import RemoteFile, list_tree
from hlo_lsp.text.remote_cache import has_link
from hlo_lsp.text.remote_errors import RemoteError
from hlo_lsp.text.remote_names import public

_PARTIAL_PREFIX = ".hlo-lsp-partial-"
_RECORD_NAME = ".hlo-lsp-pulled.json"
_WAIT_SECONDS = 0.1  # between two looks for Ctrl-C
_Stamp = tuple[int, int]


@dataclass(slots=True)
class Pulled:
    """The results for the files below a URL.

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
    futures: dict[Future[RemoteFile], _Copy] = {}

    def place(copy: _Copy, stamp: _Stamp) -> None:
        # Again, because the folder can have changed since the download began.
        _prepare(folder, copy.relative, None if force else written)
        os.replace(copy.incomplete, folder / copy.relative)
        written[str(copy.relative)] = stamp

    try:
        for path, file in files.items():
            relative = path.relative_to(start)
            is_named = path == top  # by the user, as the URL of a file
            is_hidden = any(part[0] == "." for part in relative.parts)
            if is_hidden or not (is_named or is_wanted(path.name)):
                found.left_out += 1
            elif is_complete(folder / relative, file):
                found.current += 1  # perhaps by chance; only a download is known to be ours
            else:
                try:
                    if path in tree.folders:  # a bucket permits both
                        raise RemoteError("not copied, because a folder has this name")
                    _prepare(folder, relative, None if force else written)
                except OSError as error:
                    found.errors[public(file.url)] = error
                else:
                    incomplete = partial / str(len(futures))
                    copy = _Copy(file, incomplete, relative)
                    futures[downloads().start(file, incomplete, partial)] = copy
        _wait(futures, found, report, place)
    finally:
        _write_record(folder, partial, written)
        shutil.rmtree(partial, ignore_errors=True)
    return found


@dataclass(frozen=True, slots=True)
class _Copy:
    """A file that is downloaded to ``incomplete``, and then moved to its path in the folder."""

    file: RemoteFile
    incomplete: Path
    relative: PurePosixPath


def _wait(
    copies: dict[Future[RemoteFile], _Copy],
    found: Pulled,
    report: Callable[[int, int, int], None],
    place: Callable[[_Copy, _Stamp], None],
) -> None:
    """Wait for downloads, place them, and add what became of them."""
    size, current = 0, found.current
    report(current, current + len(copies), size)
    ended: SimpleQueue[Future[RemoteFile]] = SimpleQueue()
    for future in copies:
        future.add_done_callback(ended.put)
    for count in range(1, len(copies) + 1):
        future = _next(ended)
        copy = copies[future]
        try:
            result = future.result()
            place(copy, result.stamp)
        except OSError as error:
            found.errors[public(copy.file.url)] = error
        else:
            size += result.size
            found.copied += 1
        report(current + count, current + len(copies), size)


def _next(ended: "SimpleQueue[Future[RemoteFile]]") -> "Future[RemoteFile]":
    """Wait for a download; Python can miss a Ctrl-C just before a wait without a limit."""
    while True:
        with suppress(Empty):
            return ended.get(timeout=_WAIT_SECONDS)


def _prepare(folder: Path, relative: PurePosixPath, written: dict[str, _Stamp] | None) -> None:
    """Create the folder of a file, and check that the file may be written.

    Args:
        folder: The folder of the copy.
        relative: The path of the file in it.
        written: The files that may be replaced if they have these stamps; None for all files.

    Raises:
        NotReplacedError: The file is not one of those.
        OSError: The folder cannot be created, or the file or one of its folders is a link, or has
            a name that other commands could take for an option or for several names.
    """
    if any(part.startswith("-") or not part.isprintable() for part in relative.parts):
        reason = "not copied, because a name begins with a hyphen or is not printable"
        raise OSError(errno.EINVAL, reason)
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
