"""The difference between two texts that differ in blanks only."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_RUN = re.compile(r"\s+")
_WORDS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.\-+%]+|\S')


class Change(NamedTuple):
    """The text from ``start`` to ``end`` becomes another; both are offsets."""

    start: int
    end: int
    text: str


def same_words(one: str, other: str) -> bool:
    """Whether nothing but blanks and line ends tells two texts apart, and none in a word."""
    return _WORDS.findall(one) == _WORDS.findall(other)


def differences(old: str, new: str) -> Iterator[Change]:
    """How to make a text of another with the same words: as little as can be, in order."""
    at = to = 0
    next_old = next_new = -1  # where the next blanks are
    while at < len(old) or to < len(new):
        blank, other = _RUN.match(old, at), _RUN.match(new, to)
        end = at if blank is None else blank.end()
        stop = to if other is None else other.end()
        if old[at:end] != new[to:stop]:
            yield change(at, old[at:end], new[to:stop])
        next_old = _next_blank(old, end) if next_old <= end else next_old
        next_new = _next_blank(new, stop) if next_new <= stop else next_new
        length = min(next_old - end, next_new - stop)
        at, to = end + length, stop + length


def _next_blank(text: str, at: int) -> int:
    found = _RUN.search(text, at)
    return len(text) if found is None else found.start()


def change(start: int, old: str, new: str) -> Change:
    """What becomes of a text that begins at an offset, without what stays at both of its ends."""
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return Change(start + first, start + len(old) - last, new[first : len(new) - last])
