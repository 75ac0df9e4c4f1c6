"""Tests for hlo_lsp.profiles.measured."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.profiles.measured import common_length, length, median, own_lengths, union

_INTERVALS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda one: (one[0], one[0] + one[1])),
    max_size=12,
)


def points(intervals: list[tuple[int, int]]) -> set[int]:
    return {point for start, end in intervals for point in range(start, end)}


@given(_INTERVALS)
def test_union_has_the_same_points(intervals: list[tuple[int, int]]) -> None:
    found = union(intervals)
    assert points(found) == points(intervals)
    assert length(found) == len(points(intervals))


@given(_INTERVALS, _INTERVALS)
def test_common_length_counts_common_points(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    assert common_length(union(one), union(other)) == len(points(one) & points(other))


@given(_INTERVALS)
def test_own_lengths_add_up_to_the_union(intervals: list[tuple[int, int]]) -> None:
    ordered = sorted(intervals, key=lambda one: (one[0], -one[1]))
    own = own_lengths(ordered)
    assert sum(own) == len(points(intervals))
    assert all(0 <= part <= end - start for part, (start, end) in zip(own, ordered, strict=True))


def test_own_length_excludes_what_is_inside() -> None:
    assert own_lengths([(0, 100), (10, 30), (15, 20), (40, 50)]) == [70, 15, 5, 10]


def test_median_of_an_even_number_is_the_lower_one() -> None:
    assert median([4, 1, 3, 2]) == 2
