"""Remote files as local paths.

``local_path`` returns a path in the cache for a URL. Its files have their names and times, but no
content until ``open_remote`` opens them first. So all other code handles remote dumps as it
handles local ones. The cache is not even imported unless a path is in it.
"""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from hlo_lsp.text.remote_names import CACHE_MARK, public

_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")
_MAX_AHEAD = 8  # compiles whose files are downloaded while others are read
Unlisted = dict[Path, tuple[str, str]]
"""URLs that cannot be listed, each with the reason, by the path that stands for it."""

_unlisted: Unlisted = {}
_shown: dict[Path, str] = {}


def is_url(text: str) -> bool:
    """Return whether a text is a URL, such as ``s3://bucket/dumps``, and not a local path."""
    return _URL.match(text) is not None


def is_remote(path: Path) -> bool:
    """Return whether a path is that of a remote file or folder."""
    return CACHE_MARK in str(path) or path in _unlisted


def local_path(text: str) -> Path:
    """Return the path of a file or a folder; the files at a URL are listed, but not read.

    Raises:
        RemoteError: The URL cannot be read, a package for it is missing, or the cache cannot be
            written.
    """
    if not is_url(text):
        return Path(text)
    from hlo_lsp.text import remote_cache  # noqa: PLC0415

    return remote_cache.cached_path(text)


def path_of_input(text: str) -> Path:
    """Return a path as ``local_path`` does; if that fails, opening the path reports why."""
    try:
        return local_path(text)
    except OSError as error:
        path = Path(text).absolute()
        _unlisted[path] = text, error.strerror or str(error)
        return path


def unlisted() -> Unlisted:
    """Return the paths for URLs that cannot be listed, for other processes."""
    return dict(_unlisted)


def add_unlisted(paths: Unlisted) -> None:
    """Let paths stand for URLs that cannot be listed, as in the process that noticed it."""
    _unlisted.update(paths)


def show_as(path: Path, name: str) -> None:
    """Let a local path be shown with another name."""
    _shown[path] = name


def shown(path: Path) -> str:
    """Return the URL of a remote path, or another path as it is."""
    if not is_remote(path):
        return _shown.get(path) or str(path)
    from hlo_lsp.text import remote_cache  # noqa: PLC0415

    if path in _unlisted:
        return public(_unlisted[path][0])
    url = remote_cache.url_of(path)
    return str(path) if url is None else public(url)


def urls_of(paths: Iterable[Path]) -> dict[Path, str]:
    """Return the URLs of those of the paths that are remote, with passwords and signatures."""
    remote = [path for path in paths if is_remote(path)]
    if not remote:
        return {}
    from hlo_lsp.text import remote_cache  # noqa: PLC0415

    return {path: url for path in remote if (url := remote_cache.url_of(path)) is not None}


def is_within(path: Path, top: Path) -> bool:
    """Return whether a remote path is another one or below it; links to the cache are equal."""
    parts, top_parts = (Path(str(one).partition(CACHE_MARK)[2]).parts for one in (path, top))
    return bool(top_parts) and parts[: len(top_parts)] == top_parts


def parent_of(folder: str) -> str:
    """Return the parent of a folder; that of the remote folders is the current folder."""
    parent = os.path.dirname(folder)
    return os.getcwd() if os.path.join(parent, "").endswith(CACHE_MARK) else parent


def remote_stamp(path: Path) -> tuple[int, int] | None:
    """Return the modification time (ns) and the size (bytes) of a remote file, else None."""
    if not is_remote(path):
        return None
    from hlo_lsp.text import remote_cache  # noqa: PLC0415

    file = remote_cache.remote_file(path)
    return None if file is None else file.stamp


def open_remote(path: Path) -> BinaryIO | None:
    """Open a remote file, and download it before if necessary; return None for other files.

    Raises:
        RemoteError: The file cannot be downloaded.
    """
    if not is_remote(path):
        return None
    from hlo_lsp.text import remote_cache, remote_errors  # noqa: PLC0415

    if path in _unlisted:
        raise remote_errors.RemoteError(_unlisted[path][1])
    return remote_cache.open_file(path)


def fetch(path: Path) -> None:
    """Download a remote file if necessary, so that other programs can read it.

    Raises:
        RemoteError: The file cannot be downloaded.
    """
    file = open_remote(path)
    if file is not None:
        file.close()


class _HasPath(Protocol):
    @property
    def path(self) -> Path: ...


_T = TypeVar("_T", bound=_HasPath)


def read_ahead(compiles: Iterable[_T], files_of: Callable[[_T], Iterable[Path]]) -> Iterator[_T]:
    """Yield compiles; meanwhile, the remote files that the following ones need are downloaded."""
    ahead: deque[_T] = deque()
    for one in compiles:
        if not is_remote(one.path):
            yield one
            continue
        from hlo_lsp.text import remote_cache  # noqa: PLC0415

        for file in files_of(one):
            remote_cache.prefetch(file)
        ahead.append(one)
        if len(ahead) > _MAX_AHEAD:
            yield ahead.popleft()
    yield from ahead
