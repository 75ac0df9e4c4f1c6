"""Fuzzy search in many names: which of them hold the letters of a query in order, and how well.

Names stand in one text, each between two line ends: one expression walks over 300 000 of them in
2 to 40 ms. An edit distance takes longer and finds something else: ``while.6`` for ``while bod``.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, islice
from operator import attrgetter, itemgetter
from re import Pattern
from typing import NamedTuple

from hlo_lsp.text.checkpoint import checkpoint

_EXACT_POINTS = 20  # points for a name that is just the query
_NAME_START_POINTS, _CONSECUTIVE_POINTS, _WORD_START_POINTS = (
    10,
    7,
    6,
)  # for a letter at the start, behind the last one, of a word
_MAX_GAP_COST = 5  # the most that a gap between two letters costs: a point for each letter in it
_NO_MATCH = -(10**6)


@dataclass(frozen=True, slots=True)
class SymbolQuery:
    """What somebody typed: blanks count for nothing, and case only if there is a capital."""

    text: str
    is_case_sensitive: bool

    @classmethod
    def of(cls, typed: str) -> "SymbolQuery":
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
        letters = name if self.is_case_sensitive else _lowercase(name)
        points = [
            _start_points(name, place) if letter == self.text[0] else _NO_MATCH
            for place, letter in enumerate(letters)
        ]
        for wanted in self.text[1:]:
            points = _extend_match(name, letters, points, wanted)
        return max(points, default=_NO_MATCH) + _EXACT_POINTS * (letters == self.text)


class NameTable:
    """Names in one text, numbered from 0 in the order in which they were given."""

    __slots__ = ("_lower", "_starts", "_text")

    def __init__(self, names: Iterable[str]) -> None:
        given = [name.replace("\n", " ") for name in names]
        self._text = "\n".join(["", *given, ""])
        lower = _lowercase(self._text)
        self._lower = self._text if lower == self._text else lower
        self._starts = array("I", accumulate((len(name) + 1 for name in given), initial=1))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> str:
        return self._text[self._starts[number] : self._starts[number + 1] - 1]

    def found(self, expression: re.Pattern[str], *, is_case_sensitive: bool) -> Iterator[tuple[int, int]]:
        """What an expression of a query finds: the length of a name, and a place inside of it."""
        text = self._text if is_case_sensitive else self._lower
        for match in expression.finditer(text):
            end = match.end()
            yield end - text.rfind("\n", 0, end) - 1, end

    def number(self, place: int) -> int:
        """The number of the name at a place of the text."""
        return bisect_right(self._starts, place) - 1


def _lowercase(text: str) -> str:
    """Small letters, where they take the same places."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def _extend_match(name: str, letters: str, points: list[int], wanted: str) -> list[int]:
    """The most points with the letters so far and one more, by the place of that one."""
    found = [_NO_MATCH] * len(points)
    near = far = _NO_MATCH  # the most in front of a gap, less what the gap costs, and without that
    for place in range(1, len(points)):
        if letters[place] == wanted:
            behind_gap = max(near, far - _MAX_GAP_COST) + _start_points(name, place)
            found[place] = max(points[place - 1] + _CONSECUTIVE_POINTS, behind_gap)
        near = max(near, points[place - 1]) - 1
        far = max(far, points[place - 1])
    return found


def _start_points(name: str, place: int) -> int:
    if place == 0:
        return _NAME_START_POINTS
    before, letter = name[place - 1], name[place]
    begins = (
        (letter.isalnum() and not before.isalnum())
        or letter.isdigit() != before.isdigit()
        or (letter.isupper() and before.islower())
    )
    return _WORD_START_POINTS if begins else 0


_MAX_CANDIDATES = 1000  # names that are looked at closely: 20 to 50 ms
_NAMES_PER_CHECKPOINT = 50  # names that are looked at between two breaths: about 2 ms
_MAX_PLACES_PER_NAME = 40  # places of one name that come before those of other names that fit


class SymbolKind(IntEnum):
    """What a name stands for; of two that fit alike the first comes first."""

    MODULE = 0
    FILE = 1
    COMPUTATION = 2
    INSTRUCTION = 3
    VALUE = 4
    SOURCE = 5


class SymbolEntry(NamedTuple):
    """A name in a file: line and columns (code points) from 0.

    ``home`` is the number of the computation's entry, ``stack`` that of the Python lines; -1 is
    none.
    """

    name: str
    kind: SymbolKind
    line: int
    column: int
    width: int
    home: int = -1
    stack: int = -1


@dataclass(frozen=True, slots=True)
class Symbol:
    """A place that a search leads to. ``about`` says in words where it is."""

    name: str
    kind: SymbolKind
    uri: str
    line: int
    start: int
    end: int
    about: str


class FileSymbols:
    """The names in one file: 40 bytes each.

    ``stacks`` are the Python lines of instructions, the innermost first, as numbers of
    ``sources``; a source is ``train.py:212``.
    """

    def __init__(
        self,
        uri: str,
        title: str,
        entries: Sequence[SymbolEntry],
        sources: Sequence[str] = (),
        stacks: Sequence[tuple[int, ...]] = (),
    ) -> None:
        self.uri = uri
        self.title = title
        self.names = NameTable(entry.name for entry in entries)
        self.sources = NameTable(sources)
        self._stacks = stacks
        self._kinds = bytes(entry.kind for entry in entries)
        self._lines = array("I", (entry.line for entry in entries))
        self._columns = array("I", (entry.column for entry in entries))
        self._widths = array("I", (entry.width for entry in entries))
        self._homes = array("i", (entry.home for entry in entries))
        self._stack_of = array("i", (entry.stack for entry in entries))

    def symbol(self, number: int) -> Symbol:
        """An entry by its number."""
        home = self._homes[number]
        about = self.title if home < 0 else f"{self.names[home]} · {self.title}"
        return self._at(number, self.names[number], SymbolKind(self._kinds[number]), about)

    def modules(self) -> Iterator[Symbol]:
        """The modules that begin in the file."""
        number = self._kinds.find(SymbolKind.MODULE)
        while number >= 0:
            yield self.symbol(number)
            number = self._kinds.find(SymbolKind.MODULE, number + 1)

    def symbols_of_source(self, source: int) -> Iterator[Symbol]:
        """The instructions of a Python line: those written there, then those it led to."""
        inner = {number for number, stack in enumerate(self._stacks) if stack[0] == source}
        outer = {number for number, stack in enumerate(self._stacks) if source in stack} - inner
        for stacks in (inner, outer):
            for number, stack in enumerate(self._stack_of):
                if stack in stacks:
                    about = f"{self.names[number]} · {self.title}"
                    yield self._at(number, self.sources[source], SymbolKind.SOURCE, about)

    def _at(self, number: int, name: str, kind: SymbolKind, about: str) -> Symbol:
        start = self._columns[number]
        end = start + self._widths[number]
        return Symbol(name, kind, self.uri, self._lines[number], start, end, about)


NameHits = dict[str, list[tuple[FileSymbols, int]]]


def search_symbols(files: Iterable[FileSymbols], typed: str, limit: int) -> list[Symbol]:
    """The places whose names fit best, at most so many, the best first.

    Of one name there are more than a few places only if there is room for them. Nothing typed
    fits the modules.
    """
    query = SymbolQuery.of(typed)
    if not query.text:
        return list(islice((module for file in files for module in file.modules()), limit))
    plain = [(file, file.names) for file in files]
    lines = [(file, file.sources) for file, _ in plain]
    named: NameHits = {}
    sources: NameHits = {}
    for expression in query.expressions:
        for tables, hits in ((plain, named), (lines, sources)):
            found = _find_names(tables, expression, query, limit)
            hits.update((name, places) for name, places in found.items() if name not in hits)
        if sum(map(len, named.values())) + sum(map(len, sources.values())) >= limit:
            break
    ranked: list[tuple[int, int, str]] = []
    for name in {*named, *sources}:
        ranked.append((-query.score(name), len(name), name))
        if len(ranked) % _NAMES_PER_CHECKPOINT == 0:
            checkpoint()
    ranked.sort()
    chosen: list[tuple[int, Symbol]] = []
    spare: list[tuple[int, Symbol]] = []
    for rank, (_, _, name) in enumerate(ranked):
        places = islice(_symbols_of_name(name, named, sources), limit)
        chosen += ((rank, symbol) for symbol in islice(places, _MAX_PLACES_PER_NAME))
        if len(spare) < limit:
            spare += ((rank, symbol) for symbol in places)
        if len(chosen) >= limit:
            break
    chosen += spare[: max(limit - len(chosen), 0)]
    chosen.sort(key=itemgetter(0))
    return [symbol for _, symbol in chosen[:limit]]


def _find_names(
    tables: list[tuple[FileSymbols, NameTable]],
    expression: Pattern[str],
    query: SymbolQuery,
    limit: int,
) -> NameHits:
    """The names that an expression finds, short ones first, up to a number of them."""
    by_length: dict[int, list[tuple[FileSymbols, NameTable, int]]] = {}
    for file, names in tables:
        for length, place in names.found(expression, is_case_sensitive=query.is_case_sensitive):
            by_length.setdefault(length, []).append((file, names, place))
        checkpoint()
    hits: NameHits = {}
    for length in sorted(by_length):
        checkpoint()
        for file, names, place in by_length[length]:
            number = names.number(place)
            name = names[number]
            if name in hits or len(hits) < _MAX_CANDIDATES:
                known = hits.setdefault(name, [])
                if len(known) < limit:
                    known.append((file, number))
        if len(hits) == _MAX_CANDIDATES:
            break
    return hits


def _symbols_of_name(name: str, named: NameHits, sources: NameHits) -> Iterator[Symbol]:
    """All places of a name."""
    direct = [file.symbol(number) for file, number in named.get(name, ())]
    yield from sorted(direct, key=attrgetter("kind"))
    for file, number in sources.get(name, ()):
        yield from file.symbols_of_source(number)
