"""Of values in the same bytes: whose line is accused."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.analysis.assignment.intruders import Intruder, intruders
from hlo_lsp.analysis.assignment.overlaps import Overlap, Tenant, overlaps, overlaps_of
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import AssignedValue, RangeRow

NOWHERE = DumpSet([])  # no other file knows anything of the values


def _tenant(number: int, offset: int, size: int, start: int = 0, end: int = 9) -> Tenant:
    value = AssignedValue(number, f"v.{number}", None, False, 0, size, offset, "f32[1]{0}")
    return Tenant(value, RangeRow(value.name, "{}", start, end))


def _found(tenants: Sequence[Tenant]) -> list[Overlap]:
    return [one for one in overlaps(tenants) if one is not None]


def _intruders(tenants: Sequence[Tenant], doubts: "dict[int, int] | None" = None) -> list[Intruder]:
    known = doubts or {}
    return intruders(NOWHERE, _found(tenants), tenants, lambda value: known.get(value.id, 0))


def _accused(tenants: Sequence[Tenant], doubts: "dict[int, int] | None" = None) -> list[int]:
    return [one.tenant.value.id for one in _intruders(tenants, doubts)]


ROW = [_tenant(number, 512 * number, 512) for number in range(4)]  # 0 to 2048 without a gap


def test_where_nothing_overlaps_nobody_is_accused() -> None:
    assert _intruders(ROW) == []


def test_the_one_whose_offset_is_aligned_less_than_the_others() -> None:
    assert _accused([_tenant(8, 2047, 512), *ROW, _tenant(9, 2048, 512)]) == [8]
    assert _accused([_tenant(8, 3073, 512), *ROW, _tenant(9, 3072, 512)]) == [8]
    assert _accused([_tenant(8, 3072, 512), *ROW, _tenant(9, 3073, 512)]) == [9]


def test_the_one_that_begins_where_no_other_begins_or_ends() -> None:
    for moved, right in ((8, 9), (9, 8)):
        tenants = [*ROW, _tenant(moved, 2560, 1024), _tenant(right, 2048, 1024)]
        assert _accused(tenants) == [moved]
    # Where another one ends, rounded up to what all are aligned to.
    tenants = [*ROW[:3], _tenant(3, 1536, 500), _tenant(8, 2048, 1024), _tenant(9, 2560, 1024)]
    assert _accused(tenants) == [9]
    tenants = [*ROW, _tenant(5, 4096, 512), _tenant(9, 4096, 1024), _tenant(8, 3584, 1024)]
    assert 8 in _accused(tenants)
    # At the beginning of the allocation it is in its place.
    assert _accused([_tenant(7, 512, 1024), _tenant(8, 0, 1024), _tenant(6, 2560, 512)]) == [7]


def test_offsets_are_aligned_to_powers_of_two() -> None:
    """What lies behind thrice 512 bytes begins at any multiple of 512."""
    others = [_tenant(0, 0, 1536), _tenant(1, 1536, 1536), _tenant(2, 3072, 512)]
    assert _accused([*others, _tenant(9, 3584, 2048), _tenant(8, 4608, 2048)]) == [8]


def test_the_one_without_an_alias_in_its_slot() -> None:
    """Each overlap of the aliases is one with it."""
    early = _tenant(4, 3072, 1024, 0, 2)
    for moved, right in ((8, 9), (9, 8)):
        tenants = [*ROW, early, _tenant(right, 3072, 1024, 5, 9), _tenant(moved, 3584, 1024, 4, 9)]
        assert _accused(tenants) == [moved]


def test_two_pairs_are_looked_at_each_by_itself() -> None:
    pairs = [_tenant(1, 0, 512), _tenant(4, 0, 256), _tenant(3, 512, 512), _tenant(2, 512, 256)]
    assert _accused(pairs) == [4, 3]


def test_the_later_one_if_nothing_speaks_against_either() -> None:
    for one in _intruders([_tenant(8, 0, 512), _tenant(9, 0, 256)]):
        assert not one.lives_too_long
    assert _accused([_tenant(8, 0, 512), _tenant(8, 0, 256)]) == [8]
    assert _accused([_tenant(8, 0, 512), _tenant(9, 0, 256)]) == [9]
    assert _accused([_tenant(9, 0, 512), _tenant(8, 0, 256)]) == [9]


def test_the_one_that_overlaps_with_most() -> None:
    (intruder,) = _intruders([*ROW, _tenant(2, 512, 1536)])
    assert intruder.tenant.slot == (512, 2048)
    assert [one.one for one in intruder.overlaps] == [intruder.tenant] * 3 or [
        one.other for one in intruder.overlaps
    ] == [intruder.tenant] * 3


def test_one_that_overlaps_with_two_is_worse_than_one_with_an_odd_offset() -> None:
    assert _accused([*ROW[2:], _tenant(5, 0, 1024), _tenant(8, 100, 300), ROW[1]]) == [5]


def test_two_that_moved_are_both_told_with_their_own_overlaps() -> None:
    tenants = [*ROW, _tenant(8, 255, 512), _tenant(9, 1279, 512)]
    found = {one.tenant.value.id: one for one in _intruders(tenants)}
    assert sorted(found) == [8, 9]
    for number, partners in ((8, {0, 1}), (9, {2, 3})):
        met = {one.one.value.id for one in found[number].overlaps}
        met |= {one.other.value.id for one in found[number].overlaps}
        assert met == partners | {number}


def test_whom_another_file_doubts() -> None:
    """Before all else; of several the one with most overlaps."""
    tenants = [*ROW, _tenant(8, 255, 512)]
    assert _accused(tenants) == [8]
    assert _accused(tenants, {0: 2, 1: 2, 8: 0}) == [0, 1]
    assert _accused(tenants, {0: 1, 1: 1, 8: 0}) == [0, 1]
    # Doubts of all alike say nothing, unless the file has none of them there.
    assert _accused(tenants, {0: 1, 1: 1, 8: 1}) == [8]
    assert _accused(tenants, {0: 2, 1: 2, 8: 2}) == [8]
    one, other = _tenant(7, 0, 512), _tenant(8, 256, 512)
    assert _accused([one, other], {7: 1}) == [7]
    assert _accused([one, other], {7: 2, 8: 2}) == [7]


def test_all_overlaps_of_the_accused_are_told() -> None:
    """The sweep finds at least one of each."""
    tenants = [_tenant(9, 1, 3000), *ROW, _tenant(10, 2500, 512)]
    (intruder,) = _intruders(tenants)
    assert len(intruder.overlaps) == 5


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(1, 6), st.integers(0, 9), st.integers(0, 5)),
        max_size=10,
    )
)
def test_without_the_accused_nothing_overlaps(spans: "list[tuple[int, int, int, int]]") -> None:
    tenants = [
        _tenant(number, offset, size, start, start + length)
        for number, (offset, size, start, length) in enumerate(spans)
    ]
    found = _intruders(tenants)
    accused = {one.tenant for one in found}
    left = [tenant for tenant in tenants if tenant not in accused]
    assert _found(left) == []
    assert len(accused) == len(found)
    for one in found:
        assert one.overlaps
        assert all(one.tenant in {each.one, each.other} for each in one.overlaps)
    told = {frozenset((each.one, each.other)) for one in found for each in one.overlaps}
    right = {
        frozenset((tenant, each.other))
        for tenant in tenants
        for each in overlaps_of(tenant, tenants)
    }
    assert told == right
    assert sum(len(one.overlaps) for one in found) == len(told)
