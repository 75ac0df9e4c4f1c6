"""Lines of text for a terminal, which end between words or at signs inside of long names."""

import re
from collections.abc import Iterator

# A size or a time with its unit is one word, to which a separator after it belongs.
_WORD = re.compile(r"(?:[-+(]*[\d,.]+ (?:(?:[KMGT]i)?B|[mµn]?s)\b\S*|\S+)(?: ·(?= ))?")
# Where a word that is longer than a line can end, the best places first.
_PIECES = [re.compile(rf"[^{signs}]*[{signs}]+|[^{signs}]+") for signs in ("/,;", r"._:=()\[\]{}-")]
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
    for start, end in _parts(text, narrow):
        if end - begin > room and start > begin:
            begin = start
            starts.append(begin)
            room = narrow
    return starts


def _parts(text: str, columns: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between which a line can end: words, or parts of a longer word."""
    for word in _WORD.finditer(text):
        if len(word[0]) <= columns:
            yield word.span()
        else:
            yield from _pieces(text, *word.span(), columns, 0)


def _pieces(text: str, start: int, end: int, columns: int, level: int) -> Iterator[tuple[int, int]]:
    if level == len(_PIECES):
        yield from ((at, min(at + columns, end)) for at in range(start, end, columns))
        return
    for piece in _PIECES[level].finditer(text, start, end):
        if len(piece[0]) <= columns:
            yield piece.span()
        else:
            yield from _pieces(text, *piece.span(), columns, level + 1)
