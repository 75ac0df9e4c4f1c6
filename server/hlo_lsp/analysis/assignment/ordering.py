"""Which members of a list that should ascend stand in the wrong place."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A member that stands in the wrong place, and the one it changed places with, if one did.

    ``fits_before`` is the member in front of which it belongs, or None at the end of the list.
    """

    at: int
    swapped_with: int | None = None
    fits_before: int | None = None


def misplaced(keys: Sequence[Any]) -> list[Misplaced]:
    """The fewest members whose removal lets the rest ascend, by their places in the list.

    Two that changed places are told once, at the first. Equal keys do not ascend: of two alike the
    later one is told, unless only that one stands where it belongs. O(n log n); keys of one list
    must be comparable.
    """
    if all(one < other for one, other in pairwise(keys)):
        return []
    pair = _exchanged(keys)
    if pair is not None:
        return [Misplaced(pair[0], swapped_with=pair[1])]
    kept = _longest_ascending(keys)
    staying = set(kept)
    kept_keys = [keys[place] for place in kept]
    found = []
    for place, key in enumerate(keys):
        if place not in staying:
            fit = bisect_left(kept_keys, key)
            found.append(Misplaced(place, fits_before=kept[fit] if fit < len(kept) else None))
    return found


def _exchanged(keys: Sequence[Any]) -> tuple[int, int] | None:
    """The places of the only two members that are not where sorting puts them."""
    ordered = sorted(keys)
    if any(one == other for one, other in pairwise(ordered)):
        return None
    differing = []
    for place, (key, right) in enumerate(zip(keys, ordered, strict=True)):
        if key != right:
            differing.append(place)
            if len(differing) > 2:
                return None
    return (differing[0], differing[1]) if len(differing) == 2 else None


def _longest_ascending(keys: Sequence[Any]) -> list[int]:
    """The places of a longest strictly ascending part (patience sorting)."""
    ends: list[Any] = []  # the smallest key that ends an ascending part of each length
    end_places: list[int] = []
    before: list[int] = []
    for place, key in enumerate(keys):
        length = bisect_left(ends, key)
        before.append(end_places[length - 1] if length else -1)
        if length == len(ends):
            ends.append(key)
            end_places.append(place)
        elif key < ends[length]:
            ends[length] = key
            end_places[length] = place
    kept = []
    place = end_places[-1] if end_places else -1
    while place >= 0:
        kept.append(place)
        place = before[place]
    return kept[::-1]
