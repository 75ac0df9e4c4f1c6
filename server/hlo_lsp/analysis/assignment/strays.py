"""Values in the wrong allocation: lines that were copied or moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hlo_lsp.analysis.assignment.lists import Listed
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue

_MOST_SUSPECTS = 50  # in one allocation


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """A value that stands under two allocations: ``copy`` is the one that does not fit."""

    copy: AssignedValue
    original: AssignedValue
    place: AllocationLine
    home: AllocationLine


@dataclass(frozen=True, slots=True, eq=False)
class Stray:
    """A value that does not belong where it stands, and why: parts of a sentence.

    ``home`` is an allocation that is empty and would fit, None where there is none.
    """

    value: AssignedValue
    place: AllocationLine
    signs: tuple[str, ...]
    home: AllocationLine | None


def copies(lists: Sequence[Listed]) -> list[Copy]:
    """The values that stand in two allocations."""
    seen: dict[int, tuple[AssignedValue, Listed]] = {}
    found: list[Copy] = []
    for listed in lists:
        for value in listed.values:
            other, home = seen.setdefault(value.id, (value, listed))
            if home is listed or other.key != value.key:
                continue  # the same value, or an id that is there twice
            # The first one is the copy.
            if _oddness(other, home) > _oddness(value, listed):
                found.append(Copy(other, value, home.allocation, listed.allocation))
                seen[value.id] = value, listed
            else:
                found.append(Copy(value, other, listed.allocation, home.allocation))
    return found


def strays(lists: Sequence[Listed]) -> list[Stray]:
    """The values that do not belong where they stand: at most one of each allocation.

    Two signs are needed, as one damaged number gives one; one sign is enough where an allocation
    is empty that the value would fill.
    """
    empty = {
        (listed.allocation.size, listed.allocation.color): listed.allocation
        for listed in lists
        if not listed.values and listed.whole and _is_filled(listed.allocation)
    }
    found: list[Stray] = []
    for listed in lists:
        if len(listed.values) < 2 or not listed.whole:
            continue
        odd = []
        suspects = _suspects(listed)
        if len(suspects) > _MOST_SUSPECTS:
            continue  # the allocation is what is wrong
        for value in suspects:
            signs = tuple(_signs(value, listed))
            home = empty.get((value.size, value.color or 0))
            if len(signs) > 1 or (signs and home is not None):
                odd.append(Stray(value, listed.allocation, signs, home))
        if len(odd) == 1:
            found += odd
    return found


def _suspects(listed: Listed) -> list[AssignedValue]:
    allocation, values = listed.allocation, listed.values
    if allocation.thread_local or allocation.constant:
        return list(values)
    temp = allocation.preallocated_temp
    disordered = {value for pair in pairwise(values) if pair[0].id >= pair[1].id for value in pair}
    return [
        value
        for value in values
        if value.offset + value.size > allocation.size
        or (value.color or 0) != allocation.color
        or (value.offset and not temp)
        or (disordered and value in disordered)
    ]


def _signs(value: AssignedValue, listed: Listed) -> Iterator[str]:
    """What speaks against the place of a value beside others."""
    allocation, values = listed.allocation, listed.values
    others = [other for other in values if other is not value]
    if not _is_in_order(value, values):
        yield "its id is out of order"
    if value.color not in {None, allocation.color} and any(
        other.color == allocation.color for other in others
    ):
        yield f"it is @{value.color}"
    start = value.offset if allocation.preallocated_temp else 0
    if start + value.size > allocation.size:
        yield f"it ends at byte {start + value.size:,} of {allocation.size:,}"
    if value.offset and not allocation.preallocated_temp:
        yield f"its offset is {value.offset:,}"
    alone = (
        "a constant" if allocation.constant else "thread-local" if allocation.thread_local else ""
    )
    if alone and any(other.size == allocation.size for other in others):
        yield f"the allocation is that of {alone} value with its size"


def _is_in_order(value: AssignedValue, values: tuple[AssignedValue, ...]) -> bool:
    place = values.index(value)
    ids = [other.id for other in values[max(0, place - 1) : place + 2]]
    return all(first < second for first, second in pairwise(ids))


def _oddness(value: AssignedValue, listed: Listed) -> int:
    """How much speaks against a place of a value that has two."""
    allocation, values = listed.allocation, listed.values
    needed = (
        not allocation.preallocated_temp
        and value.size == allocation.size
        and not any(other.size == value.size for other in values if other is not value)
    )
    # Alone, a value has nothing to contradict but its allocation.
    color = len(values) == 1 and value.color not in {None, allocation.color}
    # Most values take all of an allocation that is laid out for none in particular.
    small = not allocation.preallocated_temp and value.size < allocation.size
    return 2 * len(list(_signs(value, listed))) + 2 * color + small - 3 * needed


def _is_filled(allocation: AllocationLine) -> bool:
    """Whether an allocation of this kind is never without a value."""
    return not allocation.preallocated_temp and allocation.size > 0
