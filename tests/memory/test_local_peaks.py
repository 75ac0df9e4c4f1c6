"""Local peaks of a curve of occupied bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.memory.occupancy_and_peaks import local_peaks


@pytest.mark.parametrize(
    ("curve", "rise", "peaks"),
    [
        ([], 1, []),
        ([(0, 5)], 1, [(0, 5)]),
        ([(0, 5), (3, 9), (7, 0)], 1, [(3, 9)]),
        ([(0, 9), (2, 4), (5, 8), (6, 0)], 4, [(0, 9), (5, 8)]),
        ([(0, 9), (2, 6), (5, 8), (6, 0)], 4, [(0, 9)]),
        ([(0, 3), (1, 2), (2, 3)], 4, []),
    ],
    ids=["empty", "one step", "one peak", "two peaks", "shallow valley", "small"],
)
def test_peaks_rise_above_both_valleys(
    curve: list[tuple[int, int]], rise: int, peaks: list[tuple[int, int]]
) -> None:
    assert list(local_peaks(curve, rise)) == peaks


@given(st.lists(st.integers(0, 100), min_size=1), st.integers(1, 20))
def test_largest_peak_is_the_maximum(sizes: list[int], rise: int) -> None:
    peaks = list(local_peaks(enumerate(sizes), rise))
    if max(sizes) >= rise:
        step, size = max(peaks, key=lambda peak: peak[1])
        assert size == max(sizes)
        assert sizes[step] == size
