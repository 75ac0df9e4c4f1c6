"""The messages of exported profiles and traces.

``PPROF`` is the part of https://github.com/google/pprof/blob/main/proto/profile.proto, and
``PERFETTO`` the part of protos/perfetto/trace in https://github.com/google/perfetto, that the
exports write.
"""

from collections.abc import Mapping

from hlo_lsp.protos.messages import Fields

PPROF: Mapping[str, Fields] = {
    "Profile": {
        "sample_type": (1, "ValueType*"),
        "sample": (2, "Sample*"),
        "location": (4, "Location*"),
        "function": (5, "Function*"),
        "string_table": (6, "string*"),
        "comment": (13, "int64*"),
        "default_sample_type": (14, "int64"),
    },
    "ValueType": {"type": (1, "int64"), "unit": (2, "int64")},
    "Sample": {"location_id": (1, "uint64*"), "value": (2, "int64*"), "label": (3, "Label*")},
    "Label": {"key": (1, "int64"), "str": (2, "int64")},
    "Location": {"id": (1, "uint64"), "line": (4, "Line*")},
    "Line": {"function_id": (1, "uint64"), "line": (2, "int64")},
    "Function": {"id": (1, "uint64"), "name": (2, "int64"), "filename": (4, "int64")},
}
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
