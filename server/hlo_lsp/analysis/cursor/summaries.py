"""One line about an allocation, a value, the peak, a computation, the total."""

from hlo_lsp.analysis.assignment.sharing import crowded_offset
from hlo_lsp.analysis.cards.card import counted
from hlo_lsp.analysis.cards.values import at_declared_peak, span_words
from hlo_lsp.analysis.live.liveness import peaks_of
from hlo_lsp.analysis.module.buffers_inside import buffers_inside
from hlo_lsp.model.backend import space_name
from hlo_lsp.model.bytesize import short
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
    """``declared by XLA: 42.19 KiB at step 13 | true maximum: 48.08 KiB at step 5``."""
    peaks = peaks_of(dump)
    if peaks is None:
        return "no live ranges"
    declared = f"declared by XLA: {short(peaks.declared_bytes)} at step {peaks.declared_step}"
    if peaks.true_bytes == peaks.declared_bytes:
        return f"{declared} | this is the true maximum"
    share = min(100 * peaks.declared_bytes / peaks.true_bytes, 99.9)
    true = f"true maximum: {short(peaks.true_bytes)} at step {peaks.true_step}"
    return f"{declared} ({share:.3g} %) | {true}"


def computation_summary(dump: DumpSet, computation: Located[ComputationLine]) -> str:
    """``412 instructions, 96 buffers inside, 12.30 MiB``."""
    members = computation.file.module.members(computation.record)
    words = counted(len(members), "instruction")
    inside = buffers_inside(dump, computation.record)
    if inside is None:
        return words
    return f"{words}, {counted(inside.buffers, 'buffer')} inside, {short(inside.bytes)}"


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
        f"{space_name(color, dump.backend) or f'color {color}'} {short(size)}"
        for color, size in sorted(spaces.items())
    ]
    return ", ".join([*parts, f"without {short(local)} thread-local"] if local else parts)
