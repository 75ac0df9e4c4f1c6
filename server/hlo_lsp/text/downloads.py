"""Threads that download remote files, and the limit of the cache."""

import os
import stat
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from urllib.parse import urlsplit
from uuid import uuid4

from hlo_lsp.text.file_systems import RemoteFile, download
from hlo_lsp.text.remote_errors import NO_ANSWER, RemoteError

_DOWNLOADS = 16  # at the same time
_DEFAULT_CACHE_GIB = 10.0
_MAX_PARTIAL_SECONDS = 86_400  # after that, the process that wrote it has ended


def write_empty(path: Path, modified: int) -> None:
    """Create an empty file with the time of the remote one, but without its version.

    Code that opens it by another way than ``open_regular_file`` fails, if the system permits that,
    and does not take it for an empty dump.

    Raises:
        FileExistsError: The file exists, perhaps complete.
    """
    path.touch(mode=0 if os.name == "posix" else 0o666, exist_ok=False)
    os.utime(path, ns=(0, modified // 10**9 * 10**9))


def is_complete(path: Path, expected: RemoteFile) -> bool:
    """Return whether a file has the time and the size of a version of a remote file."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_mtime_ns, status.st_size) == expected.stamp


def is_left_over(partial: Path) -> bool:
    """Return whether an incomplete file, or a folder for some, is so old that nobody uses it."""
    try:
        return partial.stat().st_mtime < time.time() - _MAX_PARTIAL_SECONDS
    except OSError:
        return False


class Downloads:
    """Threads that download files; they end with the process, also in the middle of a file."""

    def __init__(self) -> None:
        self.process = os.getpid()  # a fork has none of the threads
        self._running: dict[Path, Future[RemoteFile]] = {}
        self._tasks: SimpleQueue[tuple[Path, str, Callable[[], RemoteFile]]] = SimpleQueue()
        self._unanswered: Counter[str] = Counter()  # files in a row, by server
        for _ in range(_DOWNLOADS):
            Thread(target=self._work, daemon=True).start()

    def start(
        self,
        file: RemoteFile,
        target: Path,
        partial: Path,
        complete: Callable[[RemoteFile], object] = lambda _: None,
    ) -> Future[RemoteFile]:
        """Start to download a file, unless it is being downloaded.

        Args:
            file: The remote file.
            target: The path of the complete file.
            partial: A folder for the incomplete file.
            complete: Called with the version that was read, before the result is available.
        """

        def task() -> RemoteFile:
            found = download(file, target, partial)
            complete(found)
            return found

        future: Future[RemoteFile] = Future()
        running = self._running.setdefault(target, future)
        if running is future:
            url = urlsplit(file.url.rpartition("::")[2])
            self._tasks.put((target, f"{url.scheme}://{url.netloc}", task))
        return running

    def _work(self) -> None:
        while True:
            if self._tasks.empty():
                self._unanswered.clear()  # The next file is another attempt.
            target, server, task = self._tasks.get()
            future = self._running[target]
            try:
                # Each of thousands of files would wait for a minute.
                if self._unanswered[server] >= _DOWNLOADS and not self._tasks.empty():
                    raise RemoteError(NO_ANSWER)
                found = task()
            except BaseException as error:  # noqa: BLE001  # the waiting thread raises it
                is_unanswered = isinstance(error, RemoteError) and error.strerror == NO_ANSWER
                self._unanswered[server] = self._unanswered[server] + 1 if is_unanswered else 0
                del self._running[target]
                future.set_exception(error)
            else:
                self._unanswered[server] = 0
                del self._running[target]
                future.set_result(found)


_running: list[Downloads] = []


def downloads() -> Downloads:
    """Return the downloads of this process."""
    if not _running or _running[0].process != os.getpid():
        _running[:] = [Downloads()]
    return _running[0]


class CacheLimit:
    """Empties the files that were not used for the longest time when the cache is too large."""

    def __init__(self, is_listed: Callable[[Path], bool]) -> None:
        self._is_listed = is_listed
        self._lock = Lock()
        self._new_bytes = float("inf")  # unknown

    def add(self, cache: Path, size: int) -> None:
        """Note a new file with this number of bytes."""
        self._new_bytes += size
        limit = _max_cache_bytes()
        if self._new_bytes > limit / 16 and self._lock.acquire(blocking=False):
            try:
                self._new_bytes = 0.0
                trim(cache, limit, self._is_listed)
            finally:
                self._lock.release()


def _max_cache_bytes() -> float:
    try:
        return float(os.environ.get("HLO_LSP_CACHE_GIB", "")) * (1 << 30)
    except ValueError:
        return _DEFAULT_CACHE_GIB * (1 << 30)


def trim(cache: Path, limit: float, is_listed: Callable[[Path], bool]) -> None:
    """Empty listed files of the cache until it has at most ``limit`` bytes; the last one stays."""
    for left in (cache / "partial").iterdir():
        if is_left_over(left):
            with suppress(OSError):
                left.unlink()
    found = []
    for folder, _, names in os.walk(cache / "trees"):
        for name in names:
            path = Path(folder, name)
            with suppress(OSError):
                status = path.lstat()
                if status.st_size and stat.S_ISREG(status.st_mode) and is_listed(path):
                    found.append((status.st_atime_ns, status.st_size, status.st_mtime_ns, path))
    total = sum(size for _, size, _, _ in found)
    for _, size, modified, path in sorted(found)[:-1]:
        if total <= limit:
            return
        empty = cache / "partial" / uuid4().hex
        with suppress(OSError):
            write_empty(empty, modified)
            os.replace(empty, path)
            total -= size
