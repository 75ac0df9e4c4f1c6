"""A Perfetto trace of the buffers of a compile; one microsecond is one schedule step.

A module is a process. Each memory space has a counter of the occupied bytes, and below it the
buffers of its temp allocations as slices, on tracks that are named after their Python lines.
"""

import heapq
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import LiveBuffer
from hlo_lsp.memory.occupancy_and_peaks import SpaceOccupancy, memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.buffer_assignment import buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.display import format_short_bytes
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.protos.messages import Fields, message_class
from hlo_lsp.reports.summary import allocation_role, module_name

_STEP_NANOSECONDS = 1000
_SLICE_BEGIN, _SLICE_END, _COUNTER = 1, 2, 4  # TrackEvent.Type
_UNIT_SIZE_BYTES = 3  # CounterDescriptor.Unit
_EXPLICIT = 3  # TrackDescriptor.ChildTracksOrdering
# The part of protos/perfetto/trace in https://github.com/google/perfetto that is written.
PERFETTO: Mapping[str, Fields] = {
    "Trace": {"packet": (1, "TracePacket*")},
    "TracePacket": {
        "timestamp": (8, "uint64"),
        "trusted_packet_sequence_id": (10, "uint32"),
        "track_event": (11, "TrackEvent"),
        "track_descriptor": (60, "TrackDescriptor"),
    },
    "TrackDescriptor": {
        "uuid": (1, "uint64"),
        "name": (2, "string"),
        "process": (3, "ProcessDescriptor"),
        "parent_uuid": (5, "uint64"),
        "counter": (8, "CounterDescriptor"),
        "child_ordering": (11, "int32"),
        "sibling_order_rank": (12, "int32"),
    },
    "ProcessDescriptor": {"pid": (1, "int32"), "process_name": (6, "string")},
    "CounterDescriptor": {"unit": (3, "int32")},
    "TrackEvent": {
        "debug_annotations": (4, "DebugAnnotation*"),
        "type": (9, "int32"),
        "track_uuid": (11, "uint64"),
        "name": (23, "string"),
        "counter_value": (30, "int64"),
    },
    "DebugAnnotation": {
        "int_value": (4, "int64"),
        "string_value": (6, "string"),
        "name": (10, "string"),
    },
}


class _Event(NamedTuple):
    """An event; at one time, slices end before others begin."""

    time: int
    kind: int
    track: int
    name: str = ""
    value: int = 0
    facts: tuple[tuple[str, str | int], ...] = ()


def perfetto_trace(dumps: Iterable[Compile]) -> bytes:
    """Return a trace of some compiles; memory spaces without live ranges are left out."""
    trace = _Trace()
    for dump in dumps:
        trace.add_module(dump)
    return trace.serialized()


class _Trace:
    def __init__(self) -> None:
        self._message: Any = message_class(PERFETTO, "Trace")()
        self._events: list[_Event] = []
        self._tracks = 0
        self._modules = 0

    def serialized(self) -> bytes:
        """Return the trace with its events in the order of time."""
        for event in sorted(self._events, key=lambda event: (event.time, -event.kind)):
            packet = self._packet(timestamp=event.time * _STEP_NANOSECONDS)
            packet.track_event.type = event.kind
            packet.track_event.track_uuid = event.track
            if event.kind == _COUNTER:
                packet.track_event.counter_value = event.value
            if event.kind == _SLICE_BEGIN:
                packet.track_event.name = event.name
            for name, value in event.facts:
                kind = "int_value" if isinstance(value, int) else "string_value"
                packet.track_event.debug_annotations.add(name=name, **{kind: value})
        found: bytes = self._message.SerializeToString()
        return found

    def add_module(self, dump: Compile) -> None:
        """Add the buffers of a compile."""
        occupancies = memory_space_occupancies(dump)
        if not occupancies:
            return
        self._modules += 1
        process = self._add_track(module_name(dump), ordered=True)
        process.process.pid = self._modules
        process.process.process_name = module_name(dump)
        for rank, occupancy in enumerate(occupancies):
            self._add_space(dump, process.uuid, rank, occupancy)

    def _add_space(self, dump: Compile, process: int, rank: int, occupancy: SpaceOccupancy) -> None:
        title = space_title(occupancy.space, dump.backend)
        counter = self._add_track(f"{title} occupied", process, rank=2 * rank)
        counter.counter.unit = _UNIT_SIZE_BYTES
        end = 1 + max(dump.last_step or 0, *occupancy.change_steps, 0)
        fixed = occupancy.fixed_bytes
        changes = dict(zip(occupancy.change_steps, occupancy.temp_bytes, strict=True))
        for step, temp in {0: 0, **changes, end: changes.get(end, 0)}.items():
            self._events.append(_Event(step, _COUNTER, counter.uuid, value=fixed + temp))
        group = self._add_track(f"{title} buffers", process, rank=2 * rank + 1, ordered=True)
        self._add_fixed(dump, group.uuid, occupancy.space, end)
        buffers = _temporaries(dump, occupancy.space)
        for number, members in enumerate(group_buffers(dump, buffers, GroupKey.LINE), 1):
            self._add_slices(dump, group.uuid, number, members.label, members.buffers)

    def _add_fixed(self, dump: Compile, parent: int, space: int, end: int) -> None:
        """Add a slice of the whole schedule for each kind of fixed allocation."""
        sizes: dict[str, int] = {}
        for block in buffer_assignment(dump).blocks:
            one = block.allocation
            if one.color == space and one.is_fixed:
                kind = allocation_role(one)
                sizes[kind] = sizes.get(kind, 0) + one.size
        for kind, size in sizes.items():
            track = self._add_track(f"{kind}s", parent, rank=0).uuid
            name = f"{kind}s {format_short_bytes(size)}"
            facts = (("bytes", size),)
            self._events.append(_Event(0, _SLICE_BEGIN, track, name, facts=facts))
            self._events.append(_Event(end, _SLICE_END, track))

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
                track = self._add_track(name, parent, rank=rank).uuid
            heapq.heappush(busy, (end, track))
            title, facts = _facts(owned)
            self._events.append(_Event(start, _SLICE_BEGIN, track, title, facts=facts))
            self._events.append(_Event(end, _SLICE_END, track))

    def _add_track(
        self, name: str, parent: int | None = None, *, rank: int = 0, ordered: bool = False
    ) -> Any:
        self._tracks += 1
        track = self._packet().track_descriptor
        track.uuid = self._tracks
        track.name = name
        if parent is not None:
            track.parent_uuid = parent
            track.sibling_order_rank = rank
        if ordered:
            track.child_ordering = _EXPLICIT
        return track

    def _packet(self, **fields: int) -> Any:
        return self._message.packet.add(trusted_packet_sequence_id=1, **fields)


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


def _facts(owned: OwnedBuffer) -> tuple[str, tuple[tuple[str, str | int], ...]]:
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
