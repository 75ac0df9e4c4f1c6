"""XLA's moment against the definition, step by step."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.analysis.live.peak_moment import live_weight, peak_moment

LIVES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(0, 50)).map(
        lambda life: (life[0], life[0] + life[1], life[2])
    )
)


@given(LIVES)
def test_the_first_start_that_counts_most(lives: list[tuple[int, int, int]]) -> None:
    starts = sorted({start for start, _, _ in lives})
    sums = {step: live_weight(lives, step) for step in starts}
    most = max(sums.values(), default=0)
    expected = next((step for step in starts if sums[step] == most), 0) if most else 0
    assert peak_moment(lives) == expected


def test_a_value_counts_until_one_step_behind_its_end() -> None:
    assert peak_moment([(0, 3, 100), (4, 5, 10)]) == 4
    assert peak_moment([(0, 3, 100), (5, 5, 10)]) == 0


def test_nothing_is_at_its_peak_at_once() -> None:
    assert peak_moment([]) == 0
    assert peak_moment([(3, 4, 0)]) == 0
