"""The conversion of a ShapeProto to a shape of the package."""

from functools import lru_cache
from typing import Any

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
from hlo_lsp.protos.hlo_messages import CLASSES
from hlo_lsp.protos.shapes import ELEMENT_TYPES

_UNKNOWN = -(1 << 63)  # an unbounded dimension, or `*` in a tile
_TUPLE, _BUFFER = 13, 34


@lru_cache(maxsize=1 << 14)
def decode_shape(message: bytes) -> Shape:
    """Return the shape that a serialized ShapeProto describes."""
    return _shape(CLASSES["ShapeProto"].FromString(message))


def _shape(proto: Any) -> Shape:
    if proto.element_type == _TUPLE:
        return TupleShape(tuple(map(_shape, proto.tuple_shapes)))
    if proto.element_type == _BUFFER:
        return BufferShape(_shape(proto.tuple_shapes[0]))
    flags = proto.is_dynamic_dimension or [False] * len(proto.dimensions)
    dimensions = tuple(
        Dimension(None, dynamic=True) if dim == _UNKNOWN else Dimension(dim, dynamic=flag)
        for dim, flag in zip(proto.dimensions, flags, strict=True)
    )
    layout = _layout(proto.layout) if proto.HasField("layout") else None
    if layout == Layout():  # XLA does not print the layout of a scalar.
        layout = None
    return ArrayShape(ELEMENT_TYPES[proto.element_type], dimensions, layout)


def _layout(proto: Any) -> Layout:
    return Layout(
        minor_to_major=tuple(proto.minor_to_major),
        tiles=tuple(
            Tile(tuple(None if dim == _UNKNOWN else dim for dim in tile.dimensions))
            for tile in proto.tiles
        ),
        element_bits=proto.element_size_in_bits,
        memory_space=proto.memory_space,
        metadata_bytes=proto.dynamic_shape_metadata_prefix_bytes,
        tail_padding=proto.tail_padding_alignment_in_elements or 1,
        splits=tuple(Split(one.dimension, tuple(one.split_indices)) for one in proto.split_configs),
    )
