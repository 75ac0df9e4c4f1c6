"""Values that would overwrite each other, put down to as few wrong lines as can be."""

from dataclasses import dataclass

from hlo_lsp.analysis.assignment.displaced import counted
from hlo_lsp.analysis.assignment.extents import proven_size
from hlo_lsp.analysis.assignment.intruders import Intruder, intruders
from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.overlaps import Overlap, Tenant, overlaps
from hlo_lsp.analysis.assignment.placements import Placement, assignment_of
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import Target, target_of
from hlo_lsp.model.weak_cache import WeakCache
from hlo_lsp.text.checkpoint import checkpoint

_MOST = 200  # overlaps of one allocation that are looked into
_STEP = 1000  # values between two breaths
_ASYNCHRONOUS = frozenset({"async-start", "async-update"})
_CLEAR: "WeakCache[Placement, bool]" = WeakCache()  # those without any overlap


@dataclass(frozen=True, slots=True, eq=False)
class OverlapFault:
    """A value that lies in the bytes of others of its allocation while they live."""

    placement: Placement
    intruder: Intruder


def overlap_faults(dump: DumpSet) -> tuple[OverlapFault, ...]:
    """The values to accuse of overlaps, remembered until a file changes."""
    state = dump.state(dump.files)
    known: tuple[OverlapFault, ...] | None = dump.remembered(overlap_faults, state)
    if known is None:
        known = tuple(_compute(dump))
        dump.remember(overlap_faults, state, known)
    return known


def _compute(dump: DumpSet) -> list[OverlapFault]:
    target, faults = target_of(dump), list[OverlapFault]()
    assignment = assignment_of(dump)
    lives = [file for file in dump.files if len(file.memory.ranges)]
    state = dump.state(lives, but_places=True)
    for placement in assignment.placements:
        if placement.allocation.thread_local or len(placement.values) < 2:
            continue
        if not placement.whole or _CLEAR.get(placement, state):
            continue  # of those that are not whole some may be the values of another allocation
        tenants = _tenants(dump, placement)
        found: list[Overlap] = []
        is_clear = True
        for one in overlaps(tenants):
            is_clear = False
            if (
                _is_sound(dump, target, one.one)
                and _is_sound(dump, target, one.other)
                and not (_is_context(dump, one.one) and _is_context(dump, one.other))
            ):
                found.append(one)
                if len(found) == _MOST:
                    break
        if is_clear:
            _CLEAR.put(placement, True, state)
        if not found:
            continue
        misfits = (misfits_of(dump)).values
        found = [one for one in found if misfits.isdisjoint((one.one.value, one.other.value))]
        counts = counted(dump)
        faults += [
            OverlapFault(placement, intruder)
            for intruder in intruders(dump, found, tenants, counts.doubt)
        ]
    return faults


def _tenants(dump: DumpSet, placement: Placement) -> list[Tenant]:
    """The values of an allocation whose bytes and lives lie inside of what there is."""
    size, last = placement.allocation.size, dump.last_step
    lives = [file.memory.ranges for file in dump.files if len(file.memory.ranges)]
    found: list[Tenant] = []
    for count, value in enumerate(placement.values):
        if count % _STEP == _STEP - 1:
            checkpoint()
        if not value.size or value.offset + value.size > size:
            continue
        key = value.key
        rows = [row for ranges in lives for row in ranges.all(key)]
        if len(rows) == 1 and rows[0].start_step <= rows[0].end_step <= (last or 0):
            found.append(Tenant(value, rows[0]))
    return found


def _is_sound(dump: DumpSet, target: Target, tenant: Tenant) -> bool:
    """Whether no other rule finds the size of a value wrong, or the start of its life."""
    size = proven_size(tenant.value, target)
    if size is not None and size != tenant.value.size:
        return False
    step = dump.step(tenant.value.name)
    if step is None or step.record.step == tenant.live.start_step:
        return True
    # A parameter of a computation lives from the start of the computation on.
    return step.record.step > tenant.live.start_step and _is_parameter(dump, tenant)


def _is_context(dump: DumpSet, tenant: Tenant) -> bool:
    """Whether a value is what an asynchronous call keeps for itself, behind operands and results.

    Calls that wait for one another share it: those on the SparseCore of a TPU run one at a time,
    while the live ranges are those of the core that starts them.
    """
    if not (tenant.value.index or "").startswith("{2"):
        return False
    text = dump.text_of(tenant.value.name)
    return text is None or text.opcode.text in _ASYNCHRONOUS


def _is_parameter(dump: DumpSet, tenant: Tenant) -> bool:
    text = dump.text_of(tenant.value.name)
    return text is None or text.opcode.text == "parameter"
