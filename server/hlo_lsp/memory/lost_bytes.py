"""Bytes of a memory space that hold no data: padding, slots of tables, alignment, free bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.memory.byte_ranges import ByteRange
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query


@dataclass(frozen=True, slots=True)
class LostBytes:
    """Bytes of a memory space that hold no data at a step.

    All fields but ``logical`` add up to the allocated bytes without the logical bytes.

    Attributes:
        logical: Bytes of the live values without padding.
        array_padding: Bytes that dimensions and tiles add to live values.
        tuple_table_slots: Bytes after tuple tables that no value ever covers.
        alignment: Other bytes that no value ever covers.
        free: Bytes of temp allocations that values cover at other steps.
        fixed_tuple_table_slots: The part of the slots in fixed allocations, which are occupied.
        fixed_alignment: The part of the alignment in fixed allocations.
    """

    logical: int
    array_padding: int
    tuple_table_slots: int
    alignment: int
    free: int
    fixed_tuple_table_slots: int = 0
    fixed_alignment: int = 0

    @property
    def occupied(self) -> int:
        """The part of the lost bytes that is occupied at the step."""
        return self.array_padding + self.fixed_tuple_table_slots + self.fixed_alignment

    @property
    def above_peak(self) -> dict[str, int]:
        """The other lost bytes, which are allocated but not occupied at the step, by cause."""
        return {
            "slots of tuple tables": self.tuple_table_slots - self.fixed_tuple_table_slots,
            "alignment": self.alignment - self.fixed_alignment,
            "free at the peak": self.free,
        }

    @property
    def total(self) -> int:
        """The sum of all lost bytes."""
        return self.array_padding + self.tuple_table_slots + self.alignment + self.free


def lost_bytes(dump: Compile, space: int, step: int) -> LostBytes:
    """Return where the allocated bytes of a memory space are lost at a step."""
    buffers = live_buffers(dump, space, step)
    padding = sum(buffer.padding for buffer in buffers)
    occupied = sum(buffer.bytes for buffer in buffers if buffer.value is not None)
    allocated = slots = alignment = fixed_slots = fixed_alignment = 0
    for block in buffer_assignment(dump).blocks:
        if block.allocation.thread_local or block.allocation.color != space:
            continue
        allocated += block.allocation.size
        of_tables, of_others = uncovered_bytes(block)
        slots += of_tables
        alignment += of_others
        if not block.allocation.preallocated_temp:
            fixed_slots += of_tables
            fixed_alignment += of_others
    free = allocated - occupied - slots - alignment
    return LostBytes(
        occupied - padding, padding, slots, alignment, free, fixed_slots, fixed_alignment
    )


@query
def uncovered_bytes(block: AllocationBlock) -> tuple[int, int]:
    """Return the bytes of an allocation that no value covers: after tuple tables, and others."""
    tables = (value for value in block.values if value.size and value.shape.startswith("("))
    ends = {value.offset + value.size for value in tables}
    slots = others = 0
    for start, end in _gaps(block):
        if start in ends:
            slots += end - start
        else:
            others += end - start
    return slots, others


def _gaps(block: AllocationBlock) -> Iterator[ByteRange]:
    """Yield the ranges of an allocation that no value covers."""
    ranges = sorted((one.offset, one.offset + one.size) for one in block.values if one.size)
    end = 0
    for first, last in [*ranges, (block.allocation.size, block.allocation.size)]:
        if first > end:
            yield end, first
        end = max(end, last)
