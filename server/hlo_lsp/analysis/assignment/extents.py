"""Whether an allocation is as large as its values need, and whose number is wrong if it is not.

The size of a value follows from its shape, the size of an allocation from its values, and the
total from all allocations: three witnesses, of which one damaged number contradicts the others.
"""

from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.assignment.placements import Assignment, Placement, assignment_of
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import Target, padded_size_of_text, target_of
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AssignedValue, TotalLine
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # values between two breaths


class Fault(Enum):
    """Whose number is wrong."""

    TOO_SMALL = "the allocation is smaller than its values need"
    SLACK = "the allocation is larger than its values need"
    OUTSIDE = "a value ends behind its allocation"


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """An allocation that is not as large as its values need: ``needed`` bytes.

    ``outside`` are the values that end behind it.
    """

    placement: Placement
    fault: Fault
    needed: int
    outside: tuple[AssignedValue, ...] = ()

    @property
    def excess(self) -> int:
        """By how many bytes the size of the allocation is too large."""
        return self.placement.allocation.size - self.needed


@dataclass(frozen=True, slots=True, eq=False)
class Extents:
    """The faulty allocations of a dump, and its total as far as it is to be had.

    ``sum`` is that of the sizes as they are printed. ``excess`` (bytes) is by how much it is
    above the given total, None where no total is given or allocations may be missing.
    """

    faulty: tuple[Extent, ...]
    sum: int
    excess: int | None

    @property
    def explain_excess(self) -> bool:
        """Whether an allocation with a wrong size is why the sum is not the total."""
        excess = self.excess
        # A temporary allocation can be larger than its values: the sign has to do.
        return excess is not None and any(
            one.excess * excess > 0 for one in self.faulty if one.fault is not Fault.OUTSIDE
        )


def extents_of(dump: DumpSet) -> Extents:
    """The allocations of the wrong size, remembered until a file changes that has a say in it."""
    assignment = assignment_of(dump)
    holders = [
        file
        for file in dump.files
        if len(file.memory.assigned) or len(file.memory.entries) or file.memory.label(TotalLine)
    ]
    state = dump.state(holders)
    known: Extents | None = dump.remembered(extents_of, state)
    if known is None:
        known = _compute(dump, assignment)
        dump.remember(extents_of, state, known)
    return known


def total_line(dump: DumpSet) -> LocatedRecord[TotalLine] | None:
    """`Total bytes used` as the buffer assignment has it; reports repeat it."""
    for file in dump.files:
        label = file.memory.label(TotalLine)
        if label is not None and file.kind is not FileKind.REPORT:
            return LocatedRecord(file, label)
    return None


def proven_size(value: AssignedValue, target: Target) -> int | None:
    """The bytes that the shape of a value takes, or None where no rule is without exception."""
    padded = padded_size_of_text(value.shape, target, value.color or 0)
    if padded is None:
        return None
    if padded.exact:
        return padded.bytes
    return value.size if value.size in padded.allowed else None


def _compute(dump: DumpSet, assignment: Assignment) -> Extents:
    target = target_of(dump)
    total, excess = _sum(dump, assignment)
    lost: bool | None = None
    faulty: list[Extent] = []
    count = 0
    for placement in assignment.placements:
        count += len(placement.values) + 1
        if count >= _STEP:
            count = 0
            checkpoint()
        if not placement.whole or _fits(placement):
            continue
        extent = _extent(placement, target, excess)
        if extent is not None and extent.fault is Fault.SLACK and extent.excess != excess:
            if lost is None:
                lost = bool(assignment.strays) or _values_are_lost(dump)
            if lost:  # the value that filled the allocation may be one of them
                continue
        if extent is not None:
            faulty.append(extent)
    return Extents(tuple(faulty), total, excess)


def _fits(placement: Placement) -> bool:
    size = placement.allocation.size
    return max((value.offset + value.size for value in placement.values), default=0) == size


def _sum(dump: DumpSet, assignment: Assignment) -> tuple[int, int | None]:
    """The sum of all sizes and its excess over the total; the better one of two sums if one
    allocation stands there twice."""
    sizes = [placement.allocation.size for placement in assignment.placements]
    total = sum(sizes)
    label = total_line(dump)
    if label is None or not assignment.complete:
        return total, None
    strangers = assignment.numbering.strangers
    once = total - sum(sizes[place] for place in strangers)
    best = min((total, once), key=lambda one: abs(one - label.record.total))
    return best, best - label.record.total


def _extent(placement: Placement, target: Target, excess: int | None) -> Extent | None:
    size = placement.allocation.size
    ends: list[tuple[int, AssignedValue, bool]] = []
    for value in placement.values:
        proven = proven_size(value, target)
        # Elsewhere than in packed allocations an offset is an error of its own.
        offset = value.offset if placement.packs else 0
        ends.append((offset + (value.size if proven is None else proven), value, proven is None))
    needed = max((end for end, _, _ in ends), default=0)
    if needed == size:
        return None  # the size of a value is wrong, or its offset
    if needed < size:
        doubtful = any(doubt for _, _, doubt in ends)
        if (placement.packs or doubtful) and excess != size - needed:
            return None
        return Extent(placement, Fault.SLACK, needed)
    outside = tuple(value for end, value, _ in ends if end > size)
    doubtful = any(doubt for end, _, doubt in ends if end > size)
    fault = Fault.TOO_SMALL
    if len(outside) == 1:
        confirmed = excess is not None and excess < 0
        refuted = excess is not None and excess >= 0
        if refuted or ((placement.packs or doubtful) and not confirmed):
            fault = Fault.OUTSIDE
    return Extent(placement, fault, needed, outside)


def _values_are_lost(dump: DumpSet) -> bool:
    """Whether there is an entry whose value lies in no allocation."""
    assigned = {id_ for file in dump.files for id_ in file.memory.assigned}
    return any(id_ not in assigned for file in dump.files for id_ in file.memory.entries)
