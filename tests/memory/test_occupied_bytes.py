"""Occupied bytes over the schedule, compared with sets of bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.memory.occupancy import (
    LiveByteRange,
    RangeUnion,
    occupied_bytes_by_step,
    union_size,
)

_STEPS = 20
_VALUES = st.builds(
    lambda offset, size, start, steps: LiveByteRange(offset, size, start, start + steps),
    st.integers(0, 40),
    st.integers(0, 20),
    st.integers(0, 12),
    st.integers(0, 6),
)
_RANGES = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda ends: (min(ends), max(ends)))


def _each_step(values: list[LiveByteRange]) -> list[int]:
    changes = dict(occupied_bytes_by_step(values))
    occupied = [0]
    for step in range(_STEPS):
        occupied.append(changes.get(step, occupied[-1]))
    return occupied[1:]


@given(st.lists(_VALUES, max_size=12))
def test_each_step_is_the_union_of_live_bytes(values: list[LiveByteRange]) -> None:
    assert _each_step(values) == [
        len(
            {
                byte
                for value in values
                if value.start_step <= step <= value.end_step
                for byte in range(value.offset, value.offset + value.size)
            }
        )
        for step in range(_STEPS)
    ]


@pytest.mark.parametrize(
    ("values", "changes"),
    [
        ([], []),
        ([LiveByteRange(0, 8, 1, 2)], [(1, 8), (3, 0)]),
        # One value takes over the bytes of another, at a step at which both are live.
        ([LiveByteRange(0, 8, 0, 2), LiveByteRange(0, 8, 2, 3)], [(0, 8), (2, 8), (3, 8), (4, 0)]),
        # Two values overlap in part.
        ([LiveByteRange(0, 8, 0, 1), LiveByteRange(4, 8, 1, 1)], [(0, 8), (1, 12), (2, 0)]),
        # Neither an empty value nor one that ends before it starts occupies anything.
        ([LiveByteRange(4, 0, 0, 9), LiveByteRange(0, 8, 5, 4)], []),
    ],
)
def test_steps_with_a_change(values: list[LiveByteRange], changes: list[tuple[int, int]]) -> None:
    assert list(occupied_bytes_by_step(values)) == changes


def test_range_stays_until_removed_as_often_as_added() -> None:
    union = RangeUnion([(0, 8), (4, 12)])
    assert union.bytes == 0
    for byte_range, times, size in [
        ((0, 8), 1, 8),
        ((0, 8), 1, 8),
        ((4, 12), 1, 12),
        ((0, 8), -1, 12),
        ((0, 8), -1, 8),
        ((4, 12), -1, 0),
    ]:
        union.add(byte_range, times)
        assert union.bytes == size


@given(st.lists(_RANGES))
def test_union_size_counts_each_byte_once(ranges: list[tuple[int, int]]) -> None:
    assert union_size(ranges) == len({byte for first, end in ranges for byte in range(first, end)})
