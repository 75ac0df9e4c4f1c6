"""Which values keep most memory for longest."""

from dataclasses import dataclass

from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.memory_records import AssignedValue, RangeRow
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # values between two breaths


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A value of a temp allocation and the steps that it lives, both ends inclusive."""

    value: AssignedValue
    live: Located[RangeRow]

    @property
    def steps(self) -> int:
        """How many steps it lives."""
        return self.live.record.end_step - self.live.record.start_step + 1

    @property
    def weight(self) -> int:
        """Padded bytes times steps."""
        return self.value.size * self.steps


def longest(dump: DumpSet, count: int, least: int) -> list[Lifetime]:
    """The ``count`` values of temp allocations with most bytes times steps, one for each slot.

    Smaller ones than ``least`` bytes are left out. Parameters and outputs live as long as the
    caller wants.
    """
    found: dict[tuple[int, int, int], Lifetime] = {}
    for allocation in dump.allocations():
        if not allocation.record.preallocated_temp:
            continue
        for done, value in enumerate(dump.assigned_to(allocation), 1):
            if done % _STEP == 0:
                checkpoint()
            live = dump.live(value.key) if value.size >= least else None
            if live is None:
                continue
            lifetime = Lifetime(value, live)
            slot = allocation.record.number, value.offset, value.size
            known = found.get(slot)
            if known is None or known.weight < lifetime.weight:
                found[slot] = lifetime
    ordered = sorted(found.values(), key=lambda one: (-one.weight, one.value.id))
    return ordered[:count]
