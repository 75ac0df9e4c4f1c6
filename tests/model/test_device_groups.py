"""Device orders and the groups of collectives (tile_assignment.h, replica_group.cc).

The members of groups are those that a CPU collective of 16 devices gathered.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.device_groups import (
    DeviceGroups,
    DeviceOrder,
    EqualGroups,
    GroupList,
    ShardingError,
    parse_device_groups,
)


def members(groups: DeviceGroups) -> list[list[int]]:
    """Return all devices of all groups."""
    return [
        list(group) if isinstance(group, tuple) else [group.at(n) for n in range(group.count)]
        for group in groups.first(groups.count)
    ]


@st.composite
def _iotas(draw: st.DrawFn) -> DeviceOrder:
    dims = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    return DeviceOrder(tuple(dims), tuple(draw(st.permutations(range(len(dims))))))


@given(_iotas())
def test_iota_names_every_device_once(order: DeviceOrder) -> None:
    assert sorted(order.at(place) for place in range(order.count)) == list(range(order.count))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_iota_that_transposes_nothing_counts(dims: list[int]) -> None:
    order = DeviceOrder(tuple(dims), tuple(range(len(dims))))
    assert [order.at(place) for place in range(order.count)] == list(range(order.count))


@given(st.integers(1, 6), st.integers(1, 6))
def test_transposed_iota_goes_down_the_columns(rows: int, columns: int) -> None:
    order = DeviceOrder((rows, columns), (1, 0))
    down = [row * columns + column for column in range(columns) for row in range(rows)]
    assert [order.at(place) for place in range(order.count)] == down


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", []),
        ("{{0,1},{2,3}}", [[0, 1], [2, 3]]),
        ("{{0, 2}, {1}}", [[0, 2], [1]]),
        ("{{0},{}}", [[0], []]),
        ("[2,2]<=[4]", [[0, 1], [2, 3]]),
        ("[2,2]<=[2,2]T(1,0)", [[0, 2], [1, 3]]),
        ("[2,8]<=[2,2,4]T(1,2,0)",
         [[0, 8, 1, 9, 2, 10, 3, 11], [4, 12, 5, 13, 6, 14, 7, 15]]),
        ("mesh['axis_0'=2,'axis_1'=2] {'axis_0'}", [[0, 2], [1, 3]]),
        ("mesh['axis_0'=2,'axis_1'=2] {'axis_0','axis_1'}", [[0, 1, 2, 3]]),
        ("mesh['a'=8,'b'=2] {'a':(2)2,'b'}",
         [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]),
        ("mesh['a'=8,'b'=2] {'b','a':(2)2}",
         [[0, 4, 1, 5], [2, 6, 3, 7], [8, 12, 9, 13], [10, 14, 11, 15]]),
        ("mesh['a'=8,'b'=1] {'a':(4)2,'a':(1)2}", [[0, 4, 1, 5], [2, 6, 3, 7]]),
        ("mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'a'}", [[0, 1], [2, 3]]),
        ("mesh['a'=2,'b'=2], device_ids=(3,2,0,1) {'b'}", [[3, 2], [0, 1]]),
        ("mesh['a'=3] {}", [[0], [1], [2]]),
    ],
)  # fmt: skip
def test_groups_of_a_collective(text: str, expected: list[list[int]]) -> None:
    assert members(parse_device_groups(text)) == expected


@pytest.mark.parametrize(
    ("text", "count", "size"),
    [
        ("{{0,1},{2,3},{4,5}}", 3, 2),
        ("{{0,1},{2}}", 2, None),
        ("{}", 0, None),
        ("[64,32]<=[32,64]T(1,0)", 64, 32),
        ("[1000000000,1000000000]<=[1000000000000000000]", 10**9, 10**9),
    ],
)
def test_groups_and_their_size(text: str, count: int, size: int | None) -> None:
    groups = parse_device_groups(text)
    assert (groups.count, groups.size) == (count, size)


def test_mesh_groups_have_axes() -> None:
    groups = parse_device_groups("mesh['a'=8,'b'=2] {'a':(2)2,'b'}")
    assert isinstance(groups, EqualGroups)
    assert [str(axis) for axis in groups.axes] == ["a:(2)2", "b"]


def test_listed_groups_are_kept_as_they_are() -> None:
    assert parse_device_groups("{{3,1}}") == GroupList(((3, 1),))


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "{{0,1}", "{{0,,1}}", "{{0},{1}}}", "[2,2]", "[3,2]<=[4]", "[4]<=[4]",
        "[2,2]<=[2,2]", "[2,2]<=[2,2]T(1,1)", "[0,4]<=[0]", "mesh['a'=2] {'b'}",
        "mesh['a'=2,'a'=2] {'a'}", "mesh['a'=2] {'a','a'}", "mesh['a'=4] {'a','a':(1)2}",
        "mesh['a'=6] {'a':(1)3,'a':(2)3}", "mesh['a'=6] {'a':(1)2,'a':(3)2}",
        "mesh['a'=4] {'a':(1)4}", "mesh['a'=4] {'a':(0)2}", "mesh['a'=4], device_ids=(0,1) {'a'}",
    ],
)  # fmt: skip
def test_invalid_groups_raise(text: str) -> None:
    with pytest.raises(ShardingError):
        parse_device_groups(text)
