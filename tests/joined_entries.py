"""Dumps as jax wrote them up to 0.4.35: no line end between two entries of ``Used values``."""

import re

_BETWEEN_ENTRIES = re.compile(r"(?<!:)\n(?=<\d+ [^\n]*>\n positions:\n)")


def join_entries(text: str) -> str:
    """Return the dump with each header on the line of the previous instruction."""
    return _BETWEEN_ENTRIES.sub("", text)


def joined_line_starts(text: str) -> list[tuple[int, int]]:
    """Return the line and column in the joined text of the start of each line of the dump."""
    starts = []
    line = column = offset = 0
    for content in text.split("\n"):
        starts.append((line, column))
        offset += len(content)
        is_joined = _BETWEEN_ENTRIES.match(text, offset) is not None
        line, column = (line, column + len(content)) if is_joined else (line + 1, 0)
        offset += 1
    return starts
