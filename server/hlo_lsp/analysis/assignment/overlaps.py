"""Values that would be in the same bytes at the same time."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.syntax.memory_records import AssignedValue, RangeRow
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 500  # events between two breaths
_END, _MOMENT, _START = range(3)  # in this order at one step: who ends makes room


@dataclass(frozen=True, slots=True, eq=False)
class Tenant:
    """A value with bytes of its own and its live range."""

    value: AssignedValue
    live: RangeRow

    @property
    def slot(self) -> tuple[int, int]:
        """First byte and the one behind the last."""
        return self.value.offset, self.value.offset + self.value.size


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two values that share bytes, from ``first_byte`` up to ``last_byte``, while both live.

    Steps and bytes are inclusive.
    """

    one: Tenant
    other: Tenant

    @property
    def bytes(self) -> tuple[int, int]:
        """The first and the last byte that both take."""
        one, other = self.one.slot, self.other.slot
        return max(one[0], other[0]), min(one[1], other[1]) - 1

    @property
    def steps(self) -> tuple[int, int]:
        """The first and the last step at which both live."""
        one, other = self.one.live, self.other.live
        return max(one.start_step, other.start_step), min(one.end_step, other.end_step)


def overlaps_of(tenant: Tenant, tenants: Sequence[Tenant]) -> list[Overlap]:
    """All overlaps of one value, by a look at each of the others."""
    start, end = tenant.live.start_step, tenant.live.end_step
    first, behind = tenant.slot
    return [
        Overlap(tenant, other)
        for other in tenants
        if other.live.start_step < end
        and start < other.live.end_step
        and other.value.offset < behind
        and first < other.slot[1]
        and other.slot != tenant.slot
    ]


def overlaps(tenants: Sequence[Tenant]) -> Iterator[Overlap]:
    """Pairs of values of one allocation that share bytes while both live.

    Only what no true dump has counts: byte ranges that meet but are not the same (values in the
    same slot are aliases), and lives that share more than the one step at which one ends and the
    other begins. Not all pairs are told, but of each overlap at least one value is in one that is.
    One sweep over the steps with the live slots in order: O(n log n).
    """
    events = sorted(
        event for number, tenant in enumerate(tenants) for event in _events(number, tenant)
    )
    holders: dict[tuple[int, int], dict[int, Tenant]] = {}
    slots: list[tuple[int, int]] = []  # the keys of `holders` in order; none meets another
    for count, (_, what, number) in enumerate(events):
        if count % _STEP == _STEP - 1:
            checkpoint()
        tenant = tenants[number]
        slot = tenant.slot
        if what == _END:
            held = holders.get(slot)
            if held is not None and held.pop(number, None) is not None and not held:
                del holders[slot]
                del slots[bisect_left(slots, slot)]
            continue
        met = [other for other in _meeting(slots, slot) if other != slot]
        for other in met:
            yield Overlap(next(iter(holders[other].values())), tenant)
        if what == _START and not met:
            if slot not in holders:
                holders[slot] = {}
                insort(slots, slot)
            holders[slot][number] = tenant


def _events(number: int, tenant: Tenant) -> Iterator[tuple[int, int, int]]:
    start, end = tenant.live.start_step, tenant.live.end_step
    if start == end:
        yield start, _MOMENT, number
    else:
        yield start, _START, number
        yield end, _END, number


def _meeting(slots: list[tuple[int, int]], slot: tuple[int, int]) -> list[tuple[int, int]]:
    """The slots that share bytes with one."""
    place = bisect_left(slots, slot)
    first = place
    while first > 0 and slots[first - 1][1] > slot[0]:
        first -= 1
    last = place
    while last < len(slots) and slots[last][0] < slot[1]:
        last += 1
    return slots[first:last]
