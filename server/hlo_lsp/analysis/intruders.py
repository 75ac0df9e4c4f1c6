"""Of values that overlap: whose offset or live range is probably the wrong one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from hlo_lsp.analysis.overlaps import Overlap, Tenant
from hlo_lsp.model.dump_set import DumpSet


@dataclass(frozen=True, slots=True)
class Intruder:
    """A value to accuse, its overlaps (at least one), and whether rather its life is too long."""

    tenant: Tenant
    overlaps: tuple[Overlap, ...]
    lives_too_long: bool


def intruders(dump: DumpSet, found: Sequence[Overlap], tenants: Sequence[Tenant]) -> list[Intruder]:
    """The fewest values that explain all overlaps of an allocation.

    Whoever overlaps with most others comes first. Of two that only overlap with each other it is
    the one whose offset is aligned less than all others, or where nothing else begins or ends;
    then the one that lives on after its last use; then the later one.
    """
    left = list(found)
    accused: list[Intruder] = []
    while left:
        most = _most_overlaps(left)
        if len(most) > 1:
            suspect = most[0]
            others = [tenant for one in left for tenant in (one.one, one.other)]
            doubt = _doubt(dump, suspect, tenants, {*others})
        else:
            ranked = [
                (_doubt(dump, one, tenants, {left[0].one, left[0].other}), one.value.id, one)
                for one in (left[0].one, left[0].other)
            ]
            doubt, _, suspect = max(ranked, key=lambda rank: rank[:2])
        own = tuple(one for one in left if suspect in {one.one, one.other})
        accused.append(Intruder(suspect, own, lives_too_long=not any(doubt[:2]) and doubt[2]))
        left = [one for one in left if one not in set(own)]
    return accused


def _most_overlaps(found: Sequence[Overlap]) -> list[Tenant]:
    """The value in most overlaps, once for each of them; one at most where all are in one."""
    partners: dict[Tenant, list[Tenant]] = {}
    for overlap in found:
        partners.setdefault(overlap.one, []).append(overlap.one)
        partners.setdefault(overlap.other, []).append(overlap.other)
    return max(partners.values(), key=len)


def _doubt(
    dump: DumpSet, tenant: Tenant, tenants: Iterable[Tenant], apart: "set[Tenant]"
) -> tuple[bool, bool, bool]:
    """What speaks against a value: its alignment, its neighbours, its life."""
    offset = tenant.value.offset
    others = [other for other in tenants if other not in apart]
    alignment = gcd(*(other.value.offset for other in others)) if others else 0
    alignment = alignment & -alignment or 1
    edges = {0}
    for other in tenants:
        if other is not tenant:
            edges.add(other.value.offset)
            edges.add(-(-other.slot[1] // alignment) * alignment)
    return offset % alignment != 0, offset not in edges, _lives_too_long(dump, tenant)


def _lives_too_long(dump: DumpSet, tenant: Tenant) -> bool:
    """Whether a value ends at a step at which nothing happens to it."""
    entry = dump.find(lambda index: index.entries, tenant.value.id)
    if entry is None or not entry.record.whole or tenant.live.end_step == dump.last_step:
        return False
    names = {row.name for row in entry.record.positions}
    names.update(row.name for row in entry.record.uses)
    steps = [dump.step(name) for name in names]
    return all(step is not None and step.record.step != tenant.live.end_step for step in steps)
