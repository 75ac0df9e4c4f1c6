"""Which values lie in which allocation, and how far a damaged buffer assignment can be trusted."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hlo_lsp.analysis.assignment.lists import Listed, lists_of
from hlo_lsp.analysis.assignment.numbering import Gap, Numbering, numbering
from hlo_lsp.analysis.assignment.strays import Copy, Stray, copies, strays
from hlo_lsp.analysis.files.sections import is_joined
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.weak_cache import WeakCache
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.text.checkpoint import checkpoint

_AS_LISTED: "WeakCache[Listed, Placement]" = WeakCache()


@dataclass(frozen=True, eq=False)
class Placement:
    """An allocation with its values in the order of the file.

    ``values`` are without the copies of values that lie elsewhere, and without strays. ``whole``
    says that they are all: no line below it is broken, none that may head another allocation is
    missing, none of the values strayed. ``doubled`` tells a copy of all of another allocation.

    One whose lines stay as they are stays the same object, as ``Listed`` does.
    """

    allocation: AllocationLine
    values: tuple[AssignedValue, ...]
    whole: bool
    doubled: bool = False

    @property
    def packs(self) -> bool:
        """Whether it is laid out by offsets, as temporary allocations are, whatever it says."""
        allocation = self.allocation
        return allocation.preallocated_temp or sum(value.offset > 0 for value in self.values) > 1


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """All allocations of a buffer assignment in the order of the file."""

    file: DumpFile
    placements: tuple[Placement, ...]
    copies: tuple[Copy, ...]
    strays: tuple[Stray, ...]
    numbering: Numbering

    @property
    def complete(self) -> bool:
        """Whether no allocation is known to be missing."""
        return not self.numbering.gaps and all(placement.whole for placement in self.placements)


def assignment_of(dump: DumpSet) -> Assignment:
    """The buffer assignment of a dump, remembered until its file changes; empty without one.

    Two in one file are none.
    """
    file = next((file for file in dump.files if len(file.memory.allocations)), dump.files[0])
    state = dump.state([file])
    known: Assignment | None = dump.remembered(assignment_of, state)
    if known is None:
        known = _read(file)
        dump.remember(assignment_of, state, known)
    return known


def _read(file: DumpFile) -> Assignment:
    lists = [] if is_joined(file) else [*(lists_of(file)).values()]
    heads = [listed.allocation for listed in lists]
    numbers = numbering([head.number for head in heads])
    doubled = _doubled(lists, numbers)
    for gap in numbers.gaps:
        if gap.place:  # may hold the values of the allocations that are missing
            lists[gap.place - 1] = replace(lists[gap.place - 1], whole=False)
    once = [listed for place, listed in enumerate(lists) if place not in doubled]
    twice = copies(once)
    checkpoint()
    second = {copy.copy for copy in twice}
    if second:
        lists = [_without(listed, second) for listed in lists]
        once = [listed for place, listed in enumerate(lists) if place not in doubled]
    astray = strays(once)
    gone = {stray.value for stray in astray}
    places = {stray.place for stray in astray}
    left = {stray.home for stray in astray}
    placements = [
        Placement(listed.allocation, (), False, doubled=True)
        if place in doubled
        else _placement(listed, gone if listed.allocation in places else None, left)
        for place, listed in enumerate(lists)
    ]
    numbers = replace(numbers, gaps=tuple(_without_broken(file, heads, numbers.gaps)))
    return Assignment(file, tuple(placements), tuple(twice), tuple(astray), numbers)


def _placement(
    listed: Listed, gone: set[AssignedValue] | None, left: set[AllocationLine | None]
) -> Placement:
    if gone is None and listed.allocation not in left:
        known = _AS_LISTED.get(listed)
        if known is None:
            known = Placement(listed.allocation, listed.values, listed.whole)
            _AS_LISTED.put(listed, known)
        return known
    values = _without(listed, gone).values if gone else listed.values
    return Placement(listed.allocation, values, listed.whole and listed.allocation not in left)


def _without(listed: Listed, values: set[AssignedValue]) -> Listed:
    kept = tuple(value for value in listed.values if value not in values)
    return listed if len(kept) == len(listed.values) else replace(listed, values=kept)


def _doubled(lists: list[Listed], numbers: Numbering) -> set[int]:
    """The places of allocations that stand there a second time with all their values."""
    strangers = set(numbers.strangers)
    in_line = {
        listed.allocation.number: listed
        for place, listed in enumerate(lists)
        if place not in strangers
    }
    return {
        place
        for place in numbers.strangers
        if (twin := in_line.get(lists[place].allocation.number)) is not None
        and [value.key for value in twin.values] == [value.key for value in lists[place].values]
    }


def _without_broken(
    file: DumpFile, heads: list[AllocationLine], gaps: tuple[Gap, ...]
) -> Iterator[Gap]:
    """The gaps in which no line is broken that may have been the head of an allocation."""
    lines = sorted(
        record.line
        for record in file.memory.damaged
        if isinstance(record, BrokenRecord) and record.is_head
    )
    for gap in gaps:
        above = heads[gap.place - 1].line if gap.place else -1
        place = bisect_right(lines, above)
        if place == len(lines) or lines[place] > heads[gap.place].line:
            yield gap
