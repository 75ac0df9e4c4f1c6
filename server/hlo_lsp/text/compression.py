"""Decompression in pieces, with limits for data that expands to far more than its size."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

from hlo_lsp.background_jobs import checkpoint

DAMAGES = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, OSError)
"""The errors of streams whose compressed data is damaged."""

GZIP_MARK = b"\x1f\x8b"
_PIECE_BYTES = 1 << 20
_MIN_REFUSED_BYTES = 2 << 20
# Dumps and profiles have ratios of at most 31 with gzip, 139 with bzip2, and 421 with xz, for a
# values file of 210 MB; a larger one has more with xz and bzip2, which find distant repetitions.
# Data without content has ratios of 1,030, more than 100,000, and 6,900.
_MAX_GZIP_RATIO = 200
_MAX_RATIO = 2000


class ExpansionError(Exception):
    """Data that expands to too much; the message is the reason."""


class Expanded:
    """The content of compressed data.

    ``ExpansionError`` is raised as soon as it is more than 2 MiB, and more than so many times
    larger than what was read for it as no dump is.
    """

    def __init__(self, stream: Any, source: Any, max_ratio: int) -> None:
        self._stream = stream
        self._source = source
        self._max_ratio = max_ratio
        self._size = 0

    def __enter__(self) -> "Expanded":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int) -> bytes:
        """Return this number of bytes, fewer at the end."""
        return self._checked(self._stream.read(size))

    def read1(self, size: int) -> bytes:
        """Return at most this number of bytes; unlike `read`, also those just before a damage."""
        return self._checked(self._stream.read1(size))

    def _checked(self, data: bytes) -> bytes:
        self._size += len(data)
        _require_ratio(self._size, self._source.tell(), self._max_ratio)
        return data


def _require_ratio(size: int, packed: int, max_ratio: int) -> None:
    if size > _MIN_REFUSED_BYTES and size > packed * max_ratio:
        times = f"more than {max_ratio:,} times larger"
        raise ExpansionError(f"the content is {times} than the compressed data")


def require_zip_ratio(size: int, packed: int) -> None:
    """Require that a member of a zip archive does not expand to more than dumps do.

    Args:
        size: The bytes of the content.
        packed: The bytes in the archive.

    Raises:
        ExpansionError: The content is too large for them.
    """
    _require_ratio(size, packed, _MAX_GZIP_RATIO)


def expanded(source: Any, name: str) -> Any:
    """Return the content of a file that is open for reading, which its name says is compressed.

    The result has ``read``, ``read1``, and the methods of a context manager. Reading it raises one
    of ``DAMAGES`` or ``ExpansionError``.
    """
    if name.endswith((".gz", ".tgz")):
        return Expanded(gzip.GzipFile(fileobj=source), source, _MAX_GZIP_RATIO)
    if name.endswith((".xz", ".txz")):
        return Expanded(lzma.LZMAFile(source), source, _MAX_RATIO)
    if name.endswith((".bz2", ".tbz2")):
        return Expanded(bz2.BZ2File(source), source, _MAX_RATIO)
    return source


def pieces(stream: Any, max_bytes: int) -> Iterator[bytes]:
    """Yield the content of a stream, up to a damage.

    Args:
        stream: The stream.
        max_bytes: The largest size of the content.

    Raises:
        ExpansionError: The content is larger.
    """
    limit = f"{max_bytes / (1 << 30):.3g} GiB"
    while piece := stream.read1(_PIECE_BYTES):
        max_bytes -= len(piece)
        if max_bytes < 0:
            raise ExpansionError(f"the content is larger than {limit}")
        checkpoint()
        yield piece
