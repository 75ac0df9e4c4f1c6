"""Which flags of allocations are wrong, and which values lie in an allocation of another kind."""

from dataclasses import dataclass, replace

from hlo_lsp.analysis.assignment.origins import Origins, origins_of
from hlo_lsp.analysis.assignment.placements import Assignment, Placement, assignment_of
from hlo_lsp.analysis.assignment.roles import Contradiction, contradictions
from hlo_lsp.analysis.files.siblings import kin
from hlo_lsp.analysis.values.headers import disagreements
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.weak_cache import WeakCache
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 500  # values between two breaths
_KNOWN: "WeakCache[Placement, list[Contradiction]]" = WeakCache()


@dataclass(frozen=True, slots=True, eq=False)
class Misfits:
    """The contradictions of a dump, each with its allocation.

    ``values`` are those to accuse, ``allocations`` those whose flags are wrong.
    """

    found: tuple[tuple[Placement, Contradiction], ...]

    @property
    def values(self) -> set[AssignedValue]:
        """The values that lie in an allocation of another kind."""
        return {one.about for _, one in self.found if one.is_value and one.about is not None}

    @property
    def allocations(self) -> set[AllocationLine]:
        """The allocations that are not what they say."""
        return {placement.allocation for placement, one in self.found if not one.is_value}

    def has_filled(self, allocation: AllocationLine) -> bool:
        """Whether a value that lies elsewhere would fill an empty allocation."""
        return any(_fills(value, allocation) for value in self.values)


def misfits_of(dump: DumpSet) -> Misfits:
    """What is wrong with the flags, remembered until a file changes."""
    state = dump.state(dump.files)
    known: Misfits | None = dump.remembered(misfits_of, state)
    if known is None:
        assignment = assignment_of(dump)
        kindred = kin(dump, assignment.file)
        known = _compute(dump, assignment, origins_of(kindred))
        dump.remember(misfits_of, state, known)
    return known


def _compute(dump: DumpSet, assignment: Assignment, origins: Origins) -> Misfits:
    empty = [
        placement.allocation
        for placement in assignment.placements
        if not placement.values and not placement.allocation.preallocated_temp
    ]
    found: list[tuple[Placement, Contradiction]] = []
    count = 0
    for placement in assignment.placements:
        count += len(placement.values) + 1
        if count >= _STEP:
            count = 0
            checkpoint()
        known = _KNOWN.get(placement, origins)
        if known is None:
            known = list(contradictions(placement, origins))
            _KNOWN.put(placement, known, origins)
        found += ((placement, _with_value(one, empty)) for one in known)
    if assignment.strays or any(one.is_value for _, one in found):
        # Who misses a value may have lost it to another allocation.
        found = [(placement, one) for placement, one in found if not one.is_absence]
    if not found:
        return Misfits(())
    headers = disagreements(dump)
    suspects = headers.suspects
    if headers.short:
        found = [(placement, one) for placement, one in found if not one.is_absence]
    return Misfits(
        tuple(
            (placement, one)
            for placement, one in found
            if one.about is None or one.about.id not in suspects
        )
    )


def _with_value(one: Contradiction, empty: list[AllocationLine]) -> Contradiction:
    """The value is accused rather than its allocation where another one is empty for it."""
    value = one.about
    if value is None or not any(_fills(value, allocation) for allocation in empty):
        return one
    return replace(one, is_value=True)


def _fills(value: AssignedValue, allocation: AllocationLine) -> bool:
    return value.size == allocation.size > 0 and (value.color or 0) == allocation.color
