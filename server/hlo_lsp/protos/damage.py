"""Damaged messages: where the damage is, and what can still be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.protos.hlo_messages import CLASSES, TABLE
from hlo_lsp.protos.messages import Fields

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
_MAX_FIELD_NUMBER = (1 << 29) - 1
_MAX_DEPTH = 100  # the limit of protobuf
# Without its compiled part, protobuf refuses a text that is not UTF-8; with it, it returns bytes.
_ERRORS: tuple[type[Exception], ...] = (DecodeError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class Damage:
    """The first damage: its offset in bytes, the path of its field, and what is wrong."""

    offset: int
    field: str
    reason: str

    def __str__(self) -> str:
        return f"byte {self.offset:,}, field {self.field}: {self.reason}"


class _DamagedError(Exception):
    """A field that cannot be read; the argument is the reason."""


def parse(
    data: bytes,
    name: str,
    classes: Mapping[str, Any] = CLASSES,
    table: Mapping[str, Fields] = TABLE,
) -> tuple[Any, Damage | None]:
    """Return a message and None, or what can be read of it and the first damage.

    Args:
        data: The message.
        name: The name of its type.
        classes: The classes of the types.
        table: The fields of the types. A class may have bytes where they have a message, so that
            the user decodes it when it is needed.
    """
    try:
        return classes[name].FromString(data), None
    except _ERRORS:
        reader = _Reader(data, classes, table)
        kept = reader.kept(0, len(data), name, name, 0)
        return classes[name].FromString(kept), reader.damage


class _Reader:
    """Copies the fields of a message that can be read."""

    def __init__(
        self, data: bytes, classes: Mapping[str, Any], table: Mapping[str, Fields]
    ) -> None:
        self._data = data
        self._classes = classes
        self._table = table
        self.damage: Damage | None = None

    def kept(self, start: int, end: int, message: str, path: str, depth: int) -> bytes:
        """Return the fields between two offsets that can be read.

        A damaged field of a message type is copied in part, and the fields after it are read as
        well unless it is longer than the message. After any other damage, nothing is read.
        """
        checkpoint()
        names = {number: (name, kind) for name, (number, kind) in self._table[message].items()}
        counts: dict[str, int] = {}
        kept = bytearray()
        position = start
        while position < end:
            field = path
            try:
                tag, after = self._varint(position, end)
                name, kind = names.get(tag >> 3, (str(tag >> 3), ""))
                field = f"{path}.{name}"
                if kind.endswith("*"):
                    field += f"[{counts.get(name, 0)}]"
                    counts[name] = counts.get(name, 0) + 1
                inner, field_end = self._content(tag, after, end)
            except _DamagedError as error:
                self._report(position, field, str(error))
                break
            inside = kind.removesuffix("*")
            is_message = tag & 7 == _BYTES and inside in self._table and depth < _MAX_DEPTH
            if is_message and not self._is_intact(inner, min(field_end, end), inside):
                part = self.kept(inner, min(field_end, end), inside, field, depth + 1)
                kept += self._data[position:after] + _encoded(len(part)) + part
            elif field_end <= end and self._is_intact(position, field_end, message):
                kept += self._data[position:field_end]
            elif field_end <= end:
                self._report(position, field, "not a value of its type")
            if field_end > end:
                reason = f"its length is {field_end - inner:,} bytes, but {end - inner:,} are left"
                self._report(position, field, reason)
                break
            position = field_end
        return bytes(kept)

    def _report(self, offset: int, field: str, reason: str) -> None:
        if self.damage is None:
            self.damage = Damage(offset, field, reason)

    def _is_intact(self, start: int, end: int, message: str) -> bool:
        try:
            self._classes[message].FromString(self._data[start:end])
        except _ERRORS:
            return False
        return True

    def _content(self, tag: int, position: int, end: int) -> tuple[int, int]:
        """Return where the content of a field begins and ends; the end may be too large."""
        if not 0 < tag >> 3 <= _MAX_FIELD_NUMBER:
            raise _DamagedError("not a field")
        wire = tag & 7
        if wire == _VARINT:
            return position, self._varint(position, end)[1]
        if wire == _BYTES:
            length, inner = self._varint(position, end)
            return inner, inner + length
        if wire in {_FIXED32, _FIXED64}:
            return position, position + (4 if wire == _FIXED32 else 8)
        raise _DamagedError(f"unknown wire type {wire}")

    def _varint(self, position: int, end: int) -> tuple[int, int]:
        value = 0
        for number, place in enumerate(range(position, min(end, position + _MAX_VARINT_BYTES))):
            byte = self._data[place]
            value |= (byte & 0x7F) << (7 * number)
            if byte < 0x80:
                return value, place + 1
        raise _DamagedError("the number has no end")


def _encoded(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*parts, number))
