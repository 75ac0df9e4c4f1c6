"""The smallest saving that is worth advice."""

from hlo_lsp.memory.occupancy_and_peaks import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.model.dump_set import DumpSet

MIN_SAVED_SHARE = 0.01  # of the peak
MIN_SAVED_BYTES = 1 << 20


def is_negligible(saved: int, peak: int) -> bool:
    """Return True if saved bytes are few, both in themselves and as a share of the peak."""
    return saved < MIN_SAVED_BYTES and saved < MIN_SAVED_SHARE * peak


def largest_peak_bytes(dump: DumpSet) -> int:
    """Return the bytes at the largest peak off the chip; without live ranges, all allocated bytes.

    They are 0 if the buffer assignment is missing: no saving is negligible then.
    """
    largest = largest_off_chip_space(memory_space_occupancies(dump), dump.backend)
    if largest is not None:
        return largest.peak_bytes
    return sum(located.record.size for located in dump.allocations())
