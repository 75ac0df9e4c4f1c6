"""A list at the peak as XLA prints it has no flaw; one damage to it is one flaw, at its row."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hlo_lsp.analysis.live.lives import Live, peak_order
from hlo_lsp.analysis.live.peak_list import Flaw, PeakFlaw, PeakList
from hlo_lsp.syntax.memory_records import PeakRow, RangeRow

MOMENT = 5


def _live(name: str, start: int, end: int, size: int) -> Live:
    return Live(RangeRow(name, "{}", start, end), start, end, size, size)


def _rows(lives: Sequence[Live]) -> list[PeakRow]:
    """The list as XLA prints it."""
    rows, total = [], 0
    there = [live for live in lives if live.at(MOMENT)]
    for live in sorted(there, key=lambda live: peak_order(live.row.key, live.bytes)):
        total += live.bytes
        rows.append(PeakRow(live.row.name, live.row.index, live.bytes, total))
    return rows


def _flaws(
    rows: Sequence[PeakRow],
    lives: Sequence[Live],
    *,
    total: int | None = None,
    unclear: Sequence[str] = (),
    is_whole: bool = True,
) -> list[PeakFlaw]:
    by_key = {live.row.key: live for live in lives}
    values = {*by_key, *unclear}
    return PeakList(rows, values, by_key, unclear, MOMENT, total, is_whole).flaws()


@st.composite
def _lives(draw: st.DrawFn) -> list[Live]:
    """Two or more that live at the moment, and others."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=8))
    there = [_live(f"v.{number}", 3, 7, size) for number, size in enumerate(sizes)]
    return [_live("early", 0, 4, 3), *there, _live("late", 6, 9, 3)]


@given(_lives())
def test_a_list_that_is_right(lives: list[Live]) -> None:
    rows = _rows(lives)
    assert _flaws(rows, lives) == []
    assert _flaws(rows, lives, total=rows[-1].cumulative) == []


@given(_lives(), st.data())
def test_a_row_that_is_gone(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    total = rows[-1].cumulative
    at = data.draw(st.integers(0, len(rows) - 1))
    gone = rows.pop(at)
    assert _flaws(rows, lives, total=total) == [PeakFlaw(Flaw.MISSING, at, (gone.key or "",))]
    assert _flaws(rows, lives, total=total, is_whole=False) == []


@given(_lives(), st.data())
def test_rows_that_are_gone(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    first = data.draw(st.integers(0, len(rows) - 1))
    end = data.draw(st.integers(first + 1, len(rows)))
    gone = tuple(row.key or "" for row in rows[first:end])
    del rows[first:end]
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.MISSING, first, gone)]


@given(_lives(), st.data())
def test_a_wrong_number(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 1))
    slip = data.draw(st.integers(1, 99) | st.integers(-99, -1))
    right = rows[at]
    rows[at] = replace(right, bytes=right.bytes + slip)
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.BYTES, at, right=right.bytes)]
    rows[at] = replace(right, cumulative=(right.cumulative or 0) + slip)
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.CUMULATIVE, at, right=right.cumulative or 0)]


@given(_lives(), st.data())
def test_sums_that_go_on_from_a_wrong_one(lives: list[Live], data: st.DataObject) -> None:
    """It is told where it begins, with the number that would be right there."""
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 2))
    slip = data.draw(st.integers(1, 99))
    right = rows[at].cumulative or 0
    rows[at:] = [replace(row, cumulative=(row.cumulative or 0) + slip) for row in rows[at:]]
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.CUMULATIVE, at, right=right)]


@given(_lives(), st.data())
def test_a_row_that_stands_there_twice(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 1))
    to = data.draw(st.integers(0, len(rows)))
    assume(to not in {at, at + 1})
    rows.insert(to, replace(rows[at]))
    (flaw,) = _flaws(rows, lives)
    assert flaw == PeakFlaw(Flaw.DOUBLED, to, other=at + (to <= at))


@given(_lives(), st.data())
def test_a_row_with_the_name_of_another_value(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 1))
    right = rows[at]
    due = (right.key or "",)
    rows[at] = replace(right, name="nobody")
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.UNKNOWN, at, due)]
    rows[at] = replace(right, name="late")
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.EXTRA, at, due)]
    other = data.draw(st.integers(0, len(rows) - 1))
    assume(other != at)
    rows[at] = replace(right, name=rows[other].name)
    (flaw,) = _flaws(rows, lives)
    assert flaw.flaw is Flaw.DOUBLED
    if right.bytes != rows[other].bytes:
        assert flaw == PeakFlaw(Flaw.DOUBLED, at, due, other=other)


@given(_lives(), st.data())
def test_several_rows_with_names_of_nobody(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    places = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1))))
    due = [rows[place].key or "" for place in places]
    for place in places:
        rows[place] = replace(rows[place], name=f"nobody.{place}")
    assert _flaws(rows, lives) == [
        PeakFlaw(Flaw.UNKNOWN, place, (key,)) for place, key in zip(places, due, strict=True)
    ]


@given(_lives(), st.data())
def test_rows_that_changed_places(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    one = data.draw(st.integers(0, len(rows) - 2))
    other = data.draw(st.integers(one + 1, len(rows) - 1))
    sums = [row.cumulative for row in rows]
    rows[one], rows[other] = rows[other], rows[one]
    rows = [replace(row, cumulative=total) for row, total in zip(rows, sums, strict=True)]
    flaws = [flaw for flaw in _flaws(rows, lives) if flaw.flaw is not Flaw.CUMULATIVE]
    assert flaws == [PeakFlaw(Flaw.ORDER, one, other=other)]


@given(_lives(), st.data())
def test_a_range_that_the_running_sums_contradict(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 1))
    key = rows[at].key or ""
    place = next(place for place, live in enumerate(lives) if live.row.key == key)
    ended = lives[place]._replace(end=MOMENT - 1)
    flaw = PeakFlaw(Flaw.RANGE, at, (key,))
    assert _flaws(rows, [*lives[:place], ended, *lives[place + 1 :]]) == [flaw]
    total = rows[-1].cumulative
    more = data.draw(st.integers(1, 9))
    (flaw,) = _flaws(rows, [*lives, _live("more", 4, 6, more)], total=total)
    behind = sum(row.bytes >= more and (row.bytes > more or row.name < "more") for row in rows)
    assert flaw == PeakFlaw(Flaw.RANGE, behind, ("more{}",))


@given(_lives(), st.data())
def test_a_size_that_the_list_contradicts_is_not_its_fault(
    lives: list[Live], data: st.DataObject
) -> None:
    rows = _rows(lives)
    place = data.draw(st.integers(1, len(lives) - 2))
    wrong = lives[place]._replace(bytes=lives[place].bytes + data.draw(st.integers(1, 99)))
    assert _flaws(rows, [*lives[:place], wrong, *lives[place + 1 :]]) == []


@given(_lives(), st.data())
def test_of_a_value_whose_range_is_not_known_nothing_is_told(
    lives: list[Live], data: st.DataObject
) -> None:
    rows = _rows(lives)
    place = data.draw(st.integers(1, len(lives) - 2))
    unclear = lives[place].row.key
    assert _flaws(rows, [*lives[:place], *lives[place + 1 :]], unclear=[unclear]) == []


@pytest.mark.parametrize("total", [None, 16])
def test_a_row_too_many(total: int | None) -> None:
    lives = [_live("a", 0, 9, 8), _live("b", 0, 9, 4), _live("c", 0, 9, 4), _live("d", 0, 4, 2)]
    rows = _rows(lives)
    rows.insert(1, PeakRow("d", "{}", 2, 12))
    assert _flaws(rows, lives, total=total) == [PeakFlaw(Flaw.EXTRA, 1)]


def test_flaws_come_in_the_order_of_the_rows() -> None:
    lives = [_live(name, 0, 9, size) for name, size in [("a", 8), ("b", 7), ("c", 6), ("d", 5)]]
    rows = _rows(lives)
    rows[0] = replace(rows[0], bytes=9)
    rows[2] = replace(rows[2], name="x")
    del rows[3]
    flaws = [(flaw.flaw, flaw.row) for flaw in _flaws(rows, lives)]
    assert flaws == [(Flaw.BYTES, 0), (Flaw.UNKNOWN, 2), (Flaw.MISSING, 3)]
