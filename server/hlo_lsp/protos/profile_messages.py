"""The messages of a profile (``*.xplane.pb``); their fields are in ``profile_messages.toml``.

A file can have millions of events. Therefore, planes, lines, events, and their stats are bytes in
the messages that contain them, and are decoded one after the other; equal stats only once. This
also limits a damage to its line.
"""

from hlo_lsp.protos.messages import message_classes, read_messages

TABLE = read_messages("profile_messages")
# The message that contains others, and the field with them.
_CONTAINERS = {"XSpace": "planes", "XPlane": "lines", "XLine": "events", "XEvent": "stats"}
_UNDECODED = {
    name: {**TABLE[name], field: (TABLE[name][field][0], "bytes*")}
    for name, field in _CONTAINERS.items()
}
CLASSES = message_classes({**TABLE, **_UNDECODED}, TABLE)
