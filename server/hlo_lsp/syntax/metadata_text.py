"""The fields of the metadata of an instruction, with columns."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.syntax.escapes import unescape
from hlo_lsp.syntax.grammar import load_grammar

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
    if column is None:
        return
    expression = load_grammar("metadata").expression("metadata_field")
    while match := expression.match(line, column):
        text = match["STRING"]
        value = match["SET"] or match["WORD"] if text is None else unescape(text[1:-1])
        yield MetadataField(match["KEY"], value, *match.span())
        column = _match_end(_SEPARATOR, line, match.end())


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
