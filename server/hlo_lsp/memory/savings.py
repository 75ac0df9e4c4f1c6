"""The smallest saving that is worth advice, and the fewest bytes that are worth a row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hlo_lsp.memory.occupancy_and_peaks import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.text.amounts import format_short_bytes

MIN_SAVED_SHARE = 0.01  # of the peak, or of the largest member
MIN_SAVED_BYTES = 1 << 20
AT_MOST, ABOUT = "at most", "about"  # before the bytes that a change saves
_Space = TypeVar("_Space")
_Member = TypeVar("_Member")


@dataclass(frozen=True, slots=True)
class Proof:
    """An amount of a program without and with a change, as the compiler states it.

    Attributes:
        before: An amount, such as the bytes at the peak, without the change; None if the program
            was not compiled.
        after: The amount with the change.
        problem: Why it was not compiled.
        notes: The compiler, and what is not the same as in the compile of the dump.
    """

    before: int | None = None
    after: int | None = None
    problem: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def saved(self) -> int | None:
        """By how much the amount falls; negative if it grows."""
        return None if self.before is None or self.after is None else self.before - self.after


def is_negligible(saved: int, peak: int, least: int = MIN_SAVED_BYTES) -> bool:
    """Return True if saved bytes are few, in themselves or as a share of the peak.

    If the peak is 0, it is unknown, and no saving is negligible.
    """
    return peak > 0 and saved < max(least, MIN_SAVED_SHARE * peak)


def saving_text(saved: int | None, label: str = AT_MOST) -> str:
    """Return what a change saves: ``saves at most 4.00 MiB``, or that it is unknown."""
    return "saving unknown" if saved is None else f"saves {label} {format_short_bytes(saved)}"


def large_spaces(spaces: Sequence[_Space], size: Callable[[_Space], int]) -> list[_Space]:
    """Return the memory spaces that are not tiny in themselves and beside the largest one.

    On-chip memory can have less than 1% of the bytes of a large program, and matters all the same.
    """
    least = min(MIN_SAVED_BYTES, MIN_SAVED_SHARE * max(map(size, spaces), default=0))
    return [space for space in spaces if size(space) >= least]


def largest_first(
    members: Iterable[_Member], size: Callable[[_Member], float]
) -> tuple[list[_Member], list[_Member]]:
    """Sort members, such as modules, by size, and separate those below 1% of the largest."""
    found = sorted(members, key=lambda one: -size(one))
    least = MIN_SAVED_SHARE * size(found[0]) if found else 0
    large = [one for one in found if size(one) >= least]
    return large, found[len(large) :]


def largest_peak_bytes(dump: Compile) -> int:
    """Return the bytes at the largest peak off the chip; without live ranges, all allocated bytes.

    They are 0 if the buffer assignment is missing.
    """
    largest = largest_off_chip_space(memory_space_occupancies(dump), dump.backend)
    if largest is not None:
        return largest.peak_bytes
    return sum(located.record.size for located in dump.allocations())
