"""Lines of text for a terminal, which end between words or at signs inside of long names."""

import re
from collections.abc import Iterator

_SIZE = r"[-+(]*[\d,.]+ (?:(?:[KMGT]i)?B|[mµn]?s)\b\S*"
_SEPARATOR = r"(?: [·|](?= ))?"  # it belongs to the word before it
# The spans between which a line can end, the best places first. A span that is longer than a line
# is divided at the next best places.
_SPANS = [
    re.compile(pattern)
    for pattern in (
        r"\S.*?(?: [·|](?= )|$)",  # an entry of a list, such as a name with its size
        rf"(?:\S*[^\s:;,·|] )?{_SIZE}{_SEPARATOR}|\S+{_SEPARATOR}",  # a size with its last word
        rf"{_SIZE}{_SEPARATOR}|\S+{_SEPARATOR}",
        *(rf"[^\s{signs}]*[{signs}]+|[^\s{signs}]+" for signs in ("/,;", r"._:=()\[\]{}-")),
    )
]
_HANGING_INDENT = 4


def wrapped_lines(line: str, columns: int) -> Iterator[str]:
    """Yield the lines of a line of text that is too long, those after the first with an indent."""
    if len(line) <= columns:
        yield line
        return
    text = line.strip()
    indent = len(line.rstrip()) - len(text)
    if 2 * (indent + _HANGING_INDENT) > columns:
        indent = 0
    starts = [0, *line_starts(text, columns - indent, _HANGING_INDENT), len(text)]
    for number, start in enumerate(starts[:-1]):
        margin = indent + (_HANGING_INDENT if number else 0)
        yield " " * margin + text[start : starts[number + 1]].rstrip()


def line_starts(text: str, columns: int, indent: int = 0) -> list[int]:
    """Return where the lines after the first one begin, if a text is wrapped.

    Args:
        text: One line of text.
        columns: The width of a line.
        indent: By how many columns the lines after the first one are shorter.
    """
    starts: list[int] = []
    room, begin = columns, 0
    narrow = max(columns - indent, 1)
    for start, end in _spans(text, 0, len(text), narrow, 0):
        if end - begin > room and start > begin:
            begin = start
            starts.append(begin)
            room = narrow
    return starts


def _spans(text: str, start: int, end: int, columns: int, level: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of a part of the text that fit in a line."""
    if level == len(_SPANS):
        yield from ((at, min(at + columns, end)) for at in range(start, end, columns))
        return
    for span in _SPANS[level].finditer(text, start, end):
        if len(span[0]) <= columns:
            yield span.span()
        else:
            yield from _spans(text, *span.span(), columns, level + 1)
