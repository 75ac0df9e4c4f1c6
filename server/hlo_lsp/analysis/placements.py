"""Which values lie in which allocation, and how far a damaged buffer assignment can be trusted."""

from dataclasses import dataclass, replace
from itertools import pairwise

from hlo_lsp.analysis.numbering import Numbering, numbering
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import Broken
from hlo_lsp.text.steps import Steps

_STEP = 1000  # values between two breaths


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """An allocation with its values in the order of the file.

    ``values`` are without the copies of values that lie elsewhere. ``whole`` says that no line
    below it is broken and none that may head another allocation is missing.
    """

    allocation: AllocationLine
    values: tuple[AssignedValue, ...]
    whole: bool

    @property
    def packs(self) -> bool:
        """Whether it is laid out by offsets, as temporary allocations are, whatever it says."""
        allocation = self.allocation
        return allocation.preallocated_temp or sum(value.offset > 0 for value in self.values) > 1


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """A value that stands under two allocations: ``copy`` is the one that does not fit."""

    copy: AssignedValue
    original: AssignedValue
    place: AllocationLine
    home: AllocationLine


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """All allocations of a buffer assignment in the order of the file."""

    file: DumpFile
    placements: tuple[Placement, ...]
    copies: tuple[Copy, ...]
    numbering: Numbering

    @property
    def complete(self) -> bool:
        """Whether no allocation is known to be missing."""
        return not self.numbering.gaps and all(placement.whole for placement in self.placements)


def assignment_of(dump: DumpSet) -> Steps[Assignment]:
    """The buffer assignment of a dump, remembered until its file changes; empty without one."""
    file = next((file for file in dump.files if len(file.memory.allocations)), dump.files[0])
    state = dump.state([file])
    known: Assignment | None = dump.remembered(assignment_of, state)
    if known is None:
        known = yield from _read(file)
        dump.remember(assignment_of, state, known)
    return known


def _read(file: DumpFile) -> Steps[Assignment]:
    heads = sorted(file.memory.allocations.records(), key=lambda head: head.line)
    lists: list[tuple[AssignedValue, ...]] = []
    whole: list[bool] = []
    count = 0
    for head in heads:
        values, is_whole = _values_under(file, head)
        lists.append(values)
        whole.append(is_whole)
        count += len(values) + 1
        if count >= _STEP:
            count = 0
            yield
    numbers = numbering([head.number for head in heads])
    broken = _lines_of_broken_heads(file)
    gaps = tuple(
        gap
        for gap in numbers.gaps
        if not any(_line(heads, gap.place - 1) < line < heads[gap.place].line for line in broken)
    )
    for gap in numbers.gaps:
        if gap.place:
            whole[gap.place - 1] = False  # may hold the values of the ones that are missing
    copies = _copies(heads, lists)
    second = {copy.copy for copy in copies}
    placements = tuple(
        Placement(head, tuple(value for value in values if value not in second), is_whole)
        if second
        else Placement(head, values, is_whole)
        for head, values, is_whole in zip(heads, lists, whole, strict=True)
    )
    return Assignment(file, placements, tuple(copies), replace(numbers, gaps=gaps))


def _values_under(file: DumpFile, head: AllocationLine) -> "tuple[tuple[AssignedValue, ...], bool]":
    values: list[AssignedValue] = []
    whole = True
    for record in file.records.after(head):
        if isinstance(record, AssignedValue):
            values.append(record)
            continue
        if isinstance(record, Broken):
            whole = False
        if record.is_head:
            break
    return tuple(values), whole


def _lines_of_broken_heads(file: DumpFile) -> list[int]:
    return [
        record.line
        for record in file.memory.damaged
        if isinstance(record, Broken) and record.is_head
    ]


def _line(heads: list[AllocationLine], place: int) -> int:
    return heads[place].line if place >= 0 else -1


def _copies(heads: list[AllocationLine], lists: "list[tuple[AssignedValue, ...]]") -> list[Copy]:
    seen: dict[int, tuple[AssignedValue, int]] = {}
    copies: list[Copy] = []
    for number, values in enumerate(lists):
        for value in values:
            first = seen.setdefault(value.id, (value, number))
            if first[0] is value or first[1] == number or first[0].key != value.key:
                continue
            one, other = _oddness(heads, lists, *first), _oddness(heads, lists, value, number)
            if one > other:  # the first one is the copy
                copies.append(Copy(first[0], value, heads[first[1]], heads[number]))
                seen[value.id] = value, number
            else:
                copies.append(Copy(value, first[0], heads[number], heads[first[1]]))
    return copies


def _oddness(
    heads: list[AllocationLine],
    lists: "list[tuple[AssignedValue, ...]]",
    value: AssignedValue,
    number: int,
) -> int:
    """How much speaks against a value's place: ids ascend, spaces agree, it fits, it is needed."""
    allocation, values = heads[number], lists[number]
    place = values.index(value)
    ids = [other.id for other in values[max(0, place - 1) : place + 2]]
    temp = allocation.preallocated_temp
    alone = not temp and not any(_spans(other, allocation) for other in values if other != value)
    return (
        2 * (not _ascending(ids))
        + 2 * (value.color is not None and value.color != allocation.color)
        + 2 * (value.offset + value.size > allocation.size)
        + 2 * (value.offset > 0 and not temp)
        + (len(values) > 1 and (allocation.thread_local or allocation.constant))
        - 3 * (alone and _spans(value, allocation))
    )


def _spans(value: AssignedValue, allocation: AllocationLine) -> bool:
    return value.size == allocation.size


def _ascending(ids: list[int]) -> bool:
    return all(first < second for first, second in pairwise(ids))
