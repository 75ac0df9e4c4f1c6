"""Files on disk as documents."""

import stat
from pathlib import Path

from hlo_lsp.text.document import Document
from hlo_lsp.text.steps import Steps, finish

_CHUNK = 4 << 20  # bytes; about 10 ms of work, so that a server can breathe between two
_SNIFFED = 8192  # bytes in which a NUL gives a binary file away
_LONG = 200  # characters from which on a line is worth looking for its equal


class UnreadableError(Exception):
    """A file that cannot be read as text; the message is a sentence for the user."""


class BinaryFileError(UnreadableError):
    """A file that is no text at all."""


def read(path: Path) -> Document:
    """Read a whole file.

    Raises:
        UnreadableError: it is missing, a folder, forbidden, or not text.
    """
    return finish(read_in_steps(path))


def read_in_steps(path: Path) -> Steps[Document]:
    r"""Read a file in pieces.

    Bytes that are no UTF-8 become U+FFFD. Equal long lines are kept once: 98 % of a large values
    file is the same instruction printed again for every element of its tuple. No compiler writes
    ``\r``: a file with one is cut into lines in one go at the end.

    Raises:
        UnreadableError: as for :func:`read`.
    """
    lines: list[str] = []
    known: dict[str, str] = {}
    rest: list[bytes] = []  # a line that has not ended yet; all of the file once there is a \r
    returns = False
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableError(f"{path}: this is no regular file")
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                if not lines and not rest and b"\0" in chunk[:_SNIFFED]:
                    raise BinaryFileError(f"{path}: this is a binary file, not a text dump")
                if not returns and b"\r" in chunk:
                    returns = True
                    rest.insert(0, "".join(f"{line}\n" for line in lines).encode())
                whole, newline, end = chunk.rpartition(b"\n")
                if newline and not returns:
                    text = _decode(b"".join([*rest, whole]), first=not lines)
                    lines.extend(
                        known.setdefault(line, line) if len(line) > _LONG else line
                        for line in text.split("\n")
                    )
                    rest = [end]
                else:
                    rest.append(chunk)
                yield
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
    last = _decode(b"".join(rest), first=returns or not lines)
    return Document(last) if returns else Document.of_lines([*lines, last])


def _decode(data: bytes, *, first: bool) -> str:
    text = data.decode("utf-8", "replace")
    return text.removeprefix("\ufeff") if first else text
