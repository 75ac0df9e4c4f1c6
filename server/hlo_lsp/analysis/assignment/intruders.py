"""Of values that overlap: whose offset or live range is probably the wrong one."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from hlo_lsp.analysis.assignment.overlaps import Overlap, Tenant, overlaps_of
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import AssignedValue

_CALLING = frozenset({"while", "call", "conditional", "tuple", "async-start", "async-update"})
_MOST_SUSPECTS = 20  # of one allocation, whose overlaps are all looked for


@dataclass(frozen=True, slots=True)
class Intruder:
    """A value to accuse, its overlaps (at least one), and whether rather its life is too long."""

    tenant: Tenant
    overlaps: tuple[Overlap, ...]
    lives_too_long: bool


class _Doubt(NamedTuple):
    """What speaks against a value, the strongest first."""

    is_unaligned: bool
    begins_apart: bool  # where no other begins or ends
    has_no_alias: bool
    outlives_its_uses: bool

    @property
    def is_of_its_life(self) -> bool:
        """Whether its live range looks wrong rather than its offset."""
        return self.outlives_its_uses and not self.is_unaligned and not self.begins_apart


def intruders(
    dump: DumpSet,
    found: Sequence[Overlap],
    tenants: Sequence[Tenant],
    doubt_of: Callable[[AssignedValue], int],
) -> list[Intruder]:
    """The fewest values that explain all overlaps of an allocation.

    Whom another file doubts most comes first: ``doubt_of`` says how much. Then it is whoever
    overlaps with most others. Of two that only overlap with each other it is the one whose offset
    is aligned less than all others, or where nothing else begins or ends; then the one that lives
    on after its last use; then the later one. An alias in the same slot speaks for a value.
    """
    left = _completed(found, tenants)
    accused: list[Intruder] = []
    while left:
        most = _most_overlaps(left)
        suspects = _most_doubted(left, doubt_of)
        doubt: _Doubt | None = None
        if suspects:
            suspect = suspects[0]
        elif len(most) > 1:
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
        accused.append(Intruder(suspect, own, doubt is not None and doubt.is_of_its_life))
        left = [one for one in left if suspect not in {one.one, one.other}]
    return accused


def _completed(found: Sequence[Overlap], tenants: Sequence[Tenant]) -> list[Overlap]:
    """The overlaps of all values that overlap, as far as those are few."""
    suspects = list(dict.fromkeys(tenant for one in found for tenant in (one.one, one.other)))
    known = {frozenset((one.one, one.other)): one for one in found}
    for suspect in suspects[:_MOST_SUSPECTS]:
        for one in overlaps_of(suspect, tenants):
            known.setdefault(frozenset((one.one, one.other)), one)
    return list(known.values())


def _most_doubted(
    found: Sequence[Overlap], doubt_of: Callable[[AssignedValue], int]
) -> list[Tenant]:
    """The values of whom more is to be doubted than of others, in the order of their overlaps."""
    counts = Counter(tenant for one in found for tenant in (one.one, one.other))
    doubts = {tenant: doubt_of(tenant.value) for tenant in counts}
    if len({*doubts.values()}) < 2 and 2 not in doubts.values():
        return []
    worst = max(doubts.values())
    return [tenant for tenant, _ in counts.most_common() if doubts[tenant] == worst]


def _most_overlaps(found: Sequence[Overlap]) -> list[Tenant]:
    """The value in most overlaps, once for each of them; one at most where all are in one."""
    partners: dict[Tenant, list[Tenant]] = {}
    for overlap in found:
        partners.setdefault(overlap.one, []).append(overlap.one)
        partners.setdefault(overlap.other, []).append(overlap.other)
    return max(partners.values(), key=len)


def _doubt(
    dump: DumpSet, tenant: Tenant, tenants: Iterable[Tenant], apart: "set[Tenant]"
) -> _Doubt:
    """What speaks against a value; the alignment is that of all but those ``apart``."""
    offset = tenant.value.offset
    alignment = gcd(*(other.value.offset for other in tenants if other not in apart))
    alignment = alignment & -alignment or 1
    edges = {0}
    slots = set[tuple[int, int]]()
    for other in tenants:
        if other is not tenant:
            edges |= {other.value.offset, -(-other.slot[1] // alignment) * alignment}
            slots.add(other.slot)
    return _Doubt(
        offset % alignment != 0,
        offset not in edges,
        tenant.slot not in slots,
        _lives_too_long(dump, tenant),
    )


def _lives_too_long(dump: DumpSet, tenant: Tenant) -> bool:
    """Whether a value ends at a step at which nothing happens to it.

    Only of a value that lives in one place, is used there, and is handed to no other computation:
    the lives of others end where a computation does.
    """
    found = dump.find(lambda index: index.entries, tenant.value.id)
    if found is None or not found.record.whole or found.record.phi:
        return False
    positions, uses = list(found.record.positions), list(found.record.uses)
    if len(positions) != 1 or not uses or tenant.live.end_step == dump.last_step:
        return False
    steps = {tenant.live.start_step}
    for use in uses:
        text, step = dump.text_of(use.name), dump.step(use.name)
        if text is None or step is None or text.opcode.text in _CALLING:
            return False
        steps.add(step.record.step)
    return tenant.live.end_step not in steps
