"""Occupied bytes over the schedule, as a chart and as JSON."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.memory.occupancy_and_peaks import SpaceOccupancy
from hlo_lsp.reports.timeline import column_maxima, timeline_json, timeline_lines, timeline_of
from reports.example import ASSIGNMENT, BYTES, FIXED_BYTES, PEAK_STEP, RANGES, example


def _lines(*texts: str, columns: int = 60, step: int | None = None, top: int = 9) -> list[str]:
    timeline = timeline_of(example(*texts), step=step)
    return list(timeline_lines(timeline, columns, top, ascii_only=True))


def test_chart_has_a_bar_for_each_step() -> None:
    assert _lines() == [
        "jit_f | unknown | 5 steps",
        "",
        "memory space 0: peak 5.0 KiB at step 2, 5.0 KiB allocated"
        " (. arguments, constants, and outputs: 2.0 KiB)",
        "            1",
        " 5.0 KiB |  ###",
        "         |  ###",
        "         | ####",
        "         | ####",
        "         | ####",
        "         | ####",
        " 2.0 KiB |......",
        "         |......",
        "         |......",
        "         |......",
        "       0 +------",
        "          0 step 5",
        "1  5.0 KiB at step 2: b (/home/user/model.py:7)",
    ]


def test_chart_has_the_width_of_the_terminal() -> None:
    ranges = RANGES.replace("5", "500")
    assert max(map(len, _lines(ASSIGNMENT, ranges)[3:-1])) == 60


def test_blocks_are_used_by_default() -> None:
    text = "\n".join(timeline_lines(timeline_of(example()), 60, 9))
    assert "░" in text
    assert "█" in text


def test_step_lists_the_live_set() -> None:
    assert _lines(step=3)[2:] == [
        "memory space 0: 5.0 KiB at step 3 in 4 buffers",
        "  2.0 KiB  c{}  steps 3-4                 c at /home/user/model.py:7",
        "  1.0 KiB  x{}  steps 0-5                 argument p['w']",
        "  1.0 KiB  r{}  steps 4-5, whole program  r at /home/user/model.py:7",
        "  1.0 KiB  b{}  steps 2-4                 b at /home/user/model.py:7",
    ]


def test_single_buffer_is_singular() -> None:
    timeline = timeline_of(example(), step=0)
    space = replace(timeline.spaces[0], buffers=timeline.spaces[0].buffers[:1])
    (line,) = list(timeline_lines(replace(timeline, spaces=(space,)), 60, 9))[2:3]
    assert line.endswith(" in 1 buffer")


def test_list_ends_with_the_sum_of_the_others() -> None:
    assert _lines(step=3, top=1)[-1] == "  3.0 KiB  in 3 smaller buffers"


def test_json_has_the_curve_and_the_live_set() -> None:
    (space,) = timeline_json(timeline_of(example(), step=PEAK_STEP))["spaces"]
    curve = dict(zip(space["steps"], space["bytes"], strict=True))
    assert [curve.get(step) for step in (1, 2, 5)] == [BYTES[1], BYTES[2], FIXED_BYTES]
    assert (space["peak_step"], space["peak_bytes"]) == (PEAK_STEP, max(BYTES))
    assert sum(one["padded_bytes"] for one in space["at"]["buffers"]) == space["at"]["bytes"]


def test_other_memory_spaces_are_left_out() -> None:
    assert timeline_of(example(), space=7).spaces == ()


def test_missing_live_ranges_are_named() -> None:
    assert _lines(ASSIGNMENT)[1:] == [
        "no live ranges: peaks and owners are unknown",
        "no module text: origins and Python lines are unknown",
    ]


@given(st.dictionaries(st.integers(0, 99), st.integers(0, 50), max_size=20), st.integers(1, 100))
def test_columns_have_the_maxima_of_their_steps(changes: dict[int, int], width: int) -> None:
    steps = tuple(sorted(changes))
    temp = tuple(changes[step] for step in steps)
    occupancy = SpaceOccupancy(0, 99, 7, steps, temp, 0, 0)
    bounds = [100 * column // width for column in range(width + 1)]
    expected = [
        max(occupancy.bytes_at(step) for step in range(*bound)) for bound in pairwise(bounds)
    ]
    assert list(column_maxima(occupancy, bounds)) == expected
