"""Files on disk as documents."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.text import remote
from hlo_lsp.text.document import Document

_BUFFER_BYTES = 1 << 20
_MAX_SMALL_BYTES = 1 << 23  # of a file that is split as a whole, which takes at most 10 ms
_BYTES_PER_CHECKPOINT = 1 << 18  # about 1 ms of work
_BYTE_ORDER_MARK = "\ufeff".encode()
_BINARY_CHECK_BYTES = 8192  # a file with a NUL in its first bytes is binary
# Disks that compress their files need at least a hundredth of a dump.
_MAX_SPARSE_RATIO = 2000
_MIN_SPARSE_BYTES = 2 << 20
_BLOCK_BYTES = 512  # of st_blocks
_RIEGELI_ENDING = ".riegeli"
_RIEGELI_SIGNATURE = b"\x83\xafp\xd1\r\x88J?"  # the hash of the first block header
_MIN_INTERNED_BYTES = 200  # shorter lines are not worth a look-up
_FREQUENT_LINES = {b" positions:\n": " positions:", b" uses:\n": " uses:"}
# Blocks with longer lines, or of a values file, have many equal lines. Others are split at once.
_MAX_MEAN_BYTES = 400
_IN_VALUES = b"\n uses:\n"


class UnreadableError(Exception):
    """A file that cannot be read as text; the message is shown to the user."""


class BinaryFileError(UnreadableError):
    """A file that is not text."""


def open_regular_file(path: Path) -> BinaryIO:
    """Open a file for reading; a pipe or a device is never opened, as that could wait forever.

    Raises:
        OSError: the file is missing or forbidden, or a remote one cannot be downloaded.
        UnreadableError: it is a folder, a pipe, or a device, or nearly all of it is a hole.
    """
    remote_file = remote.open_remote(path)
    if remote_file is not None:
        return remote_file
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(f"{remote.shown(path)}: not a regular file")
    # Some file systems report no blocks for any file, and Windows has none.
    on_disk = getattr(status, "st_blocks", 0) * _BLOCK_BYTES
    if on_disk and status.st_size > _MIN_SPARSE_BYTES + on_disk * _MAX_SPARSE_RATIO:
        reason = f"more than {_MAX_SPARSE_RATIO:,} times larger than its part on the disk"
        raise UnreadableError(f"{remote.shown(path)}: a sparse file, {reason}")
    return path.open("rb", buffering=_BUFFER_BYTES)


def unreadable(path: Path, error: OSError) -> UnreadableError:
    """Return the error of a file that the system cannot read."""
    return UnreadableError(f"{remote.shown(path)}: {error.strerror or error}")


@contextmanager
def open_readable(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading.

    Raises:
        UnreadableError: the file is missing, a folder, or forbidden, or reading it fails.
    """
    try:
        with open_regular_file(path) as file:
            yield file
    except OSError as error:
        raise unreadable(path, error) from error


def read_document(path: Path) -> Document:
    r"""Read a whole file.

    Bytes that are not UTF-8 become U+FFFD. Equal long lines share one string: 98% of a large
    values file repeats the same instruction for every element of its tuple. No compiler writes
    ``\r``, so a file with one is split as a whole.

    Raises:
        UnreadableError: the file is missing, a folder, forbidden, or not text.
    """
    with open_readable(path) as file:
        _require_text(path, file.read(_BINARY_CHECK_BYTES))
        file.seek(0)
        return document_of(file)


def read_document_if(
    path: Path, accepts: Callable[[list[str]], bool], count: int = _BUFFER_BYTES
) -> tuple[Document, bool]:
    """Read a whole file, or its first ``count`` bytes if their lines are not accepted.

    Returns:
        The document, and whether it is the whole file, which a smaller file is in any case.

    Raises:
        UnreadableError: the file is missing, a folder, forbidden, or not text.
    """
    with open_readable(path) as file:
        data = file.read(count)
        _require_text(path, data[:_BINARY_CHECK_BYTES])
        head = Document(decode(data))
        if len(data) < count or not accepts(head.lines):
            return head, len(data) < count
        return document_of(file), True


def document_of(file: BinaryIO) -> Document:
    """Return the document of a file that is open for reading, as :func:`read_document` does."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size < _MAX_SMALL_BYTES:
        return Document(decode(file.read()))
    if file.read(len(_BYTE_ORDER_MARK)) != _BYTE_ORDER_MARK:
        file.seek(0)
    lines: list[str] = []
    known: dict[bytes, str] = {}
    block = b"\n"
    while block_start := file.read(_BYTES_PER_CHECKPOINT):
        checkpoint()
        block = block_start + file.readline()
        if _IN_VALUES in block or len(block) >= _MAX_MEAN_BYTES * block.count(b"\n"):
            file.seek(-len(block), os.SEEK_CUR)
            block = _add_shared_lines(file, len(block), lines, known)
        else:
            lines += _decode_utf8(block.removesuffix(b"\n")).split("\n")
        if b"\r" in block:
            file.seek(0)
            return Document(decode(file.read()))
    if block.endswith(b"\n"):  # it starts an empty last line
        lines.append("")
    return Document.from_lines(lines)


def _add_shared_lines(
    file: BinaryIO, count: int, lines: list[str], known: dict[bytes, str]
) -> bytes:
    r"""Add the lines in the next bytes up to one with ``\r``, and return the last one."""
    last, text = b"", ""  # the last long line, which the next one nearly always equals
    line = b""
    while count > 0 and b"\r" not in line and (line := file.readline()):
        count -= len(line)
        if len(line) <= _MIN_INTERNED_BYTES:
            lines.append(_FREQUENT_LINES.get(line) or _decode_line(line))
        else:
            if line != last:
                last, text = line, known.get(line) or known.setdefault(line, _decode_line(line))
            lines.append(text)
    return line


def _decode_line(line: bytes) -> str:
    return _decode_utf8(line).removesuffix("\n")


def read_document_until(path: Path, ends: Callable[[str], bool]) -> Document:
    """Read the lines of a file before the first line for which ``ends`` is true.

    Raises:
        UnreadableError: the file is missing, a folder, forbidden, or not text.
    """
    with open_readable(path) as file:
        rows = TextIOWrapper(file, encoding="utf-8", errors="replace", newline="\n")
        lines = (row.rstrip("\r\n") for row in rows)
        return Document.from_lines(list(takewhile(lambda line: not ends(line), lines)))


def file_stamp(path: Path) -> tuple[int, int] | None:
    """Return the modification time (ns) and size (bytes) of a regular file, else None."""
    known = remote.remote_stamp(path)
    if known is not None:
        return known
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def file_size(path: Path) -> int:
    """Return the size of a file in bytes, 0 if there is no such file."""
    stamp = file_stamp(path)
    return 0 if stamp is None else stamp[1]


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, none if it cannot be read; it can have thousands."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def read_first_lines(path: Path, count: int = _BUFFER_BYTES) -> list[str]:
    """Return the lines in the first ``count`` bytes of a file, which suffice to detect its kind.

    Raises:
        UnreadableError: the file is missing, a folder, forbidden, or not text.
    """
    return read_document_if(path, lambda _: False, count)[0].lines


def _require_text(path: Path, head: bytes) -> None:
    if path.name.endswith(_RIEGELI_ENDING) or head.startswith(_RIEGELI_SIGNATURE):
        raise BinaryFileError(
            f"{remote.shown(path)}: this is a Riegeli file, not a text dump; to get text, replace "
            "`--xla_dump_hlo_as_riegeli` by `--xla_dump_hlo_as_text` in XLA_FLAGS"
        )
    if b"\0" in head:
        raise BinaryFileError(f"{remote.shown(path)}: this is a binary file, not a text dump")


def decode(data: bytes, offset: int = 0) -> str:
    """Decode the part of a file that begins at byte ``offset`` as :func:`read_document` does."""
    return _decode_utf8(data if offset else data.removeprefix(_BYTE_ORDER_MARK))


def _decode_utf8(data: bytes) -> str:
    return data.decode("utf-8", "replace")
