"""Protocol buffer messages that are described by tables of their fields."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from hlo_lsp.hlo.vocabulary import read_toml

# Each field has a number and a type: a scalar type, or the name of a message. A star means that it
# is repeated. Enums are int32, which has the same encoding.
Fields = Mapping[str, tuple[int, str]]


def read_messages(name: str) -> Mapping[str, Fields]:
    """Return the fields of the messages in ``name.toml`` of this package."""
    return {message: parse_fields(text) for message, text in read_toml(name, __package__).items()}


def parse_fields(text: str) -> Fields:
    """Return the fields of a message from ``name:number:type`` items."""
    parts = (item.split(":") for item in text.split())
    return {name: (int(number), kind) for name, number, kind in parts}


def message_class(messages: Mapping[str, Fields], name: str) -> Any:
    """Return the class of a message, whose other messages are in the same table."""
    return message_classes(messages, (name,))[name]


def message_classes(messages: Mapping[str, Fields], names: Iterable[str]) -> dict[str, Any]:
    """Return the classes of several messages of a table."""
    file = FileDescriptorProto(name="messages.proto", package="hlo_lsp", syntax="proto2")
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
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"hlo_lsp.{name}")) for name in names}
