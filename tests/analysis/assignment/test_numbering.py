"""Numbers that should count up from 0."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.analysis.assignment.numbering import Gap, Numbering, numbering


@given(st.integers(0, 60))
def test_numbers_that_count_up_are_right(count: int) -> None:
    assert numbering(range(count)) == Numbering()


@given(st.integers(3, 60), st.data())
def test_one_changed_number_is_the_only_one_told(count: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, count - 2))
    number = data.draw(st.integers(0, 99).filter(lambda number: number != place))
    numbers = [number if at == place else at for at in range(count)]
    assert numbering(numbers) == Numbering((place,))


@given(st.integers(2, 60), st.data())
def test_numbers_that_are_left_out_are_one_gap(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, count - 2))
    last = data.draw(st.integers(first, count - 2))
    numbers = [number for number in range(count) if not first <= number <= last]
    assert numbering(numbers) == Numbering((), (Gap(first, first, last),))


@given(st.integers(2, 60), st.data())
def test_of_two_that_changed_places_the_first_is_told(count: int, data: st.DataObject) -> None:
    one, other = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=2, max_size=2)))
    numbers = list(range(count))
    numbers[one], numbers[other] = other, one
    assert numbering(numbers) == Numbering((one,), (), other)


@given(st.integers(1, 60), st.data())
def test_of_a_number_that_stands_there_twice_the_second_is_told(
    count: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, count - 1))
    numbers = [*range(place + 1), *range(place, count)]
    assert numbering(numbers) == Numbering((place + 1,))


@given(st.lists(st.integers(0, 20), max_size=20))
def test_without_the_strangers_numbers_ascend(numbers: list[int]) -> None:
    found = numbering(numbers)
    if found.exchanged is None:
        kept = [number for at, number in enumerate(numbers) if at not in found.strangers]
        assert all(one < other for one, other in pairwise(kept))


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([0, 1, 3, 3], Numbering((2,))),
        ([0, 2, 3, 1, 4], Numbering((3,))),
        ([5], Numbering((), (Gap(0, 0, 4),))),
        ([0, 1, 9], Numbering((), (Gap(2, 2, 8),))),
    ],
)
def test_some_by_hand(numbers: list[int], found: Numbering) -> None:
    assert numbering(numbers) == found
