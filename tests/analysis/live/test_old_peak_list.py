"""The list at the peak up to jax 0.5: names and bytes of instructions, in the order of ids."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hlo_lsp.analysis.live.lives import Live
from hlo_lsp.analysis.live.old_peak_list import flaws_of_old_list
from hlo_lsp.analysis.live.peak_list import Flaw, PeakFlaw
from hlo_lsp.syntax.memory_records import PeakRow, RangeRow


def _live(name: str, index: str, weight: int) -> Live:
    """A value whose own bytes are not in the list."""
    return Live(RangeRow(name, index, 0, 9), 0, 9, weight + 1, weight)


def _rows(lives: Sequence[Live]) -> list[PeakRow]:
    """The list as XLA prints it."""
    return [PeakRow(live.row.name, None, live.weight, None) for live in lives]


def _flaws(
    rows: Sequence[PeakRow], lives: Sequence[Live], *, is_whole: bool = True
) -> list[PeakFlaw]:
    names = {live.row.name for live in lives} | {"late"}
    return flaws_of_old_list(rows, lives, names, is_whole=is_whole)


@st.composite
def _lives(draw: st.DrawFn, least: int = 2) -> list[Live]:
    weights = draw(st.lists(st.integers(1, 99), min_size=least, max_size=8))
    return [_live(f"v.{number}", "{}", weight) for number, weight in enumerate(weights)]


def _keys(*numbers: int) -> tuple[str, ...]:
    return tuple(f"v.{number}{{}}" for number in numbers)


@given(_lives())
def test_a_list_that_is_right(lives: list[Live]) -> None:
    assert _flaws(_rows(lives), lives) == []


@given(_lives(), st.data())
def test_a_wrong_size(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 1))
    right = lives[at].weight
    rows[at] = replace(rows[at], bytes=right + data.draw(st.sampled_from([-1, 1])))
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.BYTES, at, right=right)]


@given(_lives(), st.data())
def test_a_row_that_is_gone(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 1))
    del rows[at]
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.MISSING, at, _keys(at))]
    assert _flaws(rows, lives, is_whole=False) == []


@given(_lives(), st.data())
def test_a_row_too_many(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows)))
    rows.insert(at, PeakRow("nobody", None, 1, None))
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.UNKNOWN, at)]
    rows[at] = PeakRow("late", None, 1, None)
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.EXTRA, at)]


@given(_lives(), st.data())
def test_rows_that_changed_places(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    one = data.draw(st.integers(0, len(rows) - 2))
    other = data.draw(st.integers(one + 1, len(rows) - 1))
    rows[one], rows[other] = rows[other], rows[one]
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.ORDER, one, other=other)]


@given(_lives(least=5), st.data())
def test_a_row_that_was_moved(lives: list[Live], data: st.DataObject) -> None:
    rows = _rows(lives)
    at = data.draw(st.integers(0, len(rows) - 1))
    to = data.draw(st.integers(0, len(rows) - 1))
    assume(abs(to - at) > 3)
    rows.insert(to, rows.pop(at))
    assert _flaws(rows, lives) == [PeakFlaw(Flaw.ORDER, to)]


@given(_lives(least=4), st.data())
def test_a_few_other_names(lives: list[Live], data: st.DataObject) -> None:
    """Each is told with the value that is due, and its size is not."""
    rows = _rows(lives)
    places = sorted(data.draw(st.permutations(range(len(rows))))[:3])
    for place, name in zip(places, ("nobody", "late", "nobody.2"), strict=True):
        rows[place] = PeakRow(name, None, 1000, None)
    assert _flaws(rows, lives) == [
        PeakFlaw(Flaw.UNKNOWN, places[0], _keys(places[0])),
        PeakFlaw(Flaw.EXTRA, places[1], _keys(places[1])),
        PeakFlaw(Flaw.UNKNOWN, places[2], _keys(places[2])),
    ]
    left = next(place for place in range(len(rows)) if place not in places)
    rows[left] = replace(rows[left], bytes=1000)
    assert PeakFlaw(Flaw.BYTES, left, right=lives[left].weight) in _flaws(rows, lives)


FIVE = [_live(f"v.{number}", "{}", 10 + number) for number in range(5)]


@pytest.mark.parametrize(
    ("order", "flaws"),
    [
        ([0, 1, 2, 3, 3], [PeakFlaw(Flaw.DOUBLED, 4, _keys(4))]),
        ([0, 1, 2, 3, 4, 4], [PeakFlaw(Flaw.DOUBLED, 5)]),
        ([0, 3], [PeakFlaw(Flaw.MISSING, 1, _keys(1, 2)), PeakFlaw(Flaw.MISSING, 2, _keys(4))]),
        ([], [PeakFlaw(Flaw.MISSING, 0, _keys(0, 1, 2, 3, 4))]),
        # Three that changed places in a ring have each another name than is due.
        ([1, 2, 0, 3, 4], [PeakFlaw(Flaw.DOUBLED, row, _keys(row)) for row in (0, 1, 2)]),
        # Of more than three it is told what moved.
        ([1, 2, 3, 0, 4], [PeakFlaw(Flaw.ORDER, 3)]),
    ],
)
def test_rows_in_another_order(order: list[int], flaws: list[PeakFlaw]) -> None:
    assert _flaws([_rows(FIVE)[number] for number in order], FIVE) == flaws


def test_sizes_are_told_of_the_right_rows_behind_one_that_is_gone() -> None:
    rows = _rows(FIVE)
    rows[3] = replace(rows[3], bytes=1)
    rows[4] = replace(rows[4], name="nobody")
    del rows[1]
    assert sorted(_flaws(rows, FIVE), key=lambda flaw: flaw.row) == [
        PeakFlaw(Flaw.MISSING, 1, _keys(1)),
        PeakFlaw(Flaw.BYTES, 2, right=13),
        PeakFlaw(Flaw.UNKNOWN, 3, _keys(4)),
    ]


def test_the_values_of_a_tuple_have_rows_of_the_same_name() -> None:
    lives = [_live("t", "{}", 16), _live("t", "{0}", 16), _live("t", "{1}", 16), *FIVE]
    rows = _rows(lives)
    assert _flaws(rows, lives) == []
    assert _flaws(rows[1:], lives) == [PeakFlaw(Flaw.MISSING, 0, ("t{}",))]
