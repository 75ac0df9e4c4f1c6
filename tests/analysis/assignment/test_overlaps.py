"""Values in the same bytes at the same time, against a look at each pair."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.analysis.assignment.overlaps import Tenant, overlaps, overlaps_of
from hlo_lsp.syntax.memory_records import AssignedValue, RangeRow
from jobs import count_checkpoints

_SPANS = st.tuples(st.integers(0, 12), st.integers(1, 6), st.integers(0, 9), st.integers(0, 5))


def _tenant(number: int, offset: int, size: int, start: int, end: int) -> Tenant:
    value = AssignedValue(number, f"v.{number}", None, False, 0, size, offset, "f32[1]{0}")
    return Tenant(value, RangeRow(value.name, "{}", start, end))


def _collide(one: Tenant, other: Tenant) -> bool:
    """The rule as it is told: bytes in common, but not all, and more than a step."""
    (a, b), (c, d) = one.slot, other.slot
    meets = a < d and c < b and (a, b) != (c, d)
    return (
        meets
        and one.live.start_step < other.live.end_step
        and other.live.start_step < one.live.end_step
    )


@st.composite
def _lists(draw: st.DrawFn) -> list[Tenant]:
    spans = draw(st.lists(_SPANS, max_size=12))
    return [
        _tenant(number, offset, size, start, start + length)
        for number, (offset, size, start, length) in enumerate(spans)
    ]


@given(_lists())
def test_all_that_is_found_collides_and_whatever_collides_is_found(tenants: list[Tenant]) -> None:
    found = [one for one in overlaps(tenants) if one is not None]
    told = {frozenset((one.one, one.other)) for one in found}
    right = {frozenset(pair) for pair in combinations(tenants, 2) if _collide(*pair)}
    assert told <= right
    assert all(pair & frozenset().union(*told) for pair in right)


@given(_lists())
def test_all_overlaps_of_one_value(tenants: list[Tenant]) -> None:
    for tenant in tenants:
        found = overlaps_of(tenant, tenants)
        assert [one.other for one in found] == [one for one in tenants if _collide(tenant, one)]
        assert all(one.one is tenant for one in found)


def test_bytes_and_steps_of_an_overlap() -> None:
    one, other = _tenant(1, 0, 1024, 2, 9), _tenant(2, 512, 1024, 5, 7)
    (found,) = overlaps([one, other])
    assert found is not None
    assert (found.bytes, found.steps) == ((512, 1023), (5, 7))


def test_a_value_may_begin_where_another_ends() -> None:
    assert list(overlaps([_tenant(1, 0, 8, 0, 5), _tenant(2, 4, 8, 5, 9)])) == []


def test_values_in_the_same_slot_may_be_aliases() -> None:
    assert list(overlaps([_tenant(1, 0, 8, 0, 5), _tenant(2, 0, 8, 3, 9)])) == []


def test_a_value_that_lives_for_a_step_inside_of_the_life_of_another() -> None:
    assert len(list(overlaps([_tenant(1, 0, 8, 0, 5), _tenant(2, 4, 8, 3, 3)]))) == 1
    assert list(overlaps([_tenant(1, 0, 8, 3, 5), _tenant(2, 4, 8, 3, 3)])) == []


def test_long_work_passes_checkpoints() -> None:
    tenants = [_tenant(number, number, 1, 0, 1) for number in range(5000)]
    assert 10 <= count_checkpoints(lambda: list(overlaps(tenants))) <= 100
