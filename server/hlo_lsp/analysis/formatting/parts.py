"""Parts of statements of every kind: shapes, and what stands between commas."""

import re
from collections.abc import Iterator
from functools import lru_cache

from hlo_lsp.syntax.nesting import commas

_SHAPE_PARTS = re.compile(r"/\*index=\d+\*/|\s+|[()\[\]{},]|[^\s()\[\]{},]+")


@lru_cache(maxsize=1 << 12)
def printed_shape(text: str) -> str | None:
    """A shape, or some: blanks stand behind the commas of tuples, and nowhere else."""
    depth = 0  # of brackets in which commas have no blanks
    found: list[str] = []
    for match in _SHAPE_PARTS.finditer(text):
        part = match[0]
        if part.isspace():
            continue
        if part in "[{":
            depth += 1
        elif part in "]}":
            depth -= 1
        found.append(", " if part == "," and depth == 0 else part)
    return "".join(found) if depth == 0 else None


def pieces(text: str, start: int, end: int) -> Iterator[str]:
    """What stands between the commas outside of brackets."""
    for stop in (*commas(text, start, end), end):
        yield text[start:stop].strip()
        start = stop + 1
