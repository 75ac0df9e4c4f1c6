"""A Perfetto trace of the buffers of a compile; one microsecond is one schedule step.

A module is a process. Each memory space has a counter of the occupied bytes, and below it the
buffers of its temp allocations as slices, on tracks that are named after their Python lines.
"""

import heapq
from collections.abc import Iterable

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import LiveBuffer
from hlo_lsp.memory.occupancy_and_peaks import SpaceOccupancy, memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.buffer_assignment import buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.reports.summary import allocation_role
from hlo_lsp.reports.trace_writer import Facts, TraceWriter
from hlo_lsp.text.amounts import format_short_bytes

_STEP_NANOSECONDS = 1000


def perfetto_trace(dumps: Iterable[Compile]) -> bytes:
    """Return a trace of some compiles; memory spaces without live ranges are left out."""
    trace = _Trace()
    for dump in dumps:
        trace.add_module(dump)
    return trace.serialized()


class _Trace(TraceWriter):
    def add_module(self, dump: Compile) -> None:
        """Add the buffers of a compile."""
        occupancies = memory_space_occupancies(dump)
        if not occupancies:
            return
        process = self.add_process(dump.module_name)
        for rank, occupancy in enumerate(occupancies):
            self._add_space(dump, process, rank, occupancy)

    def _add_space(self, dump: Compile, process: int, rank: int, occupancy: SpaceOccupancy) -> None:
        title = space_title(occupancy.space, dump.backend)
        counter = self.add_byte_counter(f"{title} occupied", process, rank=2 * rank)
        end = 1 + max(dump.last_step or 0, *occupancy.change_steps, 0)
        fixed = occupancy.fixed_bytes
        changes = dict(zip(occupancy.change_steps, occupancy.temp_bytes, strict=True))
        for step, temp in {0: 0, **changes, end: changes.get(end, 0)}.items():
            self.add_count(step * _STEP_NANOSECONDS, counter, fixed + temp)
        group = self.add_track(f"{title} buffers", process, rank=2 * rank + 1, ordered=True)
        self._add_fixed(dump, group, occupancy.space, end)
        buffers = _temporaries(dump, occupancy.space)
        for number, members in enumerate(group_buffers(dump, buffers, GroupKey.LINE), 1):
            self._add_slices(dump, group, number, members.label, members.buffers)

    def _add_fixed(self, dump: Compile, parent: int, space: int, end: int) -> None:
        """Add a slice of the whole schedule for each kind of fixed allocation."""
        sizes: dict[str, int] = {}
        for block in buffer_assignment(dump).blocks:
            one = block.allocation
            if one.color == space and one.is_fixed:
                kind = allocation_role(one)
                sizes[kind] = sizes.get(kind, 0) + one.size
        for kind, size in sizes.items():
            track = self.add_track(f"{kind}s", parent)
            name = f"{kind}s {format_short_bytes(size)}"
            facts = (("bytes", size),)
            self.begin_slice(0, track, name, facts)
            self.end_slice(end * _STEP_NANOSECONDS, track)

    def _add_slices(
        self, dump: Compile, parent: int, rank: int, name: str, buffers: Iterable[OwnedBuffer]
    ) -> None:
        """Add slices on as few tracks of one name as possible, which viewers show as one."""
        slices = []
        for owned in buffers:
            assert owned.buffer.value is not None
            live = dump.live(owned.buffer.value.record.key)
            if live is not None:
                slices.append((live.record.start_step, live.record.end_step + 1, owned))
        slices.sort(key=lambda one: one[:2])
        busy: list[tuple[int, int]] = []  # end and number of the tracks
        for start, end, owned in slices:
            if busy and busy[0][0] <= start:
                track = heapq.heappop(busy)[1]
            else:
                track = self.add_track(name, parent, rank=rank)
            heapq.heappush(busy, (end, track))
            title, facts = _facts(owned)
            self.begin_slice(start * _STEP_NANOSECONDS, track, title, facts)
            self.end_slice(end * _STEP_NANOSECONDS, track)


def _temporaries(dump: Compile, space: int) -> list[OwnedBuffer]:
    """Return all values in the temp allocations of a memory space with their origins."""
    assignment = buffer_assignment(dump)
    buffers = (
        LiveBuffer(
            LocatedRecord(assignment.file, block.allocation),
            LocatedRecord(assignment.file, value),
            value.size,
            0,
        )
        for block in assignment.blocks
        if block.allocation.color == space and block.allocation.preallocated_temp
        for value in block.values
        if value.size
    )
    return owned_buffers(dump, buffers)


def _facts(owned: OwnedBuffer) -> tuple[str, Facts]:
    """Return the title and the arguments of a slice."""
    value, origin = owned.buffer.value, owned.origin
    assert value is not None
    checkpoint()
    record = value.record
    facts: list[tuple[str, str | int]] = [
        ("bytes", record.size),
        ("shape", record.shape),
        ("allocation", owned.buffer.allocation.record.number),
        ("offset", record.offset),
    ]
    if origin is not None:
        facts.append(("origin", origin.argument or origin.instruction.record.name))
        if origin.op_name is not None:
            facts.append(("op_name", origin.op_name))
        if origin.source is not None:
            facts.append(("source", str(origin.source)))
    return f"{record.key} {format_short_bytes(record.size)}", tuple(facts)
