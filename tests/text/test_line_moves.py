"""The places of lines after edits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.text.document import moved_lines

_LINES = st.lists(st.sampled_from("abcde"), max_size=12)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc", "abc", [0, 1, 2]),
        ("abc", "xabc", [1, 2, 3]),
        ("abc", "abxyc", [0, 1, 4]),
        ("abc", "ac", [0, None, 1]),
        ("abc", "axc", [0, 1, 2]),
        ("abcdef", "xabcdyzf", [1, 2, 3, 4, None, 7]),
        ("abcdef", "acxdef", [0, None, 1, 3, 4, 5]),
        ("aab", "aaab", [0, 1, 3]),
        ("abc", "", [None, None, None]),
    ],
)
def test_lines_follow_edits(before: str, after: str, expected: list[int | None]) -> None:
    assert moved_lines(before, after) == expected


@given(_LINES, _LINES)
def test_order_of_lines_is_kept(before: list[str], after: list[str]) -> None:
    moved = moved_lines(before, after)
    assert len(moved) == len(before)
    places = [place for place in moved if place is not None]
    assert places == sorted(set(places))
    assert all(place < len(after) for place in places)


@given(_LINES, _LINES, _LINES)
def test_inserted_lines_move_later_lines(
    first: list[str], inserted: list[str], last: list[str]
) -> None:
    before, after = [*first, "|", *last], [*first, *inserted, "|", *last]
    moved = moved_lines(before, after)
    assert moved[len(first)] == len(first) + len(inserted)
