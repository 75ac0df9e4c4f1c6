"""Files on disk as documents."""

import stat
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

from hlo_lsp.text.checkpoint import checkpoint
from hlo_lsp.text.document import Document

_BUFFER_BYTES = 1 << 20  # bytes
_BYTES_PER_CHECKPOINT = (
    1 << 20
)  # bytes; about 4 ms of work, so that a server can breathe between two
_LINE_OVERHEAD_BYTES = 80  # bytes that can be read in the time that a line takes by itself
_BYTE_ORDER_MARK = "\ufeff".encode()  # some editors begin a file with it
_BINARY_CHECK_BYTES = 8192  # bytes in which a NUL gives a binary file away
_MIN_INTERNED_BYTES = 200  # characters from which on a line is worth looking for its equal
_FREQUENT_LINES = {b" positions:\n": " positions:", b" uses:\n": " uses:"}  # kept once, too


class UnreadableError(Exception):
    """A file that cannot be read as text; the message is a sentence for the user."""


class BinaryFileError(UnreadableError):
    """A file that is no text at all."""


def read_document(path: Path) -> Document:
    r"""Read a whole file.

    Bytes that are not UTF-8 become U+FFFD. Equal long lines are kept once: 98 % of a large values
    file is the same instruction printed again for every element of its tuple. No compiler writes
    ``\r``: a file with one is cut into lines in one go.

    Raises:
        UnreadableError: the file is missing, a folder, forbidden, or not text.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableError(f"{path}: this is no regular file")
        with path.open("rb", buffering=_BUFFER_BYTES) as file:
            if b"\0" in file.read(_BINARY_CHECK_BYTES):
                raise BinaryFileError(f"{path}: this is a binary file, not a text dump")
            file.seek(0)
            reader = _LineReader()
            taken = 0
            for line in file:
                if b"\r" in line:
                    file.seek(0)
                    return Document(_decode_utf8(file.read().removeprefix(_BYTE_ORDER_MARK)))
                reader.take(line)
                taken += len(line) + _LINE_OVERHEAD_BYTES
                if taken >= _BYTES_PER_CHECKPOINT:
                    taken = 0
                    checkpoint()
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
    return Document.from_lines(reader.lines())


class _LineReader:
    """Makes text of lines; a long one that was there before is not read again."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._known: dict[bytes, str] = {}
        self._last: tuple[bytes, str] = b"", ""  # nearly always the next long line is the same
        self._is_open = True  # whether the last line has no end yet

    def take(self, line: bytes) -> None:
        """Add a line with its end, which only the last may lack."""
        if not self._lines:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        self._is_open = not line.endswith(b"\n")
        if len(line) > _MIN_INTERNED_BYTES:
            text = self._long(line)
        else:
            text = _FREQUENT_LINES.get(line) or _decode_utf8(line).removesuffix("\n")
        self._lines.append(text)

    def lines(self) -> list[str]:
        """All lines; behind the last line end an empty one begins."""
        return self._lines if self._is_open and self._lines else [*self._lines, ""]

    def _long(self, line: bytes) -> str:
        if line != self._last[0]:
            text = self._known.get(line)
            if text is None:
                text = self._known[line] = _decode_utf8(line).removesuffix("\n")
            self._last = line, text
        return self._last[1]


def read_document_until(path: Path, ends: Callable[[str], bool]) -> Document:
    """The lines of a file in front of the first one for which ``ends`` is true.

    Raises:
        UnreadableError: the file is missing, a folder, forbidden, or not text.
    """
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            lines = (line.rstrip("\r\n") for line in file)
            return Document.from_lines(list(takewhile(lambda line: not ends(line), lines)))
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error


def read_first_lines(path: Path) -> list[str]:
    """The lines in the first megabyte of a file: enough to tell what it is.

    Raises:
        UnreadableError: the file is missing, a folder, forbidden, or not text.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableError(f"{path}: this is no regular file")
        with path.open("rb", buffering=0) as file:
            data = file.read(_BUFFER_BYTES)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
    if b"\0" in data[:_BINARY_CHECK_BYTES]:
        raise BinaryFileError(f"{path}: this is a binary file, not a text dump")
    return Document(decode(data)).lines


def decode(data: bytes, offset: int = 0) -> str:
    """The text of a part of a file that begins at this byte, as :func:`read` would read it."""
    return _decode_utf8(data if offset else data.removeprefix(_BYTE_ORDER_MARK))


def _decode_utf8(data: bytes) -> str:
    return data.decode("utf-8", "replace")
