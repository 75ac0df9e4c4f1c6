"""How much of an allocation is in use at once."""

from dataclasses import dataclass

from hlo_lsp.analysis.assignment.lists import Listed, listed_under
from hlo_lsp.analysis.memory.occupied_bytes import (
    LiveByteRange,
    occupied_bytes_by_step,
    union_size,
)
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.facts import Facts
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.text.checkpoint import checkpoint

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


def occupancy_of(dump: DumpSet, allocation: Located[AllocationLine]) -> Occupancy | None:
    """What of an allocation is in use at its fullest step; None if a value has no live range.

    Bytes that several values share count once: they are aliases, or one takes over from the other.
    """
    listed = listed_under(allocation)
    state = dump.state((file for file in dump.files if len(file.memory.ranges)), but_places=True)
    known = _KNOWN.get(listed, state)
    if known is None:
        known = _occupancy(dump, listed)
        if known is not None:
            _KNOWN.put(listed, known, state)
    return known


def _occupancy(dump: DumpSet, listed: Listed) -> Occupancy | None:
    values: list[LiveByteRange] = []
    for count, value in enumerate(listed.values, 1):
        if count % _STEP == 0:
            checkpoint()
        if not value.size:
            continue
        live = dump.live(value.key)
        if live is None:
            return None
        steps = live.record.start_step, live.record.end_step
        values.append(LiveByteRange(value.offset, value.size, *steps))
    checkpoint()
    most = step = 0
    for count, (moment, occupied) in enumerate(occupied_bytes_by_step(values), 1):
        if count % _STEP == 0:
            checkpoint()
        if occupied > most:
            most, step = occupied, moment
    ranges = {(value.offset, value.offset + value.size) for value in values}
    return Occupancy(max((end for _, end in ranges), default=0), union_size(ranges), most, step)
