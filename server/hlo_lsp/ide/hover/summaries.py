"""One line about an allocation, a value, the peak, a computation, the total."""

from hlo_lsp.ide.hover.values import at_declared_peak, span_words
from hlo_lsp.memory.computation_buffers import buffers_inside
from hlo_lsp.memory.liveness import logical_peak_of
from hlo_lsp.memory.memory_spaces import find_occupancy_of_spaces, main_space
from hlo_lsp.memory.sharing import crowded_offset
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.bytesize import short
from hlo_lsp.model.card import counted
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import Located, Value
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.syntax.module_records import ComputationLine


def allocation_summary(dump: DumpSet, allocation: Located[AllocationLine]) -> str:
    """``12 values, 4.00 MiB, 3 time-share offset 0``."""
    values = sum(1 for _ in dump.assigned_to(allocation))
    parts = [counted(values, "value"), short(allocation.record.size)]
    crowded = crowded_offset(dump, allocation)
    if crowded is not None:
        offset, count = crowded
        parts.append(f"{count:,} time-share offset {offset:,}")
    return ", ".join(parts)


def value_summary(dump: DumpSet, value: Value) -> str:
    """``live 2-15 (13 steps): fusion.40 -> fusion.21 | at the peak``."""
    if value.live is None:
        if value.allocation is not None and value.allocation.record.thread_local:
            return "thread-local, not scheduled"
        return "no live range"
    peak = " | at the peak" if at_declared_peak(dump, value.live) else ""
    return f"live {span_words(dump, value.live.record)}{peak}".replace("`", "")


def peak_summary(dump: DumpSet) -> str:
    """``declared by XLA: 42.2 KiB at step 13 | HBM: 48.0 KiB occupied, 4.0 KiB more at step 5``.

    Without the occupied bytes of the memory space, the second part is the logical peak.
    """
    logical = logical_peak_of(dump)
    if logical is None or logical.declared_step is None:
        return "no live ranges"
    step = logical.declared_step
    declared = f"declared by XLA: {short(logical.declared_bytes)} at step {step}"
    spaces = find_occupancy_of_spaces(dump)
    occupancy = main_space(spaces, dump.backend)
    if occupancy is None:
        if logical.bytes == logical.declared_bytes:
            return f"{declared}, the logical peak"
        return f"{declared} | logical peak: {short(logical.bytes)} at step {logical.step}"
    here = occupancy.bytes_at(step)
    occupied = f"{space_title(occupancy.space, dump.backend)}: {short(here)} occupied"
    if here == occupancy.peak_bytes:
        return f"{declared} | {occupied}, the maximum"
    more = f"{short(occupancy.peak_bytes - here)} more at step {occupancy.peak_step}"
    return f"{declared} | {occupied}, {more}"


def computation_summary(dump: DumpSet, computation: Located[ComputationLine]) -> str:
    """``412 instructions, 96 buffers defined, 12.30 MiB``."""
    members = computation.file.module.members(computation.record)
    words = counted(len(members), "instruction")
    inside = buffers_inside(dump, computation.record)
    if inside is None:
        return words
    return f"{words}, {counted(inside.buffers, 'buffer')} defined, {short(inside.bytes)}"


def total_summary(dump: DumpSet) -> str:
    """``HBM 12.00 MiB, VMEM 8.5 KiB, without 512 B thread-local``: by memory space."""
    spaces: dict[int, int] = {}
    local = 0
    for allocation in dump.allocations():
        record = allocation.record
        if record.thread_local:
            local += record.size
        else:
            spaces[record.color] = spaces.get(record.color, 0) + record.size
    if not spaces and not local:
        return "no allocations"
    parts = [
        f"{space_title(color, dump.backend)} {short(size)}"
        for color, size in sorted(spaces.items())
    ]
    return ", ".join([*parts, f"without {short(local)} thread-local"] if local else parts)
