"""The steps at which a value occupies its bytes, and whether the peak is one of them."""

from dataclasses import dataclass

from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import Value


@dataclass(frozen=True, slots=True)
class OccupiedSteps:
    """The steps at which a value occupies its bytes.

    Attributes:
        first: The first step of its live range.
        last: The last step of its live range.
        is_fixed: Whether its bytes are occupied at all steps. XLA reuses the bytes of temp
            allocations only, not those of arguments, constants, and outputs.
        is_input: Whether the data exists before the program: that of an argument or a constant.
        is_kept: Whether the live range lasts until the end of the program.
        peak_step: The step of the peak of its memory space; None if it is unknown.
    """

    first: int
    last: int
    is_fixed: bool = False
    is_input: bool = False
    is_kept: bool = False
    peak_step: int | None = None

    @property
    def is_at_peak(self) -> bool | None:
        """True if the value occupies bytes at the peak of its memory space; None if unknown."""
        if self.peak_step is None:
            return None
        return self.is_fixed or self.first <= self.peak_step <= self.last

    @property
    def range_text(self) -> str:
        """The live range: ``2,033-2,062``, or ``5`` for one step."""
        return f"{self.first:,}" + (f"-{self.last:,}" if self.last != self.first else "")

    @property
    def text(self) -> str:
        """For example ``steps 2,033-2,062, not at the peak``.

        Fixed bytes: ``whole program, last read at step 1,014``.
        """
        if self.is_fixed:
            parts = ["whole program"]
            if self.is_input:
                parts += [] if self.is_kept else [f"last read at step {self.last:,}"]
            elif self.is_kept:
                parts.append(f"written at step {self.first:,}")
            else:
                parts.append(f"for data of {self._steps}")
            return ", ".join(parts)
        peak = {None: "", True: ", at the peak", False: ", not at the peak"}[self.is_at_peak]
        return self._steps + peak

    @property
    def _steps(self) -> str:
        return f"step{'' if self.first == self.last else 's'} {self.range_text}"


def occupied_steps(dump: Compile, value: Value) -> OccupiedSteps | None:
    """Return the steps at which a value occupies its bytes, or None without a live range."""
    if value.live is None:
        return None
    live = value.live.record
    first, last = live.start_step, live.end_step
    if value.allocation is None:
        return OccupiedSteps(first, last)
    allocation = value.allocation.record
    occupancies = memory_space_occupancies(dump)
    return OccupiedSteps(
        first,
        last,
        is_fixed=allocation.is_fixed,
        is_input=allocation.constant or (allocation.parameter is not None and first == 0),
        is_kept=last == dump.last_step,
        peak_step=next(
            (each.peak_step for each in occupancies if each.space == allocation.color), None
        ),
    )
