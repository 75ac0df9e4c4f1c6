"""Tests for the recomputed peak."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.checks.live_ranges.section import Difference, differences
from hlo_lsp.checks.peaks.peak_rules import compute_peak_step, counted_bytes

RANGES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(0, 50)).map(
        lambda range_: (range_[0], range_[0] + range_[1], range_[2])
    )
)


@given(RANGES)
def test_peak_step_is_first_start_with_maximum(ranges: list[tuple[int, int, int]]) -> None:
    starts = sorted({start for start, _, _ in ranges})
    sums = {step: counted_bytes(ranges, step) for step in starts}
    most = max(sums.values(), default=0)
    expected = next((step for step in starts if sums[step] == most), 0) if most else 0
    assert compute_peak_step(ranges) == expected


def test_value_counts_one_step_after_its_end() -> None:
    assert compute_peak_step([(0, 3, 100), (4, 5, 10)]) == 4
    assert compute_peak_step([(0, 3, 100), (5, 5, 10)]) == 0


def test_peak_step_without_bytes_is_zero() -> None:
    assert compute_peak_step([]) == 0
    assert compute_peak_step([(3, 4, 0)]) == 0


@given(st.permutations("abcdef"), st.integers(0, 5))
def test_any_other_list_differs(names: list[str], count: int) -> None:
    assert bool(differences(names[count:], list("abcdef"))) == (names[count:] != list("abcdef"))


def test_missing_row_of_long_list_is_one_difference() -> None:
    names = [f"add.{number}" for number in range(9_000)]
    assert differences(names[:5] + names[6:], names) == [Difference(5, False, 5)]
