"""The shapes of a HloModuleProto as shapes of our model.

The numbers of fields and types are those of openxla/xla, ``xla/xla_data.proto``.
"""

from functools import lru_cache

from hlo_lsp.model.shape import (
    ArrayShape,
    BufferShape,
    Dimension,
    Layout,
    Shape,
    Split,
    Tile,
    TupleShape,
)
from oracles.protobuf import Value, as_bytes, as_integer, fields, integers

_UNKNOWN = -(1 << 63)  # an unbounded dimension, or `*` in a tile
_TYPES = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64",
    10: "f16", 11: "f32", 12: "f64", 14: "opaque", 15: "c64", 16: "bf16", 17: "token", 18: "c128",
    19: "f8e5m2", 20: "f8e4m3fn", 21: "s4", 22: "u4", 23: "f8e4m3b11fnuz", 24: "f8e5m2fnuz",
    25: "f8e4m3fnuz", 26: "s2", 27: "u2", 28: "f8e4m3", 29: "f8e3m4", 30: "s1", 31: "u1",
    32: "f4e2m1fn", 33: "f8e8m0fnu",
}  # fmt: skip
_TUPLE, _BUFFER = 13, 34


@lru_cache(maxsize=1 << 14)
def decode_shape(message: bytes) -> Shape:
    """Return the shape that a ShapeProto describes."""
    kind = 0
    dims: list[int] = []
    dynamic: list[int] = []
    parts: list[Shape] = []
    layout: Layout | None = None
    for number, value in fields(message):
        if number == 2:
            kind = as_integer(value)
        elif number == 3:
            dims += integers(value)
        elif number == 4:
            parts.append(decode_shape(as_bytes(value)))
        elif number == 5:
            layout = _layout(value)
        elif number == 6:
            dynamic += integers(value)
    if kind == _TUPLE:
        return TupleShape(tuple(parts))
    if kind == _BUFFER:
        return BufferShape(parts[0])
    flags = dynamic or [0] * len(dims)
    dimensions = tuple(
        Dimension(None, dynamic=True) if dim == _UNKNOWN else Dimension(dim, dynamic=bool(flag))
        for dim, flag in zip(dims, flags, strict=True)
    )
    if layout == Layout():  # that of a scalar, which is not printed
        layout = None
    return ArrayShape(_TYPES[kind], dimensions, layout)


def _layout(message: Value) -> Layout:
    order: list[int] = []
    tiles: list[Tile] = []
    splits: list[Split] = []
    numbers = {7: 0, 8: 0, 15: 0, 16: 1}
    for number, value in fields(message):
        if number == 1:
            order += integers(value)
        elif number == 6:
            dims = [dim for _, packed in fields(value) for dim in integers(packed)]
            tiles.append(Tile(tuple(None if dim == _UNKNOWN else dim for dim in dims)))
        elif number == 17:
            splits.append(_split(value))
        elif number in numbers:
            numbers[number] = as_integer(value)
    return Layout(
        minor_to_major=tuple(order),
        tiles=tuple(tiles),
        element_bits=numbers[7],
        memory_space=numbers[8],
        metadata_bytes=numbers[15],
        tail_padding=numbers[16],
        splits=tuple(splits),
    )


def _split(message: Value) -> Split:
    dimension = 0
    at: list[int] = []
    for number, value in fields(message):
        if number == 1:
            dimension = as_integer(value)
        elif number == 2:
            at += integers(value)
    return Split(dimension, tuple(at))
