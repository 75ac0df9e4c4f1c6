"""How much of an allocation is in use at once."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.analysis.assignment.lists import Listed, listed_under
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.facts import Facts
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.text.steps import Steps

_STEP = 1000  # values between two breaths


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Bytes with padding. ``end`` is where the last value ends, ``live`` the most at one step.

    ``used`` are the bytes that some value takes at some time: others only align what follows.
    """

    end: int
    used: int
    live: int
    step: int

    @property
    def idle(self) -> int:
        """Bytes that are in use at other times, but not at the fullest step."""
        return self.used - self.live


_KNOWN: "Facts[Listed, Occupancy]" = Facts()


def occupancy_of(dump: DumpSet, allocation: Located[AllocationLine]) -> Steps[Occupancy | None]:
    """What of an allocation is in use at its fullest step; None if a value has no live range.

    Values in the same slot (offset and size) are counted once: they are aliases, or one takes
    over from the other. Ranges are inclusive.
    """
    listed = yield from listed_under(allocation)
    state = dump.state((file for file in dump.files if len(file.memory.ranges)), but_places=True)
    known = _KNOWN.get(listed, state)
    if known is None:
        known = yield from _occupancy(dump, listed)
        if known is not None:
            _KNOWN.put(listed, known, state)
    return known


def _occupancy(dump: DumpSet, listed: Listed) -> Steps[Occupancy | None]:
    lives: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for count, value in enumerate(listed.values, 1):
        if count % _STEP == 0:
            yield
        if not value.size:
            continue
        live = dump.live(value.key)
        if live is None:
            return None
        lives[value.offset, value.size].append((live.record.start_step, live.record.end_step))
    changes: Counter[int] = Counter()
    for (_, size), spans in lives.items():
        for start, end in _joined(spans):
            changes[start] += size
            changes[end + 1] -= size
    yield
    most = total = step = 0
    for moment in sorted(changes):
        total += changes[moment]
        if total > most:
            most, step = total, moment
    end = used = 0
    for offset, size in sorted(lives):
        used += max(0, offset + size - max(end, offset))
        end = max(end, offset + size)
    return Occupancy(end, used, most, step)


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The steps in which at least one of these inclusive ranges lives."""
    (first, last), *others = sorted(spans)
    for start, end in others:
        if start <= last:
            last = max(last, end)
        else:
            yield first, last
            first, last = start, end
    yield first, last
