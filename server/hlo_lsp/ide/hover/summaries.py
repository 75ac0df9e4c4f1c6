"""One-line summaries of allocations, values, the peak, computations, and the total size."""

from collections import Counter

from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.ide.hover.values import describe_step_range
from hlo_lsp.memory.computation_buffers import buffers_by_computation
from hlo_lsp.memory.grouping import GroupKey, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.logical_sizes import logical_peak_of
from hlo_lsp.memory.missing_facts import is_assignment_whole
from hlo_lsp.memory.occupancy_and_peaks import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.memory.occupied_steps import occupied_steps
from hlo_lsp.memory.savings import is_negligible
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.text.amounts import format_short_bytes

_MAX_OWNERS = 4


def allocation_summary(dump: Compile, allocation: LocatedRecord[AllocationLine]) -> str:
    """Return ``12 values, 4.00 MiB, 3 at the peak``; without the peak where nothing is reused."""
    numbers = [assigned.id for assigned in dump.assigned_to(allocation)]
    summary = f"{count_noun(len(numbers), 'value')}, {format_short_bytes(allocation.record.size)}"
    if len(numbers) < 2 or not allocation.record.preallocated_temp:
        return summary
    values = (dump.value(number) for number in numbers)
    steps = [occupied_steps(dump, value) for value in values if value is not None]
    known = [one.is_at_peak for one in steps if one is not None and one.is_at_peak is not None]
    return f"{summary}, {sum(known):,} at the peak" if known else summary


def value_summary(dump: Compile, value: Value) -> str:
    """Return ``live 2-15 (13 steps): fusion.40 -> fusion.21``."""
    if value.live is None:
        if value.allocation is not None and value.allocation.record.thread_local:
            return "thread-local, not scheduled"
        return "no live range"
    return f"live {describe_step_range(dump, value.live.record)}".replace("`", "")


def declared_peak_summary(dump: Compile) -> str:
    """Return the declared peak: ``declared by XLA: 42.2 KiB at step 13``.

    Without occupied bytes, the logical peak follows.
    """
    logical = logical_peak_of(dump)
    if logical is None or logical.declared_step is None:
        return "no live ranges"
    declared = (
        f"declared by XLA: {format_short_bytes(logical.declared_bytes)} at step "
        f"{logical.declared_step:,}"
    )
    if memory_space_occupancies(dump):
        return declared
    if logical.bytes == logical.declared_bytes:
        return f"{declared}, the logical peak"
    return (
        f"{declared} | logical peak: {format_short_bytes(logical.bytes)} at step {logical.step:,}"
    )


def occupied_peak_summary(dump: Compile) -> str:
    """Return the occupied bytes of the main memory space at the declared peak, and the most.

    For example ``HBM: 48.0 KiB occupied, 4.0 KiB more at step 5``.
    """
    step = dump.declared_peak
    occupancy = largest_off_chip_space(memory_space_occupancies(dump), dump.backend)
    if occupancy is None or step is None:
        return "unknown occupied bytes"
    here = occupancy.bytes_at(step)
    more = f"{format_short_bytes(occupancy.peak_bytes - here)} more at step {occupancy.peak_step:,}"
    return (
        f"{space_title(occupancy.space, dump.backend)}: {format_short_bytes(here)} "
        f"occupied, {'the maximum' if here == occupancy.peak_bytes else more}"
    )


def memory_summary(dump: Compile) -> str:
    """Return the memory of a compile in one line, with the largest owners at the peak.

    For example ``HBM: 680.60 MiB of 788.30 MiB at the peak, step 9 | arguments 460.60 MiB``. It
    names thread-local allocations, which never belong to a peak, if they are 1% or more. If the
    assignment is not whole, the bytes are lower bounds.
    """
    occupancy = largest_off_chip_space(memory_space_occupancies(dump), dump.backend)
    if occupancy is None:
        return total_summary(dump)
    owned = owned_buffers(dump, live_buffers(dump, occupancy.space, occupancy.peak_step))
    groups = group_buffers(dump, owned, GroupKey.LINE)
    owners = [f"{group.label} {format_short_bytes(group.bytes)}" for group in groups]
    local = occupancy.thread_local_bytes
    is_shown = local and not is_negligible(local, occupancy.total_bytes, 1)
    thread_local = f", {format_short_bytes(local)} thread-local" if is_shown else ""
    return (
        f"{space_title(occupancy.space, dump.backend)}: "
        f"{_least(dump)}{format_short_bytes(occupancy.peak_bytes)} of "
        f"{format_short_bytes(occupancy.total_bytes)} at the peak, step {occupancy.peak_step:,}"
        f"{thread_local} | {join_limited(owners, _MAX_OWNERS)}"
    )


def computation_summary(dump: Compile, computation: LocatedRecord[ComputationLine]) -> str:
    """Return ``412 instructions, 96 buffers defined, 12.30 MiB``."""
    members = computation.file.module.members(computation.record)
    instructions = count_noun(len(members), "instruction")
    buffers = buffers_by_computation(dump).get(computation.record)
    if buffers is None:
        return instructions
    defined = count_noun(buffers.buffers, "buffer")
    return f"{instructions}, {defined} defined, {format_short_bytes(buffers.bytes)}"


def total_summary(dump: Compile) -> str:
    """Return the total of each memory space: ``HBM 12.00 MiB, VMEM 8.5 KiB``."""
    spaces: Counter[int] = Counter()
    local = 0
    for allocation in dump.allocations():
        record = allocation.record
        if record.thread_local:
            local += record.size
        else:
            spaces[record.color] += record.size
    least = _least(dump)
    parts = [
        f"{space_title(color, dump.backend)} {least}{format_short_bytes(size)}"
        for color, size in sorted(spaces.items())
    ]
    if local:
        parts.append(f"without {format_short_bytes(local)} thread-local")
    return ", ".join(parts) or "no allocations"


def _least(dump: Compile) -> str:
    """Return ``at least`` if allocations or values are missing, as the memory summary says it."""
    return "" if is_assignment_whole(dump) else "at least "
