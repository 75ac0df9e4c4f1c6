"""The shapes in a row of a memory usage report."""

import re
from collections import Counter

_LAYOUT = re.compile(r"\{[^{}]*\}|/\*index=\d+\*/")
_COUNT = re.compile(r"(\d+)\u00d7")


def without_layout(shape: str) -> str:
    """Return a shape as the report prints it."""
    return _LAYOUT.sub("", shape)


def count_shapes(text: str) -> Counter[str]:
    """Return the shapes of ``2×f32[8], (s8[], s8[])`` with their counts."""
    found: Counter[str] = Counter()
    depth = start = 0
    for at, character in enumerate(f"{text},"):
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            part = text[start:at].strip()
            count = _COUNT.match(part)
            shape = part if count is None else part[count.end() :]
            found[without_layout(shape)] += 1 if count is None else int(count[1])
            start = at + 1
    return found
