"""The moment that XLA takes for the peak."""

from collections import Counter
from collections.abc import Iterable


def peak_moment(lives: Iterable[tuple[int, int, int]]) -> int:
    """The step that XLA names, from (first step, last step, weight in bytes) of each live range.

    It is the first step that most bytes are counted at, 0 if there are none; values begin to count
    at their first step and stop only behind the step after their last one. The weight is the
    unpadded size of the shape of the whole instruction, for each element of a tuple again
    (hlo_live_range.cc, ``ComputePeakMemoryMoment``).
    """
    changes: Counter[int] = Counter()
    starts = set()
    for start, end, weight in lives:
        starts.add(start)
        changes[start] += weight
        changes[end + 2] -= weight
    moment = most = live = 0
    for step in sorted(changes):
        live += changes[step]
        if live > most and step in starts:
            most, moment = live, step
    return moment


def live_weight(lives: Iterable[tuple[int, int, int]], moment: int) -> int:
    """The bytes that count at a step when XLA looks for the peak."""
    return sum(weight for start, end, weight in lives if start <= moment <= end + 1)
