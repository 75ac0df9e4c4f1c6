"""Which members of a list stand in the wrong place."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.analysis.assignment.ordering import Misplaced, misplaced

ASCENDING = st.lists(st.integers(0, 999), min_size=3, max_size=40, unique=True).map(sorted)


@given(ASCENDING)
def test_nothing_is_wrong_with_a_list_that_ascends(keys: list[int]) -> None:
    assert misplaced(keys) == []


@given(ASCENDING, st.data())
def test_two_that_changed_places_are_told_once(keys: list[int], data: st.DataObject) -> None:
    one, other = sorted(
        data.draw(st.sets(st.sampled_from(range(len(keys))), min_size=2, max_size=2))
    )
    keys[one], keys[other] = keys[other], keys[one]
    assert misplaced(keys) == [Misplaced(one, swapped_with=other)]


@given(ASCENDING, st.data())
def test_one_that_was_moved_far_is_told_with_its_place(
    keys: list[int], data: st.DataObject
) -> None:
    last = len(keys) - 1
    start = data.draw(st.integers(0, last))
    end = data.draw(st.integers(0, last).filter(lambda place: abs(place - start) > 1))
    following = keys[start + 1] if start < last else None
    key = keys.pop(start)
    keys.insert(end, key)
    (found,) = misplaced(keys)
    assert keys[found.at] == key
    assert (None if found.fits_before is None else keys[found.fits_before]) == following


@given(st.lists(st.integers(0, 30), max_size=40))
def test_without_those_that_are_told_a_list_ascends(keys: list[int]) -> None:
    wrong = {found.at for found in misplaced(keys)}
    wrong |= {found.swapped_with for found in misplaced(keys) if found.swapped_with is not None}
    rest = [key for place, key in enumerate(keys) if place not in wrong]
    assert rest == sorted(set(rest))


def test_of_two_alike_the_later_one_is_told() -> None:
    assert misplaced([1, 2, 2, 3]) == [Misplaced(2, fits_before=1)]
