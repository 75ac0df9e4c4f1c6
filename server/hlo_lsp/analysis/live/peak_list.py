"""The rows of the list at the peak held against the values that live then."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.assignment.ordering import misplaced
from hlo_lsp.analysis.live.lives import Live, Order, peak_order
from hlo_lsp.syntax.memory_records import PeakRow


class Flaw(Enum):
    """What is wrong with a row of the list, or with the live range that it contradicts."""

    UNKNOWN = "it names no value"
    EXTRA = "its value does not live then"
    DOUBLED = "its value stands there twice"
    MISSING = "values are missing in front of it"
    ORDER = "it stands in the wrong place"
    RANGE = "the live range is wrong, not the list"
    BYTES = "it has another size"
    CUMULATIVE = "it has another running sum"


@dataclass(frozen=True, slots=True)
class PeakFlaw:
    """A flaw at a row, counted from 0; one behind the last where rows are missing at the end.

    ``keys`` are the values that are missing, or whose name should stand here. ``right`` is the
    number that should. ``other`` is the row that this one doubles or changed places with.
    """

    flaw: Flaw
    row: int
    keys: tuple[str, ...] = ()
    right: int = 0
    other: int | None = None


@dataclass(frozen=True, slots=True)
class PeakList:
    """The printed rows, all values that may stand there, and those that live at the moment.

    ``values`` has all names of the dump; ``lives`` those whose range and size are certain.
    ``total`` is the last running sum as the stack traces repeat it. ``is_whole`` is whether no
    line of the list is one that nobody can read.
    """

    rows: Sequence[PeakRow]
    values: Container[str]
    lives: Mapping[str, Live]
    unclear: Container[str]
    moment: int
    total: int | None
    is_whole: bool

    def flaws(self) -> list[PeakFlaw]:
        """All flaws, by rows.

        Bytes and running sums are printed from the same numbers. Where they agree with each other,
        row by row, and not with a live range, it is the range that is wrong.
        """
        return sorted(_Comparison(self).flaws(), key=lambda flaw: flaw.row)


class _Comparison:
    def __init__(self, given: PeakList) -> None:
        self.given = given
        self.rows = given.rows
        self.keys = [row.key or "" for row in given.rows]
        self.expected = [key for key, live in given.lives.items() if live.at(given.moment)]
        self.stands_for = dict(enumerate(self.keys))  # the value that each good row is for
        self.never_there: set[str] = set()  # values that live then by a wrong range only
        self.sizes = {key: live.bytes for key, live in given.lives.items()}
        rows_of = Counter(self.keys)
        for row, key in enumerate(self.keys):
            if key not in self.sizes or (rows_of[key] == 1 and self._is_intact(row)):
                self.sizes[key] = self.rows[row].bytes

    def flaws(self) -> Iterator[PeakFlaw]:
        doubled = dict(self._doubled())
        absent = set(self.expected) - set(self.keys)
        gaps = self._gaps(absent)
        for row, key in enumerate(self.keys):
            if row in doubled:
                yield self._should_be(PeakFlaw(Flaw.DOUBLED, row, other=doubled[row]), gaps)
            elif key in self.given.unclear:
                continue
            elif key not in self.given.values:
                yield self._should_be(PeakFlaw(Flaw.UNKNOWN, row), gaps)
            elif key not in self.given.lives or not self.given.lives[key].at(self.given.moment):
                flaw = self._should_be(PeakFlaw(Flaw.EXTRA, row), gaps)
                if not flaw.keys and key in self.given.lives and self._is_intact(row):
                    self.stands_for[row] = key
                    flaw = PeakFlaw(Flaw.RANGE, row, (key,))
                yield flaw
        left = {key for keys in gaps.values() for key in keys}
        yield from self._missing(self._gaps(left))  # by what the rows stand for, found just now
        yield from self._order()
        yield from self._numbers()

    def _doubled(self) -> Iterator[tuple[int, int]]:
        """Rows of a value that has another row, with that one."""
        seats: dict[str, list[int]] = {}
        for row, key in enumerate(self.keys):
            seats.setdefault(key, []).append(row)
        if len(seats) == len(self.keys):
            return
        outside = {found.at for found in misplaced([self._place(key) for key in self.keys])}
        absent = [self._place(key) for key in set(self.expected) - set(self.keys)]
        for rows in seats.values():
            right = min(
                rows,
                key=lambda row: (not self._fits(row), self._may_be(row, absent), row in outside),
            )
            yield from ((row, right) for row in rows if row != right)

    def _may_be(self, row: int, places: list[Order]) -> bool:
        """Whether one of these places in the list is between the neighbours of a row."""
        above = self._place(self.keys[row - 1]) if row else None
        below = self._place(self.keys[row + 1]) if row + 1 < len(self.keys) else None
        return any(
            (above is None or above < place) and (below is None or place < below)
            for place in places
        )

    def _fits(self, row: int) -> bool:
        return self.sizes[self.keys[row]] == self.rows[row].bytes

    def _place(self, key: str) -> Order:
        return peak_order(key, self.sizes[key])

    def _gaps(self, absent: set[str]) -> dict[int, list[str]]:
        """Values without a row, by the row in front of which theirs would be."""
        gaps: dict[int, list[str]] = {}
        if not absent:
            return gaps
        good = [
            (self._place(key), row)
            for row, key in self.stands_for.items()
            if key in self.given.lives and self.given.lives[key].at(self.given.moment)
        ]
        for key in sorted(absent, key=self._place):
            place = self._place(key)
            before = [row for there, row in good if there < place]
            gaps.setdefault(max(before) + 1 if before else 0, []).append(key)
        return gaps

    def _should_be(self, flaw: PeakFlaw, gaps: dict[int, list[str]]) -> PeakFlaw:
        """The flaw with the value whose row it seems to be, by its place and its bytes."""
        row = flaw.row
        self.stands_for.pop(row, None)
        first = row
        while first > 0 and self.stands_for.get(first - 1) != self.keys[first - 1]:
            first -= 1
        for place in range(first, row + 2):
            for key in gaps.get(place, ()):
                if self.given.lives[key].bytes == self.rows[row].bytes or not self._is_intact(row):
                    gaps[place].remove(key)
                    self.stands_for[row] = key
                    return PeakFlaw(flaw.flaw, row, (key,), other=flaw.other)
        return flaw

    def _missing(self, gaps: dict[int, list[str]]) -> Iterator[PeakFlaw]:
        for row, keys in gaps.items():
            if self._jump(row) == 0:
                self.never_there.update(keys)
                yield from (PeakFlaw(Flaw.RANGE, row, (key,)) for key in keys)
            elif self.given.is_whole:
                yield PeakFlaw(Flaw.MISSING, row, tuple(keys))

    def _jump(self, row: int) -> int | None:
        """By how much the running sum grows in front of a row without a reason; None: unknown."""
        before = self.rows[row - 1].cumulative if row else 0
        if row < len(self.rows):
            after = self.rows[row].cumulative
            return (
                None if before is None or after is None else after - before - self.rows[row].bytes
            )
        return None if before is None or self.given.total is None else self.given.total - before

    def _is_intact(self, row: int) -> bool:
        """Whether the running sums in front of and behind a row agree with its bytes."""
        return self._jump(row) == 0 and self._jump(row + 1) in {0, None}

    def _order(self) -> Iterator[PeakFlaw]:
        rows = [row for row, key in self.stands_for.items() if key in self.given.lives]
        rows.sort()
        places = [self._place(self.stands_for[row]) for row in rows]
        for found in misplaced(places):
            other = None if found.swapped_with is None else rows[found.swapped_with]
            yield PeakFlaw(Flaw.ORDER, rows[found.at], other=other)

    def _numbers(self) -> Iterator[PeakFlaw]:
        """Sizes and running sums, by the values that the rows are for."""
        for row, key in sorted(self.stands_for.items()):
            if self.sizes[key] != self.rows[row].bytes:
                yield PeakFlaw(Flaw.BYTES, row, right=self.sizes[key])
        sums: dict[str, int] = {}
        total = 0
        there = (set(self.expected) - self.never_there) | set(self.stands_for.values())
        for key in sorted(there, key=self._place):
            total += self.sizes[key]
            sums[key] = total
        rows = [row for row in sorted(self.stands_for) if self.rows[row].cumulative is not None]
        offsets = [(self.rows[row].cumulative or 0) - sums[self.stands_for[row]] for row in rows]
        offset = 0
        for place, (row, found) in enumerate(zip(rows, offsets, strict=True)):
            if found != offset:
                yield PeakFlaw(Flaw.CUMULATIVE, row, right=sums[self.stands_for[row]] + offset)
                if place + 1 < len(rows) and offsets[place + 1] != offset:
                    offset = found
