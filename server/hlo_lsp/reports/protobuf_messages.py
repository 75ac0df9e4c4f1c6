"""Protocol buffer messages that are described by tables of their fields.

``PPROF`` is the part of https://github.com/google/pprof/blob/main/proto/profile.proto, and
``PERFETTO`` the part of protos/perfetto/trace in https://github.com/google/perfetto, that the
exports write.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

# Each field has a number and a type: a scalar type, or the name of a message. A star means that it
# is repeated. Enums are int32, which has the same encoding.
_Fields = Mapping[str, tuple[int, str]]

PPROF: Mapping[str, _Fields] = {
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
PERFETTO: Mapping[str, _Fields] = {
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


def message_class(messages: Mapping[str, _Fields], name: str) -> Any:
    """Return the class of a message, whose other messages are in the same table."""
    file = FileDescriptorProto(name=f"{name}.proto", package="hlo_lsp", syntax="proto2")
    for message, fields in messages.items():
        described = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            scalar = kind.removesuffix("*")
            added = described.field.add(name=field, number=number)
            added.label = (
                FieldDescriptorProto.LABEL_REPEATED
                if kind.endswith("*")
                else FieldDescriptorProto.LABEL_OPTIONAL
            )
            if scalar in messages:
                added.type, added.type_name = FieldDescriptorProto.TYPE_MESSAGE, scalar
            else:
                added.type = FieldDescriptorProto.Type.Value(f"TYPE_{scalar.upper()}")
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(f"hlo_lsp.{name}"))
