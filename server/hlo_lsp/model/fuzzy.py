"""Fuzzy search in many names: which of them hold the letters of a query in order, and how well.

Names stand in one text, each between two line ends: one expression walks over 300 000 of them in
2 to 40 ms. An edit distance takes longer and finds something else: ``while.6`` for ``while bod``.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

_WHOLE = 20  # points for a name that is just the query
_START, _NEXT, _WORD = 10, 7, 6  # for a letter at the start, behind the last one, of a word
_GAP = 5  # the most that a gap between two letters costs: a point for each letter in it
_NEVER = -(10**6)


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody typed: blanks count for nothing, and case only if there is a capital."""

    text: str
    is_cased: bool

    @classmethod
    def of(cls, typed: str) -> "Query":
        """Read what was typed."""
        text = "".join(typed.split())
        return cls(text, text != text.lower())

    @property
    def expressions(self) -> list[re.Pattern[str]]:
        """What finds names in a text of ``Names``, the better ones first; none for no letters.

        Names that begin with the query, that hold it, that hold its letters in order. A match
        reaches to the end of its name.
        """
        if not self.text:
            return []
        letters = [re.escape(letter) for letter in self.text]
        whole = "".join(letters)
        scattered = letters[0] + "".join(f"[^\n{letter}]*{letter}" for letter in letters[1:])
        return [
            re.compile(f"\n{whole}[^\n]*"),
            re.compile(f"{whole}[^\n]*"),
            re.compile(f"{scattered}[^\n]*"),
        ]

    def score(self, name: str) -> int:
        """How well a name that holds the letters fits; more is better.

        The best way counts to lay the letters on the name: letters that begin a word or follow
        each other bring points, gaps cost some.
        """
        letters = name if self.is_cased else _lower(name)
        points = [
            _bonus(name, place) if letter == self.text[0] else _NEVER
            for place, letter in enumerate(letters)
        ]
        for wanted in self.text[1:]:
            points = _with_one_more(name, letters, points, wanted)
        return max(points, default=_NEVER) + _WHOLE * (letters == self.text)


class Names:
    """Names in one text, numbered from 0 in the order in which they were given."""

    __slots__ = ("_lower", "_starts", "_text")

    def __init__(self, names: Iterable[str]) -> None:
        given = [name.replace("\n", " ") for name in names]
        self._text = "\n".join(["", *given, ""])
        lower = _lower(self._text)
        self._lower = self._text if lower == self._text else lower
        self._starts = array("I", accumulate((len(name) + 1 for name in given), initial=1))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> str:
        return self._text[self._starts[number] : self._starts[number + 1] - 1]

    def found(self, expression: re.Pattern[str], *, is_cased: bool) -> Iterator[tuple[int, int]]:
        """What an expression of a query finds: the length of a name, and a place inside of it."""
        text = self._text if is_cased else self._lower
        for match in expression.finditer(text):
            end = match.end()
            yield end - text.rfind("\n", 0, end) - 1, end

    def number(self, place: int) -> int:
        """The number of the name at a place of the text."""
        return bisect_right(self._starts, place) - 1


def _lower(text: str) -> str:
    """Small letters, where they take the same places."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def _with_one_more(name: str, letters: str, points: list[int], wanted: str) -> list[int]:
    """The most points with the letters so far and one more, by the place of that one."""
    found = [_NEVER] * len(points)
    near = far = _NEVER  # the most in front of a gap, less what the gap costs, and without that
    for place in range(1, len(points)):
        if letters[place] == wanted:
            behind_gap = max(near, far - _GAP) + _bonus(name, place)
            found[place] = max(points[place - 1] + _NEXT, behind_gap)
        near = max(near, points[place - 1]) - 1
        far = max(far, points[place - 1])
    return found


def _bonus(name: str, place: int) -> int:
    if place == 0:
        return _START
    before, letter = name[place - 1], name[place]
    begins = (
        (letter.isalnum() and not before.isalnum())
        or letter.isdigit() != before.isdigit()
        or (letter.isupper() and before.islower())
    )
    return _WORD if begins else 0
