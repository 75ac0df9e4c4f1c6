"""Files on disk as documents."""

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
    """Read a file in pieces.

    Bytes that are no UTF-8 become U+FFFD. Equal long lines are kept once: 98 % of a large values
    file is the same instruction printed again for every element of its tuple.

    Raises:
        UnreadableError: as for :func:`read`.
    """
    lines: list[str] = []
    known: dict[str, str] = {}
    rest = b""
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                if not lines and b"\0" in chunk[:_SNIFFED]:
                    raise BinaryFileError(f"{path}: this is a binary file, not a text dump")
                if b"\r" in chunk:  # no compiler writes these: no need to be fast
                    head = "".join(f"{line}\n" for line in lines)
                    return Document(head + _decode(rest + chunk + file.read(), first=not lines))
                whole, newline, rest = (rest + chunk).rpartition(b"\n")
                if newline:
                    text = _decode(whole, first=not lines)
                    lines.extend(
                        known.setdefault(line, line) if len(line) > _LONG else line
                        for line in text.split("\n")
                    )
                yield
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
    lines.append(_decode(rest, first=not lines))
    return Document.of_lines(lines)


def _decode(data: bytes, *, first: bool) -> str:
    text = data.decode("utf-8", "replace")
    return text.removeprefix("\ufeff") if first else text
