"""The protocol buffer wire format, as far as HloModuleProto needs it."""

from collections.abc import Iterator

Value = int | bytes
Field = tuple[int, Value]

_VARINT = 0
_WIDTHS = {1: 8, 5: 4}  # bytes of the fixed-width types
_LENGTH = 2


def fields(message: Value) -> Iterator[Field]:
    """Yield the fields of a message by number, in order: integers unsigned, all others as bytes.

    Raises:
        ValueError: The message has a wire type that proto3 does not write.
    """
    message = as_bytes(message)
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire_type == _LENGTH:
            length, at = _varint(message, at)
        elif wire_type in _WIDTHS:
            length = _WIDTHS[wire_type]
        else:
            raise ValueError(f"wire type {wire_type} at byte {at}")
        yield number, message[at : at + length]
        at += length


def integers(value: Value) -> list[int]:
    """Return the signed integers of a ``repeated`` field, packed or single."""
    if isinstance(value, int):
        return [_signed(value)]
    found = []
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(_signed(number))
    return found


def as_text(value: Value) -> str:
    """Return a field of type string."""
    return as_bytes(value).decode()


def as_bytes(value: Value) -> bytes:
    """Return a field of type bytes, or an unread message."""
    assert isinstance(value, bytes)
    return value


def as_integer(value: Value) -> int:
    """Return a field with one unsigned integer."""
    assert isinstance(value, int)
    return value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = message[at]
    at += 1
    if value < 0x80:
        return value, at
    value &= 0x7F
    shift = 7
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
