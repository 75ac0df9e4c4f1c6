"""A dump as jax wrote it up to 0.4.35: no line end between two entries under ``Used values``."""

import re

_BETWEEN_ENTRIES = re.compile(r"(?<!:)\n(?=<\d+ [^\n]*>\n positions:\n)")


def joined(text: str) -> str:
    """Return the dump with each header on the line of the previous instruction."""
    return _BETWEEN_ENTRIES.sub("", text)


def joined_places(text: str) -> list[tuple[int, int]]:
    """Return where each line of the dump begins in the joined text: line and column."""
    starts = []
    line = column = at = 0
    for each in text.split("\n"):
        starts.append((line, column))
        at += len(each)
        is_joined = _BETWEEN_ENTRIES.match(text, at) is not None
        line, column = (line, column + len(each)) if is_joined else (line + 1, 0)
        at += 1
    return starts
