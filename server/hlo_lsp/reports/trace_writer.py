"""A writer of Perfetto traces: tracks, slices, and counters.

Times are nanoseconds.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hlo_lsp.protos.messages import Fields, message_class

Facts = tuple[tuple[str, str | int], ...]
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


# Damaged profiles and dumps have other numbers.
_MAX_TIME = 2**64 - 1
_MAX_COUNT = 2**63 - 1


def _in_range(value: int) -> int:
    return min(max(value, -_MAX_COUNT), _MAX_COUNT)


class _Event(NamedTuple):
    time: int
    kind: int
    track: int
    name: str = ""
    value: int = 0
    facts: Facts = ()


class TraceWriter:
    """A trace to which tracks and events are added; those of a track are added in their order."""

    def __init__(self) -> None:
        self._message: Any = message_class(PERFETTO, "Trace")()
        self._events: list[_Event] = []
        self._tracks = 0
        self._processes = 0

    def add_process(self, name: str) -> int:
        """Add a process, and return its track."""
        self._processes += 1
        track = self._track(name, None, 0, ordered=True)
        track.process.pid = self._processes
        track.process.process_name = name
        return int(track.uuid)

    def add_track(self, name: str, parent: int, *, rank: int = 0, ordered: bool = False) -> int:
        """Add a track below another one, ordered by rank, and return it."""
        return int(self._track(name, parent, rank, ordered=ordered).uuid)

    def add_byte_counter(self, name: str, parent: int, *, rank: int) -> int:
        """Add a track for a number of bytes below another one, and return it."""
        track = self._track(name, parent, rank, ordered=False)
        track.counter.unit = _UNIT_SIZE_BYTES
        return int(track.uuid)

    def begin_slice(self, time: int, track: int, name: str, facts: Facts = ()) -> None:
        """Add the beginning of a slice with its arguments."""
        self._events.append(_Event(time, _SLICE_BEGIN, track, name, facts=facts))

    def end_slice(self, time: int, track: int) -> None:
        """Add the end of the slice of a track that began last."""
        self._events.append(_Event(time, _SLICE_END, track))

    def add_count(self, time: int, track: int, value: int) -> None:
        """Add the value of a counter from a time on."""
        self._events.append(_Event(time, _COUNTER, track, value=value))

    def serialized(self) -> bytes:
        """Return the trace with its events in the order of time."""
        for event in sorted(self._events, key=lambda event: event.time):
            packet = self._packet(timestamp=min(max(event.time, 0), _MAX_TIME))
            packet.track_event.type = event.kind
            packet.track_event.track_uuid = event.track
            if event.kind == _COUNTER:
                packet.track_event.counter_value = _in_range(event.value)
            if event.kind == _SLICE_BEGIN:
                packet.track_event.name = event.name
            for name, value in event.facts:
                fact = packet.track_event.debug_annotations.add(name=name)
                if isinstance(value, int):
                    fact.int_value = _in_range(value)
                else:
                    fact.string_value = value
        found: bytes = self._message.SerializeToString()
        return found

    def _track(self, name: str, parent: int | None, rank: int, *, ordered: bool) -> Any:
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
