"""The cache of remote files; ``text/remote.py`` loads this module for paths in it.

``local_path`` lists the files below a URL, and creates empty files of the same names in the cache.
``open_remote`` downloads the content of such a file when it is first opened. So all other code
handles remote dumps as it handles local ones.

A file in the cache is complete if its modification time and its size are those in the list: they
are set when it is complete, and the time contains a hash of the remote version. Lists are files
too, so that other processes can open the same paths.
"""

import errno
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname
from uuid import uuid4

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.text.downloads import CacheLimit, downloads, is_complete, write_empty
from hlo_lsp.text.file_systems import RemoteFile, RemoteTree, list_tree
from hlo_lsp.text.remote_errors import RemoteError
from hlo_lsp.text.remote_names import CACHE_MARK, CACHE_NAME, public

_MAX_LINKS = 40  # as of Linux, in one path


class NotPrivateError(Exception):
    """Another user can change what is in a folder; the message is the reason."""


def require_private(folder: Path) -> None:
    """Check that only this user and the system can change the content of an existing folder.

    As ssh does for its files, this checks the folder, those above it, and the links on the way to
    it: whoever can rename one of them chooses what the folder contains. On Windows, the folders of
    a user are private by their access lists, which are not checked.

    Raises:
        NotPrivateError: Another user can, or the folder is a link.
        OSError: A folder cannot be examined.
    """
    if sys.platform == "win32":
        return
    if folder.is_symlink():
        raise NotPrivateError(f"{folder} is a link")
    _require_owned_path(folder.parent, _MAX_LINKS)
    _require_owned(folder, is_above=False)


def _require_owned_path(path: Path, links: int) -> None:
    for part in (*reversed(path.parents), path):
        _require_owned(part, is_above=True)
        if part.is_symlink():
            if not links:
                raise NotPrivateError(f"{part}: too many links")
            _require_owned_path(Path(os.path.abspath(part.parent / os.readlink(part))), links - 1)


def _require_owned(path: Path, *, is_above: bool) -> None:
    status = path.lstat()
    # In a container, the owner of the root folder can be another user than 0.
    if status.st_uid not in {os.getuid(), 0, os.stat("/").st_uid}:
        raise NotPrivateError(f"{path} belongs to another user")
    # In a sticky folder, others cannot rename what they do not own. Links have no permissions.
    if stat.S_ISLNK(status.st_mode) or (is_above and status.st_mode & stat.S_ISVTX):
        return
    is_shared = status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_gid)
    if is_shared or status.st_mode & stat.S_IWOTH:
        raise NotPrivateError(f"other users can write to {path}")


def _is_private_group(number: int) -> bool:
    """Return whether a group is that of the system, or has this user as its only member."""
    import grp  # noqa: PLC0415  # Windows has no such module
    import pwd  # noqa: PLC0415

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return number == 0
    return number == 0 or (group.gr_name == user and set(group.gr_mem) <= {user})


def has_link(folder: Path, relative: str) -> bool:
    """Return whether a path in a folder leads through a link; missing parts are none."""
    real = os.path.realpath(os.path.join(folder, relative))
    expected = os.path.normpath(os.path.join(os.path.realpath(folder), relative))
    return os.path.normcase(real) != os.path.normcase(expected)


_WAIT_SECONDS = 0.004  # between two checkpoints, as a job of the server may take
_MAX_ATTEMPTS = 3  # to open a file before the limit of the cache removes it
_BUFFER_BYTES = 1 << 20
_READ_WITHOUT_LINKS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

_Waiting = Callable[[str], AbstractContextManager[object]]


@dataclass(slots=True)
class _State:
    """The knowledge of this process.

    ``newer`` are versions that were found when files were read, each with the stamp of the listed
    version that it replaces, ``waiting`` shows that a command waits for a file, and ``trusted`` are
    folders that are the cache and were found to be private, each with the path of the cache.
    """

    lists: dict[str, tuple[tuple[int, int], "_List"]]
    newer: dict[str, tuple[tuple[int, int], RemoteFile]]
    waiting: _Waiting
    limit: CacheLimit
    trusted: set[tuple[Path, Path]]


@dataclass(frozen=True, slots=True)
class _List:
    """The URL of a folder, and the files in it by name."""

    url: str
    files: dict[str, RemoteFile]


_limit = CacheLimit(lambda path: _listed_file(path) is not None)
_state = _State({}, {}, lambda _: nullcontext(), _limit, set())


def show_waiting(waiting: _Waiting) -> None:
    """Choose the context in which a command waits for a file, given a text such as its URL."""
    _state.waiting = waiting


def cached_path(text: str) -> Path:
    """Return the path of a URL in the cache, after listing the files there.

    Raises:
        RemoteError: The URL cannot be read, a package for it is missing, or the cache cannot be
            written.
    """
    if text.lower().startswith("file://"):
        return Path(url2pathname(urlsplit(text).path))
    tree = list_tree(text)
    try:
        trees = _cache_folder() / "trees"
        _write_tree(trees, tree)
    except OSError as error:
        raise _unwritable(error, public(text)) from error
    return trees / tree.top


def open_file(path: Path) -> BinaryIO | None:
    """Open a file in the cache, and download it before if necessary; None for other files.

    Raises:
        RemoteError: The file cannot be downloaded.
    """
    for _ in range(_MAX_ATTEMPTS):
        expected = remote_file(path)
        if expected is None:
            return None
        file = _open_complete(path, expected)
        if file is not None:
            return file
        future = _start(path, expected)
        with _state.waiting(public(expected.url)):
            while not wait([future], _WAIT_SECONDS).done:
                checkpoint()
        try:
            future.result()
        except RemoteError:
            raise
        except OSError as error:
            raise _unwritable(error) from error
    raise RemoteError("other files replace this one in the cache; raise HLO_LSP_CACHE_GIB")


def remote_file(path: Path) -> RemoteFile | None:
    """Return the remote file of a path in the cache, None for other paths."""
    listed = _listed_file(path)
    if listed is None:
        return None
    replaced, newer = _state.newer.get(str(path), (None, listed))
    return newer if replaced == listed.stamp else listed


def _listed_file(path: Path) -> RemoteFile | None:
    folder = _list_of(os.path.dirname(path))
    return None if folder is None else folder.files.get(path.name)


def url_of(path: Path) -> str | None:
    """Return the URL of a path in the cache, with its secrets; None for other paths."""
    found = remote_file(path) or _list_of(str(path))
    return None if found is None else found.url


def prefetch(path: Path) -> None:
    """Start to download a file in the cache if necessary."""
    expected = remote_file(path)
    if expected is not None and not is_complete(path, expected):
        _start(path, expected)


def _list_of(folder: str) -> _List | None:
    """Return the list of a folder in the cache; None if there is none."""
    cache, mark, relative = folder.partition(CACHE_MARK)
    if not mark:
        return None
    root = Path(cache, CACHE_NAME)
    if not _is_own(root):
        return None
    path = _list_path(root, PurePosixPath(Path(relative).as_posix()))
    try:
        status = path.stat()
        stamp = status.st_mtime_ns, status.st_ino
        known = _state.lists.get(folder)
        if known is not None and known[0] == stamp:
            return known[1]
        content = json.loads(path.read_text("utf-8"))
        files = {name: RemoteFile(*each) for name, each in content["files"].items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None  # missing, or damaged
    found = _List(content["url"], files)
    _state.lists[folder] = stamp, found
    return found


def _list_path(cache: Path, folder: PurePosixPath) -> Path:
    return cache / "lists" / f"{sha256(os.fsencode(str(folder))).hexdigest()[:32]}.json"


def _cache_folder() -> Path:
    """Return the folder of the cache, whose content only this user can choose.

    Raises:
        RemoteError: Another user can.
        OSError: The folder cannot be created.
    """
    cache = _cache_path()
    cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    cache.mkdir(mode=0o700, exist_ok=True)
    try:
        require_private(cache)
    except NotPrivateError as error:
        reason = f"the cache is not private, because {error}"
        raise RemoteError(f"{reason}; set HLO_LSP_CACHE to another folder") from None
    cache.chmod(0o700)
    for name in ("trees", "lists", "partial"):
        if has_link(cache, name):
            raise OSError(errno.ELOOP, "the folder is a link", str(cache / name))
        (cache / name).mkdir(exist_ok=True)
    return cache


def _cache_path() -> Path:
    chosen = os.environ.get("HLO_LSP_CACHE")
    if chosen:
        base = Path(chosen)
        if not base.is_absolute():  # it would depend on the current folder, which others may fill
            raise RemoteError("HLO_LSP_CACHE must be an absolute path")
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home(), "hlo-lsp")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches" / "hlo-lsp"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = (caches if caches.is_absolute() else Path.home() / ".cache") / "hlo-lsp"
    return base / CACHE_NAME


def _is_own(cache: Path) -> bool:
    """Return whether a folder is the cache of this process, and not one in a folder of dumps."""
    try:
        own = _cache_path()
        if (cache, own) not in _state.trusted:
            if cache != own and os.path.realpath(cache) != os.path.realpath(own):
                return False
            require_private(own)
            _state.trusted.add((cache, own))
    except (OSError, NotPrivateError):
        return False
    return True


def _unwritable(error: OSError, url: str | None = None) -> RemoteError:
    where = "" if error.filename is None else f" {error.filename}"
    reason = f"cannot write to the cache{where}: {error.strerror}"
    return RemoteError(f"{reason}; set HLO_LSP_CACHE to another folder", url)


def _write_tree(trees: Path, tree: RemoteTree) -> None:
    """Let the cache have the folders and files of a tree; complete files are kept."""
    folders: dict[PurePosixPath, dict[str, RemoteFile]] = {one: {} for one in tree.folders}
    for path, file in tree.files.items():
        if path not in folders:
            folders[path.parent][path.name] = file
    if tree.top in folders:
        for name, inner, _ in os.walk(trees / tree.top):
            at = PurePosixPath(Path(name).relative_to(trees).as_posix())
            for gone in [one for one in inner if at / one not in folders]:
                shutil.rmtree(Path(name, gone), ignore_errors=True)
                inner.remove(gone)
    for folder, files in sorted(folders.items()):  # a file can have become a folder
        _write_folder(trees, folder, _List(tree.folders[folder], files))


def _write_folder(trees: Path, folder: PurePosixPath, content: _List) -> None:
    local = trees / folder
    if has_link(trees, str(folder)):
        raise OSError(errno.ELOOP, "the folder is a link, or in one", str(local))
    local.mkdir(parents=True, exist_ok=True)
    with os.scandir(local) as entries:
        there = {entry.name: not entry.is_dir(follow_symlinks=False) for entry in entries}
    for name, is_file in there.items():
        if is_file and name not in content.files:
            (local / name).unlink(missing_ok=True)
    for name, file in content.files.items():
        if name not in there:
            with suppress(FileExistsError):  # another process has listed the folder meanwhile
                write_empty(local / name, file.modified)
    partial = trees.parent / "partial" / uuid4().hex
    files = {name: [file.url, *file.stamp] for name, file in content.files.items()}
    partial.write_text(json.dumps({"url": content.url, "files": files}), "utf-8")
    os.replace(partial, _list_path(trees.parent, folder))


def _open_complete(path: Path, expected: RemoteFile) -> BinaryIO | None:
    """Open a file if it is complete. Another process may replace it, but not the open one."""
    with suppress(OSError):  # the file is missing, not complete, or a link
        file = os.fdopen(os.open(path, _READ_WITHOUT_LINKS), "rb", _BUFFER_BYTES)
        status = os.fstat(file.fileno())
        if (status.st_mtime_ns, status.st_size) == expected.stamp:
            with suppress(OSError):  # the time of the last use, for the limit of the cache
                target = file.fileno() if os.utime in os.supports_fd else path
                os.utime(target, ns=(time.time_ns(), expected.modified))
            return file
        file.close()
    return None


def _start(path: Path, file: RemoteFile) -> Future[RemoteFile]:
    cache = Path(str(path).partition(CACHE_MARK)[0], CACHE_NAME)

    def complete(found: RemoteFile) -> None:
        listed = _listed_file(path)
        if listed is not None and found.stamp != listed.stamp:
            _state.newer[str(path)] = listed.stamp, found
        _state.limit.add(cache, found.size)

    return downloads().start(file, path, cache / "partial", complete)
