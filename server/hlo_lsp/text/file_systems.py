"""Remote folders and files, through fsspec, which is imported when a URL is given."""

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice
from operator import attrgetter
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Thread, get_ident
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.text.compression import ExpansionError, require_zip_ratio
from hlo_lsp.text.pages import MAX_LINKS, page_class, urls_below
from hlo_lsp.text.remote_errors import LOST, NO_ANSWER, RemoteError, installing, remote_errors
from hlo_lsp.text.remote_names import NAME_COLON, normalized, protocols_of

_HTTP = ("http", "https")
_S3 = ("s3", "s3a")
_S3_ATTEMPTS = 5  # of s3fs
_S3_LIMITS = "config_kwargs"
_SSH = ("ssh", "sftp")
_SSH_LIMITS = ("timeout", "banner_timeout", "auth_timeout")
# Each thread has a connection; a server refuses some of more than ten that are not yet open.
_OPENING_SSH = BoundedSemaphore(4)
# Where a file system has the server that settings outside the URL select, such as environment
# variables and config files.
_SERVER_ATTRIBUTES = {
    **dict.fromkeys(_S3, "s3.meta.endpoint_url"),
    **dict.fromkeys(("gs", "gcs"), "base"),
    **dict.fromkeys(("az", "abfs", "abfss"), "service_client.primary_hostname"),
}
# A bucket has one content on all hosts of these.
_COMMON_SERVER = re.compile(r"https://([^/]+\.)?(amazonaws|googleapis)\.com(/|$)")
_MAX_HTTP_DEPTH = 8  # of folders; a server may answer each URL with the same page
_MAX_GROWTH_BYTES = 4 << 30  # of a file after it was listed; the size of some is unknown
_PROVIDERS = ("azure", "google", "paramiko")  # packages that file systems use
_NO_LOG = logging.NullHandler()
_HEAD_REQUESTS = 32  # at the same time
_CONNECT_SECONDS = 30
_READ_SECONDS = 30  # between two parts of an answer
_ANSWER_SECONDS = 120  # until the first answer, with all attempts
_LIST_SECONDS = 600  # for a whole list; S3 lists a million files in four minutes
_WINDOW_SECONDS = 60  # in which a file must grow by as many bytes as follow
_MIN_WINDOW_BYTES = 1 << 15
_PROGRESS_SECONDS = 0.5  # between two looks at the progress of a file
_WAIT_SECONDS = 0.004  # between two checkpoints, as a job of the server may take
_TOO_LONG = "listing the files takes too long; give the URL of one of the folders"
_TOO_MANY = f"the server lists more than {MAX_LINKS:,} files; give the URL of one of the folders"
# Their packages ask several times.
_RETRYING = (*_S3, "gs", "gcs", "az", "abfs", "abfss")
_GS = ("gs", "gcs")
_GS_ATTEMPTS = 6  # of gcsfs
_GS_LIMITS = "session_kwargs"
# What changes with the content, by the names that file systems use.
_VERSION_KEYS = ("ETag", "etag", "generation", "md5Hash", "content_md5", "Content-MD5", "CRC")
_TIME_KEYS = ("LastModified", "last_modified", "Last-Modified", "mtime", "updated", "created",
              "date_time")  # fmt: skip

_T = TypeVar("_T")
# The open archives, by the thread that downloads: fsspec keeps all other file systems itself.
_archives: dict[int, tuple[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A version of a remote file: its size in bytes, and its modification time in ns.

    The microseconds of the time are a hash of the version that the server states, such as an ETag.
    """

    url: str
    modified: int
    size: int

    @property
    def stamp(self) -> tuple[int, int]:
        """The time and the size, as :func:`hlo_lsp.text.disk.file_stamp` returns them."""
        return self.modified, self.size


@dataclass(frozen=True, slots=True)
class RemoteTree:
    """The files below a URL, or the files beside it if the URL is that of a file.

    ``top`` is the local path of the URL, and ``files`` are by local path, both relative to the
    cache. ``folders`` are the URLs of ``top`` and of the folders below it.
    """

    top: PurePosixPath
    files: dict[PurePosixPath, RemoteFile]
    folders: dict[PurePosixPath, str]


def list_tree(url: str) -> RemoteTree:
    """Return the files below a URL, or beside it.

    Raises:
        RemoteError: The URL cannot be read, or a package is missing.
    """
    url = normalized(url)
    _archives.clear()
    with remote_errors(url):
        listing = _Listing(url)

        def check() -> None:
            checkpoint()
            listing.require_time()

        return _watched(listing.tree, check, _WAIT_SECONDS)


def _watched(work: Callable[[], _T], check: Callable[[], None], seconds: float) -> _T:
    """Return the result of work in a thread, which is given up if ``check`` raises an error.

    A package can wait in a way that neither ends in time nor with Ctrl-C.

    Args:
        work: The work.
        check: Called until the work ends.
        seconds: The time between two calls.
    """
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # the waiting thread raises it
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    while not wait([future], seconds).done:
        check()
    return future.result()


class _Listing:
    """The listing of a URL, and its time limits."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._start = time.monotonic()
        self._is_answered = False
        self._links = 0

    def tree(self) -> RemoteTree:
        """Return the files below the URL, or beside it."""

        def locate() -> tuple["_Location", bool]:
            fs, path = file_system(self._url)
            fs.invalidate_cache()
            location = _Location(fs, self._url, path, self)
            return location, location.is_file()

        self.require_time()
        location, is_file = _answer(locate, self._url)
        self._is_answered = is_file or not location.is_http  # No request shows a folder of HTTP.
        return location.file_tree() if is_file else location.folder_tree()

    def answer(self, ask: Callable[[], _T]) -> _T:
        """Return an answer of the server; ask again once if none arrives, or not as a whole.

        Raises:
            RemoteError: The server does not answer, or with an error.
        """
        self.require_time()
        found = _answer(ask, self._url)
        self._is_answered = True
        return found

    def add_links(self, count: int) -> None:
        """Note links on a page.

        Raises:
            RemoteError: There are too many.
        """
        self._links += count
        if self._links > MAX_LINKS:
            raise RemoteError(_TOO_MANY)

    def left_seconds(self) -> float:
        """Return the time that is left."""
        limit = _LIST_SECONDS if self._is_answered else _ANSWER_SECONDS
        return self._start + limit - time.monotonic()

    def require_time(self) -> None:
        """Raise an error if no time is left.

        Raises:
            RemoteError: No time is left.
        """
        if self.left_seconds() < 0:
            raise RemoteError(_TOO_LONG if self._is_answered else NO_ANSWER)


def _answer(ask: Callable[[], _T], url: str) -> _T:
    attempts = 1 if protocols_of(url)[-1] in _RETRYING else 2
    for number in range(attempts):
        try:
            with remote_errors(None):
                return ask()
        except RemoteError as error:
            if number + 1 == attempts or error.strerror not in {NO_ANSWER, LOST}:
                raise
    raise AssertionError


def download(file: RemoteFile, target: Path, partial: Path) -> RemoteFile:
    """Write a remote file to ``target``, which exists afterwards only as a whole.

    Args:
        file: The file, as it was listed.
        target: The file to write or to replace.
        partial: A folder on the same disk for the incomplete file.

    Returns:
        The version that was read, which is a later one if the file has changed.

    Raises:
        RemoteError: The file cannot be read as a whole.
        OSError: The target cannot be written.
    """
    attempts: list[Path] = []

    def copied() -> tuple[Any, str]:
        attempts.append(partial / uuid4().hex)  # An earlier attempt may still write to its file.
        return _copied(file, attempts[-1])

    try:
        with remote_errors(None):
            fs, path = _answer(copied, file.url)
            incomplete = attempts[-1]
            size = incomplete.stat().st_size
            if size != file.size:
                if _archives.pop(get_ident(), None) is not None:
                    fs, path = file_system(file.url)
                fs.invalidate_cache()
                file = _remote_file(file.url, fs.info(path))
                if size < file.size:
                    raise RemoteError(f"the file ended after {size:,} of {file.size:,} bytes")
                file = RemoteFile(file.url, file.modified, size)
        os.utime(incomplete, ns=(time.time_ns(), file.modified))
        os.replace(incomplete, target)
    finally:
        for attempt in attempts:
            attempt.unlink(missing_ok=True)
    return file


def _copied(file: RemoteFile, target: Path) -> tuple[Any, str]:
    """Copy a file, and return its file system and the path in it."""
    fs, path = _kept_file_system(file.url)
    packed = fs.info(path).get("compress_size") if "::" in file.url else None
    if packed is not None:
        try:
            require_zip_ratio(file.size, packed)
        except ExpansionError as error:
            raise RemoteError(str(error)) from None
    progress = _Progress(file.size)

    def copy() -> None:
        if type(fs).__module__.startswith("fsspec.") and hasattr(fs, "ftp"):
            # Its method has no callback.
            fs.ftp.get(path, str(target), callback=progress.to)
        else:
            fs.get_file(path, str(target), callback=_callback(progress))

    try:
        # The callback sees no headers, which can come byte by byte without an end.
        _watched(copy, progress.require, _PROGRESS_SECONDS)
    except BaseException as error:
        _archives.pop(get_ident(), None)
        if isinstance(error, TimeoutError) and protocols_of(file.url)[-1] in _SSH:
            fs.clear_instance_cache()  # the next file has another connection
        raise
    return fs, path


class _Progress:
    """The progress of a file, which ends with an error if it is too slow, or has no end."""

    def __init__(self, size: int) -> None:
        self._max_bytes = size + _MAX_GROWTH_BYTES
        self._bytes = 0
        self._window_start = time.monotonic()
        self._window_bytes = 0

    def to(self, count: int, _total: object = None) -> None:
        """Note the number of all bytes.

        Raises:
            RemoteError: There are too many, or too few for the time.
        """
        self._bytes = count
        if count > self._max_bytes:
            raise RemoteError(f"the file does not end after {count:,} bytes")
        self.require()

    def require(self) -> None:
        """Require enough bytes in the time so far.

        Raises:
            RemoteError: There are too few.
        """
        now = time.monotonic()
        if now > self._window_start + _WINDOW_SECONDS:
            if self._bytes < self._window_bytes + _MIN_WINDOW_BYTES:
                raise RemoteError(NO_ANSWER)
            self._window_start, self._window_bytes = now, self._bytes


def _callback(progress: _Progress) -> Any:
    from fsspec.callbacks import Callback  # noqa: PLC0415  # as for the file system

    return Callback(hooks={"progress": lambda _, count, **_more: progress.to(count)})


class _Location:
    """A URL in its file system."""

    def __init__(self, fs: Any, url: str, path: str, listing: _Listing) -> None:
        self._fs = fs
        self._listing = listing
        head, separator, rest = url.partition("::")
        self._head = head if "://" in head else f"{head}://"
        self._rest = separator + rest
        parts = urlsplit(self._head)
        self.is_http = parts.scheme in _HTTP
        self._path = path
        # URLs that differ in these have the same names of files, but can have other content.
        user = parts.netloc.rpartition("@")[0]
        options = (
            {"user": user, "query": parts.query}
            if self.is_http
            else {**fs.storage_options, "server": _server(url.rpartition("::")[2])}
        )
        unused = {_S3_LIMITS, _GS_LIMITS, *_SSH_LIMITS}
        self._options = {key: one for key, one in options.items() if one and key not in unused}

    def is_file(self) -> bool:
        """Return whether the URL is that of a file."""
        if self.is_http and self._path.endswith("/"):
            return False
        info = self._fs.info(self._path)
        if self.is_http:
            ending = PurePosixPath(urlsplit(self._path).path).suffix
            return info.get("mimetype") != "text/html" or bool(ending)
        return bool(info["type"] != "directory")

    def folder_tree(self) -> RemoteTree:
        """Return the files below the folder."""
        if self.is_http:
            found = self._with_facts(self._links(self._path, _MAX_HTTP_DEPTH))
            if not found:
                raise RemoteError("the server lists no files here; give the URL of a file")
        else:
            found = self._found()
            if not found and not self._fs.exists(self._path):
                raise FileNotFoundError
        return self._tree(self._local(self._path), self._path, found)

    def _found(self) -> dict[str, dict[str, Any]]:
        """Return all files of a folder."""
        found: dict[str, dict[str, Any]]
        if self._fs.async_impl:
            from fsspec.asyn import sync  # noqa: PLC0415  # as for the file system

            # It stops when the time is over, also in a process that goes on.
            seconds = max(self._listing.left_seconds(), 1)
            arguments = self._fs.loop, self._fs._find, self._path
            found = sync(*arguments, detail=True, timeout=seconds)
        else:
            found = self._listing.answer(lambda: self._fs.find(self._path, detail=True))
        return found

    def file_tree(self) -> RemoteTree:
        """Return the file and those beside it, which may be of the same compile."""
        # A query may contain slashes.
        name = self._path.partition("?")[0] if self.is_http else self._path
        parent = name.rpartition("/")[0]
        self._head = urlsplit(self._head)._replace(query="").geturl().rpartition("/")[0] + "/"
        try:
            if self.is_http:
                urls = self._page(parent + "/")
                beside = self._with_facts(url for url in urls if not url.endswith("/"))
            else:
                listed = self._fs.ls(parent, detail=True)
                beside = {info["name"]: info for info in listed if info["type"] != "directory"}
        except Exception:  # noqa: BLE001  # of any file system: it may allow to read, but not to list
            beside = {}
        if not beside:
            # Apart from other files of this folder: no later list shows whether these still exist.
            self._options["file"] = self._path
        files = {} if self._path in beside else {self._path: self._fs.info(self._path)}
        return self._tree(self._local(self._path), parent, {**beside, **files})

    def _tree(
        self, top: PurePosixPath, root: str, found: Mapping[str, Mapping[str, Any]]
    ) -> RemoteTree:
        """Return the tree of files by their path below ``root``; unsafe names are left out."""
        base = self._head if self._head.endswith("/") else self._head + "/"
        folder = self._local(root)
        if not all(map(_is_safe, top.parts)):
            raise RemoteError("this path cannot be a path in the cache")
        files: dict[PurePosixPath, RemoteFile] = {}
        folders = {folder: base + self._rest}
        for path, info in found.items():
            local = self._local(path)
            if not all(map(_is_safe, local.parts)) or folder not in local.parents:
                continue
            if not path.endswith("/"):  # a bucket can have an empty object for a folder
                name = path[len(root) :].removeprefix("/")
                url = base + name.replace(":", NAME_COLON) + self._rest
                url = path.replace("::", "%3A%3A") if self.is_http else url
                files[local] = _remote_file(url, info)
            for parent in local.parents:
                if parent in folders:
                    break
                folders[parent] = base + str(parent.relative_to(folder)) + "/" + self._rest
        return RemoteTree(top, files, folders)

    def _links(self, folder: str, depth: int) -> Iterator[str]:
        """Yield the URLs of files on the page of a folder and on those of its folders."""
        for url in self._listing.answer(lambda: self._page(folder)):
            if not url.endswith("/"):
                yield url
            elif depth:
                yield from self._links(url, depth - 1)

    def _page(self, folder: str) -> list[str]:
        """Return the URLs on the page of a folder."""
        urls = list(islice(urls_below(self._fs.cat_file(folder), folder), MAX_LINKS + 1))
        self._listing.add_links(len(urls))
        return urls

    def _with_facts(self, urls: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return size and version of the files on a page, which has only their names."""
        found: dict[str, dict[str, Any]] = {url: {} for url in urls}
        left: SimpleQueue[str] = SimpleQueue()
        for url in found:
            left.put(url)
        unanswered = 0  # in a row

        def ask() -> None:
            nonlocal unanswered
            with suppress(Empty):
                while unanswered < _HEAD_REQUESTS and self._listing.left_seconds() > 0:
                    url = left.get_nowait()
                    try:
                        with remote_errors(None):
                            found[url] = self._fs.info(url)
                        unanswered = 0
                    except RemoteError as error:  # reading the file reports it
                        unanswered = unanswered + 1 if error.strerror == NO_ANSWER else 0

        # Those of a pool would keep the process from ending while they wait for a server.
        threads = [Thread(target=ask, daemon=True) for _ in range(min(len(found), _HEAD_REQUESTS))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    def _local(self, path: str) -> PurePosixPath:
        protocol = urlsplit(self._head).scheme
        text = json.dumps(self._options, sort_keys=True, default=str)
        root = f"{protocol}-{_hash(text):08x}" if self._options else protocol
        return PurePosixPath(root, *self._parts(path))

    def _parts(self, path: str) -> list[str]:
        """Return the parts of a path as names of files and folders."""
        host = []
        if self.is_http:
            url = urlsplit(path)
            host, path = [url.netloc.rpartition("@")[2].replace(":", "_")], url.path
        path = path.strip("/")
        names = path.split("/") if path else []
        if self.is_http:
            names = list(map(unquote, names))
        # A bucket permits empty names, and a server an escaped slash.
        return host + [name.replace("/", "%2F") or "%2F" for name in names]


def file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415  # it takes 0.1 s, and is optional
    except ImportError:
        raise RemoteError(f"reading URLs requires fsspec: {installing('fsspec[http]')}") from None
    protocols = protocols_of(url)
    options = {one: _time_limits(one) for one in protocols}
    with _OPENING_SSH if protocols[-1] in _SSH else nullcontext():
        fs, path = url_to_fs(url, **options)
        if protocols[0] in _SSH and hasattr(fs, "ftp"):  # other packages can read these URLs, too
            if fs.ftp.get_channel().closed:  # fsspec keeps a file system with a lost connection
                fs.clear_instance_cache()
                fs, path = url_to_fs(url, **options)
            fs.ftp.get_channel().settimeout(_READ_SECONDS)  # by default, it waits forever
    for package in (type(fs).__module__.partition(".")[0], *_PROVIDERS):
        # Without a handler, Python prints its warnings, which the message for the user repeats.
        logging.getLogger(package).addHandler(_NO_LOG)
    return fs, path.replace(NAME_COLON, ":")


def _kept_file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it; the same archive is opened once.

    fsspec keeps file systems, but not those of archives such as ``zip``, whose list of files is
    read as a whole. An archive is kept for the next file of the thread, until the next listing.
    """
    inside, separator, archive = url.partition("::")
    key = f"{protocols_of(url)[0]}::{archive}"
    known = _archives.get(get_ident())
    if known is not None and known[0] == key:
        fs = known[1]
        return fs, fs._strip_protocol(inside).replace(NAME_COLON, ":")
    fs, path = file_system(url)
    if separator and not fs.cachable:
        _archives[get_ident()] = key, fs
    return fs, path


def _server(url: str) -> str | None:
    """Return the server that has a bucket or a container; None for the usual one."""
    attribute = _SERVER_ATTRIBUTES.get(urlsplit(url).scheme)
    if attribute is None:
        return None
    found = str(attrgetter(attribute)(file_system(url)[0]))
    return None if _COMMON_SERVER.match(found) else found


def _time_limits(protocol: str) -> dict[str, Any]:
    """Return the options of a file system with which it gives up in time."""
    if protocol in _HTTP:
        # By default, a file that takes more than 5 minutes is given up.
        return {"client_kwargs": {"timeout": _http_timeout(), "response_class": page_class()}}
    if protocol in _GS:
        return {_GS_LIMITS: {"timeout": _http_timeout(_GS_ATTEMPTS / 2)}}
    if protocol in _SSH:
        return dict.fromkeys(_SSH_LIMITS, _CONNECT_SECONDS)
    if protocol in _S3:
        from fsspec.config import conf  # noqa: PLC0415

        # By default, it waits for a minute 25 times.
        limits = {
            "connect_timeout": 2 * _CONNECT_SECONDS / _S3_ATTEMPTS,
            "read_timeout": 2 * _READ_SECONDS / _S3_ATTEMPTS,
            "retries": {"max_attempts": 1},
        }
        return {_S3_LIMITS: {**limits, **conf.get(protocol, {}).get(_S3_LIMITS, {})}}
    return {}


def _http_timeout(attempts: float = 1) -> Any:
    from aiohttp import ClientTimeout  # noqa: PLC0415  # an optional package

    connect, read = _CONNECT_SECONDS / attempts, _READ_SECONDS / attempts
    return ClientTimeout(total=None, sock_connect=connect, sock_read=read)


def _is_safe(part: str) -> bool:
    """Return whether a part of a remote path can be the name of a file in the cache."""
    if part in {".", ".."} or "\0" in part or len(os.fsencode(part)) > 255:
        return False
    return os.name != "nt" or not re.search(r'[<>:"|?*\\]', part)


def _remote_file(url: str, info: Mapping[str, Any]) -> RemoteFile:
    version = [str(info[key]) for key in _VERSION_KEYS if info.get(key)]
    modified = next((info[key] for key in _TIME_KEYS if info.get(key)), None)
    size = int(info.get("size") or 0)
    if modified is None and not version:
        return RemoteFile(url, time.time_ns() // 1000 * 1000, size)  # always new
    seconds = int(_timestamp(modified))
    microseconds = _hash(f"{version} {modified}") % 1_000_000
    return RemoteFile(url, (seconds * 1_000_000 + microseconds) * 1000, size)


def _timestamp(modified: Any) -> float:
    """Return the seconds since 1970 of a time in one of the forms of file systems."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # it loads sockets

    try:
        if isinstance(modified, str):
            is_iso = modified[:4].isdecimal()
            modified = (
                datetime.fromisoformat(modified.replace("Z", "+00:00"))
                if is_iso
                else parsedate_to_datetime(modified)
            )
        elif isinstance(modified, tuple):
            modified = datetime(*modified[:6]).replace(tzinfo=timezone.utc)
        found = modified.timestamp() if isinstance(modified, datetime) else float(modified or 0)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return max(0.0, min(found, 2**33))


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
