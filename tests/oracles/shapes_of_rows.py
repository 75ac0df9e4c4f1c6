"""The shapes that a row of a report prints: how often each."""

import re
from collections import Counter

_LAYOUT = re.compile(r"\{[^{}]*\}|/\*index=\d+\*/")
_COUNT = re.compile(r"(\d+)\u00d7")


def without_layout(shape: str) -> str:
    """A shape as the report prints it."""
    return _LAYOUT.sub("", shape)


def shapes_of_row(text: str) -> Counter[str]:
    """``2×f32[8], (s8[], s8[])`` as counts by shape."""
    found: Counter[str] = Counter()
    depth = start = 0
    for at, sign in enumerate(f"{text},"):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            part = text[start:at].strip()
            count = _COUNT.match(part)
            shape = part if count is None else part[count.end() :]
            found[without_layout(shape)] += 1 if count is None else int(count[1])
            start = at + 1
    return found
