"""The messages of XLA that the conversion reads; their fields are in ``hlo_messages.toml``."""

from hlo_lsp.protos.messages import message_classes, parse_fields, read_messages

TABLE = read_messages("hlo_messages")
CLASSES = message_classes(TABLE, TABLE)
_UNDECODED = {"HloComputationProto": parse_fields("instructions:2:bytes*")}
CLASSES_WITHOUT_INSTRUCTIONS = message_classes({**TABLE, **_UNDECODED}, TABLE)
"""The same messages with instructions as bytes, for a look at how many there are."""
