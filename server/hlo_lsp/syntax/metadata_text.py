"""The fields of the metadata of an instruction, with columns, and escapes in strings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.syntax.grammar import load_grammar

_ESCAPES = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTER_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def unescape(text: str) -> str:
    r"""Return a string that ``absl::CEscape`` escaped: ``\303\251`` is one letter of UTF-8.

    Bytes that are not UTF-8 become U+FFFD.
    """
    if "\\" not in text:
        return text
    return _ESCAPES.sub(_unescaped_byte, text.encode()).decode("utf-8", "replace")


def _unescaped_byte(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, letter = match.groups()
    if letter is not None:
        return _LETTER_ESCAPES.get(letter, letter)
    number = int(octal, 8) if octal is not None else int(hexadecimal, 16)
    return bytes([number & 0xFF])


_METADATA_START = "metadata={"
_QUOTE_OR_ESCAPE = re.compile(r'\\.|"')
_SEPARATOR = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A field such as ``source_line=7``: its columns in code points and its value.

    The value of a string has no quotes and escapes.
    """

    name: str
    value: str
    start: int
    end: int


def metadata_fields(line: str, at: int = 0) -> Iterator[MetadataField]:
    """Yield the fields of ``metadata={...}`` of the instruction that begins at column ``at``."""
    column = _first_field_column(line, at)
    if column is not None:
        yield from listed_fields(line, column)


def listed_fields(text: str, column: int = 0) -> Iterator[MetadataField]:
    """Yield the fields that begin at a column."""
    expression = load_grammar("metadata").expression("metadata_field")
    while match := expression.match(text, column):
        string = match["STRING"]
        value = match["SET"] or match["WORD"] if string is None else unescape(string[1:-1])
        yield MetadataField(match["KEY"], value, *match.span())
        column = _match_end(_SEPARATOR, text, match.end())


def _first_field_column(line: str, at: int) -> int | None:
    start = line.find(_METADATA_START, at)
    while start >= 0:
        apart = start == at or line[start - 1] in " ,\t"
        if apart and not _is_in_string(line, at, start):
            return _match_end(_SEPARATOR, line, start + len(_METADATA_START))
        start = line.find(_METADATA_START, start + 1)
    return None


def _is_in_string(line: str, at: int, column: int) -> bool:
    if line.find("\\", at, column) < 0:
        return line.count('"', at, column) % 2 == 1
    return _QUOTE_OR_ESCAPE.findall(line, at, column).count('"') % 2 == 1


def _match_end(expression: re.Pattern[str], line: str, at: int) -> int:
    match = expression.match(line, at)
    return at if match is None else match.end()
