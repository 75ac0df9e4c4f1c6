"""Unions of byte ranges, compared with a computation step by step."""

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.memory.byte_ranges import (
    LiveByteRange,
    RangeUnion,
    occupied_bytes_by_step,
    union_size,
    updated_occupied_bytes,
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


@given(
    st.lists(_VALUES, max_size=12),
    st.integers(0, 12),
    st.integers(0, 3),
    st.lists(_VALUES, max_size=3),
)
def test_update_equals_fresh_sweep(
    before: list[LiveByteRange], start: int, count: int, added: list[LiveByteRange]
) -> None:
    values = [*before[:start], *added, *before[start + count :]]
    occupied = list(occupied_bytes_by_step(before))
    assert list(updated_occupied_bytes(before, occupied, values)) == list(
        occupied_bytes_by_step(values)
    )


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
