"""Unions and differences of intervals of time, and the own time of nested events."""

from collections.abc import Iterable, Iterator, Sequence

Interval = tuple[int, int]  # start and end


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return disjoint intervals with the same points in ascending order."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def length(disjoint: Iterable[Interval]) -> int:
    """Return the sum of the lengths of disjoint intervals."""
    return sum(end - start for start, end in disjoint)


def common_length(one: Sequence[Interval], other: Sequence[Interval]) -> int:
    """Return the length of what two lists of ascending disjoint intervals have in common."""
    found, place = 0, 0
    for start, end in one:
        while place < len(other) and other[place][1] <= start:
            place += 1
        for other_start, other_end in _until(other, place, end):
            found += min(end, other_end) - max(start, other_start)
    return found


def _until(intervals: Sequence[Interval], place: int, end: int) -> Iterator[Interval]:
    while place < len(intervals) and intervals[place][0] < end:
        yield intervals[place]
        place += 1


def own_lengths(ordered: Sequence[Interval]) -> list[int]:
    """Return for each interval of one thread the time in which no later one runs inside of it.

    The sum of the result is the length of the union.

    Args:
        ordered: The intervals by start; of two with the same start, the longer one precedes.
    """
    own = [0] * len(ordered)
    open_ones: list[int] = []  # the innermost last
    now, last = 0, max((end for _, end in ordered), default=0)
    for number, (start, _) in enumerate([*ordered, (last, last)]):
        while open_ones and ordered[open_ones[-1]][1] <= start:
            closed = open_ones.pop()
            end = ordered[closed][1]
            if end > now:
                own[closed] += end - now
                now = end
        if start > now:
            if open_ones:
                own[open_ones[-1]] += start - now
            now = start
        open_ones.append(number)
    return own


def median(numbers: Iterable[int]) -> int:
    """Return the lower median of at least one number."""
    ordered = sorted(numbers)
    return ordered[(len(ordered) - 1) // 2]
