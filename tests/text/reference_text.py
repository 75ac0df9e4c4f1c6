"""A simple reference implementation of edits on a string."""

import re

_BREAK = re.compile(r"\r\n|\r|\n")


def split(text: str) -> list[str]:
    return _BREAK.split(text)


def offset(text: str, line: int, column: int) -> int:
    """Return the offset of a position; after an end means that end."""
    if line < 0:
        return 0
    starts = [0, *(found.end() for found in _BREAK.finditer(text))]
    if line >= len(starts):
        return len(text)
    return starts[line] + min(max(column, 0), len(split(text)[line]))


def position(text: str, at: int) -> tuple[int, int]:
    """Return the position of an offset, outside the text if the offset is outside."""
    if not 0 <= at <= len(text):
        return (-1, 3) if at < 0 else (len(split(text)), at)
    lines = split(text[:at])
    line = len(lines) - 1
    if text[at - 1 : at + 1] == "\r\n":  # no position is between the two
        return line - 1, len(lines[-2])
    return line, len(lines[-1])


def edit(text: str, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
    first = offset(text, *start)
    return text[:first] + new + text[max(first, offset(text, *end)) :]
