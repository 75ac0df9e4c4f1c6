"""The messages of a profile (``*.xplane.pb``).

The field numbers are those of tsl/profiler/protobuf/xplane.proto in
https://github.com/openxla/xla. A file can have millions of events. Therefore, planes, lines,
events, and their stats are bytes in the messages that contain them, and are decoded one after the
other; equal stats only once. This also limits a damage to its line.
"""

from hlo_lsp.protos.messages import message_classes, parse_fields

_TEXTS = {
    "XSpace": "planes:1:XPlane*",
    "XPlane": "id:1:int64 name:2:string lines:3:XLine* event_metadata:4:EventMetadataEntry*"
    " stat_metadata:5:StatMetadataEntry* stats:6:XStat*",
    "EventMetadataEntry": "key:1:int64 value:2:XEventMetadata",
    "StatMetadataEntry": "key:1:int64 value:2:XStatMetadata",
    "XLine": "id:1:int64 name:2:string timestamp_ns:3:int64 events:4:XEvent* duration_ps:9:int64"
    " display_id:10:int64 display_name:11:string",
    "Events": "events:4:XEvent*",  # an XLine of which nothing else is read
    "XEvent": "metadata_id:1:int64 offset_ps:2:int64 duration_ps:3:int64 stats:4:XStat*"
    " num_occurrences:5:int64",
    "XStat": "metadata_id:1:int64 double_value:2:double uint64_value:3:uint64 int64_value:4:int64"
    " str_value:5:string bytes_value:6:bytes ref_value:7:uint64 compressed_str_value:8:bytes",
    "XEventMetadata": "id:1:int64 name:2:string metadata:3:bytes display_name:4:string"
    " stats:5:XStat*",
    "XStatMetadata": "id:1:int64 name:2:string description:3:string",
}
TABLE = {name: parse_fields(text) for name, text in _TEXTS.items()}
_UNDECODED = {
    "XSpace": "planes:1:bytes*",
    "XPlane": _TEXTS["XPlane"].replace("XLine*", "bytes*"),
    "XLine": _TEXTS["XLine"].replace("XEvent*", "bytes*"),
    "XEvent": _TEXTS["XEvent"].replace("XStat*", "bytes*"),
}
_CLASS_TEXTS = {**_TEXTS, **_UNDECODED}
CLASSES = message_classes(
    {name: parse_fields(text) for name, text in _CLASS_TEXTS.items()}, _CLASS_TEXTS
)
