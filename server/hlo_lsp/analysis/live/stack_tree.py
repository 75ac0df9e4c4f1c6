"""The tree of call stacks at the peak, and which of its rows is wrong where it does not add up.

Every row says three numbers of bytes: ``current`` belongs to it alone, ``total`` to it and what is
below, ``remaining`` to all rows behind it (hlo_stack_trace.cc). Each number follows from others, so
a single damage is found by trying which repair makes everything agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations

from hlo_lsp.analysis.assignment.ordering import misplaced
from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.analysis.live.live_section import LiveSection, Part, live_section
from hlo_lsp.model.dump_set import DumpSet

_MOST = 16  # suspicious rows that repairs are tried at


class Slip(Enum):
    """What is wrong with a row."""

    TOTAL = "its total is another"
    CURRENT = "what belongs to it alone is another"
    REMAINING = "what remains behind it is another"
    MISSING = "rows are gone in front of it"
    EXTRA = "it stands there twice"
    ORDER = "it stands in the wrong place"


@dataclass(frozen=True, slots=True)
class StackRow:
    """A row of the tree; bytes. Without a title it fits between any rows of its total."""

    depth: int
    title: str | None
    total: int
    current: int
    remaining: int


@dataclass(frozen=True, slots=True)
class StackSlip:
    """A row at fault, counted from 0; one behind the last where rows are missing at the end.

    ``right`` is the number that should be there, or the bytes of the missing row. ``other`` is the
    row that this one doubles or changed places with.
    """

    slip: Slip
    row: int
    right: int = 0
    other: int | None = None


def stack_slips(rows: Sequence[StackRow], total: int) -> list[StackSlip]:
    """What is wrong with a tree whose rows should take ``total`` bytes together."""
    tree = _Tree(rows, total)
    if tree.is_right:
        return []
    for slip, repaired in _repairs(tree):
        if _Tree(repaired, total).is_right:
            return [slip]
    return tree.told_one_by_one()


class _Tree:
    """The rows with their children, and where the numbers disagree."""

    def __init__(self, rows: Sequence[StackRow], total: int) -> None:
        self.rows = rows
        self.total = total
        self.children: dict[int, list[int]] = {}
        self.below = [0] * len(rows)
        self.astray: list[int] = []  # rows without one above that they could belong to
        open_rows: list[int] = []
        for place, row in enumerate(rows):
            while open_rows and rows[open_rows[-1]].depth >= row.depth:
                open_rows.pop()
            if row.depth != len(open_rows) or (place and not open_rows):
                self.astray.append(place)
            if open_rows:
                self.below[open_rows[-1]] += row.total
                self.children.setdefault(open_rows[-1], []).append(place)
            open_rows.append(place)
        before = [total, *(row.remaining for row in rows)]
        # What the running rest loses at each row, and at the end, without a reason.
        self.jumps = [
            left - row.current - row.remaining for left, row in zip(before, rows, strict=False)
        ]
        self.jumps.append(before[-1])
        self.unbalanced = [
            place for place, row in enumerate(rows) if row.total != row.current + self.below[place]
        ]
        self.disordered = list(self._disordered())

    @property
    def is_right(self) -> bool:
        """Whether everything agrees."""
        return not (any(self.jumps) or self.unbalanced or self.astray or self.disordered)

    @property
    def suspects(self) -> list[int]:
        """The rows at or behind which something disagrees; the last may be one behind the end."""
        found = {place for place, jump in enumerate(self.jumps) if jump}
        found.update(self.unbalanced, self.astray)
        for at, other in self.disordered:
            found.update({at} if other is None else {at, other})
        found.update([place - 1 for place in found if place])
        ordered = sorted(found)
        return ordered if len(ordered) <= _MOST else ordered[: _MOST // 2] + ordered[-_MOST // 2 :]

    def told_one_by_one(self) -> list[StackSlip]:
        """Each disagreement for itself, where no single repair mends all."""
        found = [StackSlip(Slip.ORDER, place) for place in self.astray]
        found += [StackSlip(Slip.ORDER, at, other=other) for at, other in self.disordered]
        at_fault = {slip.row for slip in found}
        for place in self.unbalanced:
            if place not in at_fault:
                right = self.rows[place].current + self.below[place]
                found.append(StackSlip(Slip.TOTAL, place, right))
                at_fault.add(place)
        for place, jump in enumerate(self.jumps[:-1]):
            if jump and place not in at_fault:
                row = self.rows[place]
                found.append(StackSlip(Slip.REMAINING, place, row.remaining + jump))
        return sorted(found, key=lambda slip: slip.row)

    def _disordered(self) -> Iterator[tuple[int, int | None]]:
        for places in self.children.values():
            keys = [(-self.rows[place].total, self.rows[place].title) for place in places]
            named = [(key, title.encode()) for key, title in keys if title is not None]
            if len(named) < len(keys):  # a row that was put in: only totals are compared
                totals = [total for total, _ in keys]
                if totals != sorted(totals):
                    yield places[0], None
                continue
            for found in misplaced(named):
                other = found.swapped_with
                yield places[found.at], None if other is None else places[other]


def _repairs(tree: _Tree) -> Iterator[tuple[StackSlip, list[StackRow]]]:
    """Single damages that may have happened, each with the rows as they were before."""
    rows, suspects = list(tree.rows), tree.suspects
    inside = [place for place in suspects if place < len(rows)]
    for place in inside:
        row = rows[place]
        left = rows[place - 1].remaining if place else tree.total
        numbers = (
            (Slip.CURRENT, left - row.remaining),
            (Slip.TOTAL, row.current + tree.below[place]),
            (Slip.REMAINING, left - row.current),
        )
        for slip, number in numbers:
            mended = _with_number(row, slip, number)
            yield StackSlip(slip, place, number), [*rows[:place], mended, *rows[place + 1 :]]
    for place in reversed(inside):
        twins = [other for other, row in enumerate(rows) if row == rows[place] and other != place]
        for twin in twins:
            yield StackSlip(Slip.EXTRA, place, other=twin), [*rows[:place], *rows[place + 1 :]]
    for one, other in combinations(inside, 2):
        changed = list(rows)
        changed[one], changed[other] = rows[other], rows[one]
        yield StackSlip(Slip.ORDER, one, other=other), changed
    for place in suspects:
        yield from _with_row_put_in(tree, place)


def _with_number(row: StackRow, slip: Slip, number: int) -> StackRow:
    if slip is Slip.CURRENT:
        return replace(row, current=number)
    return replace(row, total=number) if slip is Slip.TOTAL else replace(row, remaining=number)


def _with_row_put_in(tree: _Tree, place: int) -> Iterator[tuple[StackSlip, list[StackRow]]]:
    """A row that may be gone in front of one: at every depth that it can have had."""
    rows, gone = list(tree.rows), tree.jumps[place]
    left = rows[place - 1].remaining if place else tree.total
    deepest = rows[place - 1].depth + 1 if place else 0
    for depth in range(deepest, 0 if place else -1, -1):
        end = place
        while end < len(rows) and rows[end].depth > depth:
            end += 1
        below = sum(row.total for row in rows[place:end] if row.depth == depth + 1)
        row = StackRow(depth, None, gone + below, gone, left - gone)
        yield StackSlip(Slip.MISSING, place, gone + below), [*rows[:place], row, *rows[place:]]


def slips_of(dump: DumpSet) -> list[StackSlip]:
    """The rows at fault in the tree of a dump; none where a line of it cannot be read."""
    section = live_section(dump)
    if section is None or not section.stacks or not section.is_whole(Part.STACKS):
        return []
    return dump.derived(_slips, [section.file])


def true_total(section: LiveSection) -> int:
    """The bytes of the whole tree: two of its head line, its root and the list at the peak agree.

    Where none do, the root is believed.
    """
    root = section.stacks[0].total if section.stacks else 0
    last = section.peak[-1].cumulative if section.peak else None
    said = section.breakdown_total
    return said if said is not None and said == last else root


def percent(part: int, total: int) -> str | None:
    """A share as it is printed, or None where there is nothing to share."""
    return f"{part / total * 100:.1f}" if total else None


def spaced(number: int) -> str:
    """Bytes as the tree prints them: with a blank every three digits."""
    return f"{number:,}".replace(",", " ")


def _slips(dump: DumpSet) -> list[StackSlip]:
    section = live_section(dump)
    if section is None:
        return []
    rows = [
        StackRow(row.depth, row.title, row.total, row.current, row.remaining)
        for row in section.stacks
    ]
    slips = stack_slips(rows, true_total(section))
    if ending(section.file) is None:
        return slips
    # Rows are missing at the end: that the text was cut off is told where it ends.
    is_cut = len(slips) > 1 or any(slip.row == len(rows) for slip in slips)
    return [] if is_cut else slips
