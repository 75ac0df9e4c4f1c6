"""Which of the numbers that should count up from 0 do not."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers that nobody has: ``place`` is that of the number behind them."""

    place: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Numbering:
    """``strangers`` are the places of numbers that stand where another one is due.

    Of two that changed places the first is one, and ``exchanged`` is the place of the second.
    """

    strangers: tuple[int, ...] = ()
    gaps: tuple[Gap, ...] = ()
    exchanged: int | None = None


def numbering(numbers: Sequence[int]) -> Numbering:
    """What is wrong with numbers that should be 0, 1, 2, ...

    As many of them as can be are taken for right: a longest row that ascends. A number beside it
    is a stranger. Of two alike the one with more neighbours in step belongs to the row. Where
    numbers are missing and no stranger accounts for them there is a gap.
    """
    odd = [place for place, number in enumerate(numbers) if number != place]
    if not odd:
        return Numbering()
    if len(odd) == 2 and numbers[odd[0]] == odd[1] and numbers[odd[1]] == odd[0]:
        return Numbering((odd[0],), (), odd[1])
    row = _longest_row(numbers)
    right = set(row)
    strangers = tuple(place for place in range(len(numbers)) if place not in right)
    return Numbering(strangers, tuple(_gaps(numbers, row, strangers)))


def _longest_row(numbers: Sequence[int]) -> list[int]:
    """The places of a longest strictly ascending row (patience sorting)."""
    ends: list[int] = []  # the smallest number that ends a row of each length
    places: list[int] = []  # where it stands
    before: list[int | None] = []
    for place, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(places[length - 1] if length else None)
        if length == len(ends):
            ends.append(number)
            places.append(place)
        elif number < ends[length] or _in_step(numbers, place) > _in_step(numbers, places[length]):
            ends[length] = number
            places[length] = place
    row: list[int] = []
    last: int | None = places[-1] if places else None
    while last is not None:
        row.append(last)
        last = before[last]
    return row[::-1]


def _in_step(numbers: Sequence[int], place: int) -> int:
    """How well a number fits: its neighbours, and if they say nothing, its place."""
    number = numbers[place]
    ahead = numbers[place - 1] if place else -1
    behind = numbers[place + 1] if place + 1 < len(numbers) else None
    return 2 * (ahead + 1 == number) + 2 * (behind == number + 1) + (number == place)


def _gaps(numbers: Sequence[int], row: list[int], strangers: tuple[int, ...]) -> "list[Gap]":
    gaps: list[Gap] = []
    astray = sorted(numbers[place] for place in strangers)
    last_place = last = -1
    for place in row:
        number = numbers[place]
        missing = number - last - 1
        if missing > 0:
            between = range(last_place + 1, place)
            elsewhere = bisect_left(astray, number) - bisect_left(astray, last + 1)
            elsewhere -= sum(last < numbers[other] < number for other in between)
            if missing > len(between) + elsewhere:
                gaps.append(Gap(place, last + 1, number - 1))
        last_place, last = place, number
    return gaps
