"""The buffers that occupy a memory space at a step, with each byte counted once."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.occupancy_and_peaks import live_byte_ranges
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import array_bytes
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue

_size = attrgetter("size")


@dataclass(frozen=True, slots=True)
class LiveBuffer:
    """Bytes of an allocation at a step, which belong to one value.

    Attributes:
        value: The value; None for bytes of a fixed allocation that no value covers.
        bytes: Number of bytes. Of bytes that several live values share, only one value has them.
        padding: How many of them are padding of the value's layout.
    """

    allocation: LocatedRecord[AllocationLine]
    value: LocatedRecord[AssignedValue] | None
    bytes: int
    padding: int


def live_buffers(dump: Compile, space: int, step: int) -> tuple[LiveBuffer, ...]:
    """Return the buffers of a memory space at a step, largest first.

    The sum of their bytes is ``SpaceOccupancy.bytes_at(step)``: fixed allocations count whole, and
    temp allocations where a live value covers them.
    """
    assignment = buffer_assignment(dump)
    found: list[LiveBuffer] = []
    for block in assignment.blocks:
        allocation = block.allocation
        if allocation.thread_local or allocation.color != space:
            continue
        is_temp = allocation.preallocated_temp
        values = live_values(dump, block, step) if is_temp else filter(_size, block.values)
        located = LocatedRecord(assignment.file, allocation)
        covered = 0
        for value, count in _owned_bytes(values):
            covered += count
            padding = min(count, max(0, value.size - (array_bytes(value.shape) or value.size)))
            found.append(LiveBuffer(located, LocatedRecord(assignment.file, value), count, padding))
        if not is_temp and covered < allocation.size:
            found.append(LiveBuffer(located, None, allocation.size - covered, 0))
    return tuple(sorted(found, key=_largest_first))


def live_values(dump: Compile, block: AllocationBlock, step: int) -> Iterator[AssignedValue]:
    """Yield the values of an allocation that are live at a step."""
    for value, live in zip(block.values, live_byte_ranges(block, dump), strict=True):
        checkpoint()
        if live is not None and value.size and live.start_step <= step <= live.end_step:
            yield value


def _owned_bytes(values: Iterable[AssignedValue]) -> Iterator[tuple[AssignedValue, int]]:
    """Yield values with the bytes that they own: shared bytes belong to the first value."""
    taken: list[tuple[int, int]] = []  # disjoint byte ranges in ascending order
    for value in values:
        checkpoint()
        start, end = value.offset, value.offset + value.size
        low = bisect_right(taken, start, key=lambda span: span[1])
        high = bisect_left(taken, end, key=lambda span: span[0])
        met = taken[low:high]
        free = end - start - sum(min(end, last) - max(start, first) for first, last in met)
        if free:
            yield value, free
            spans = [*met, (start, end)]
            taken[low:high] = [(min(spans)[0], max(last for _, last in spans))]


def _largest_first(buffer: LiveBuffer) -> tuple[int, int, int]:
    value = -1 if buffer.value is None else buffer.value.record.id
    return -buffer.bytes, buffer.allocation.record.number, value
