"""The text of constants (literal.cc, and RoundTripFpToString in util.cc)."""

import math
import operator
import struct
from collections.abc import Sequence
from typing import Any

from hlo_lsp.protos.shapes import ELEMENT_TYPES, TUPLE, ShapeTexts

_MAX_PRINTED_ELEMENTS = 10
_MAX_RANK = 100
_MAX_EMPTY_PARTS = 1 << 16  # of an array without elements, such as f32[1000000,0]
# Exponent bits, mantissa bits, exponent bias, and the significant decimal digits of small formats.
_SMALL_FLOATS = {
    "f4e2m1fn": (2, 1, 1, 2), "f6e2m3fn": (2, 3, 1, 3), "f6e3m2fn": (3, 2, 3, 2),
    "f8e3m4": (3, 4, 3, 3), "f8e4m3": (4, 3, 7, 3), "f8e4m3fn": (4, 3, 7, 3),
    "f8e4m3b11fnuz": (4, 3, 11, 3), "f8e4m3fnuz": (4, 3, 8, 3), "f8e5m2": (5, 2, 15, 2),
    "f8e5m2fnuz": (5, 2, 16, 2),
}  # fmt: skip
_BYTE_FORMATS = {"s16": "h", "u16": "H", "s8": "b", "u8": "B", "s4": "b", "u4": "B", "s2": "b",
                 "u2": "B", "s1": "b", "u1": "B"}  # fmt: skip


def literal_text(literal: Any, shapes: ShapeTexts, *, always: bool = False) -> str:
    """Return a constant as XLA prints it: large arrays and tuples are ``{...}``.

    With ``always``, the whole constant is printed with its shape, as for attributes.
    """
    shape = literal.shape
    if shape.element_type == TUPLE:
        if not always:
            return "{...}"
        parts = (literal_text(one, shapes, always=True) for one in literal.tuple_literals)
        return f"( {', '.join(parts)} )"
    count = math.prod(shape.dimensions)
    if count > _MAX_PRINTED_ELEMENTS and not always:
        return "{...}"
    values = _values(literal)
    if values is None or len(values) != count or not _is_layout(shape):
        return "{...}"
    printed = math.prod(max(size, 1) for size in shape.dimensions)
    if len(shape.dimensions) > _MAX_RANK or printed > max(count, _MAX_EMPTY_PARTS):
        return "{...}"
    dynamic = any(shape.is_dynamic_dimension)
    sizes = list(literal.dynamic_sizes) if dynamic else []
    bounds = list(shape.dimensions)
    are_sizes = len(sizes) == len(bounds) and all(map(operator.le, sizes, bounds))
    dimensions = sizes if are_sizes else bounds
    text = _array(values, bounds, dimensions, list(shape.layout.minor_to_major))
    return f"{shapes.text(shape)} {text}" if always else text


def _is_layout(shape: Any) -> bool:
    rank = len(shape.dimensions)
    order = shape.layout.minor_to_major
    return all(size >= 0 for size in shape.dimensions) and sorted(order) == list(range(rank))


def _array(values: Sequence[str], bounds: list[int], sizes: list[int], order: list[int]) -> str:
    """Print an array; its values are in the order of its layout."""
    rank = len(sizes)
    strides = [0] * rank
    stride = 1
    for dimension in order:
        strides[dimension] = stride
        stride *= bounds[dimension]

    def inner(dimension: int, offset: int, index: int) -> str:
        if dimension == rank:
            return values[offset]
        count = sizes[dimension]
        parts = [
            inner(dimension + 1, offset + number * strides[dimension], number)
            for number in range(count)
        ]
        if rank == 1:
            return f"{{{', '.join(parts)}}}"
        if dimension == rank - 1:
            blank = "" if count <= 1 else " "
            return f"{{{blank}{', '.join(parts)}{blank}}}"
        mark = (
            f" /*i{dimension - 1}={index}*/{' ' if count else ''}"
            if rank > 3 and dimension
            else " "
        )
        return f"{{{mark}{', '.join(parts)} }}"

    return inner(0, 0, 0)


def _values(literal: Any) -> list[str] | None:
    """Return the elements as text, None if their type is unknown."""
    shape = literal.shape
    name = ELEMENT_TYPES.get(shape.element_type, "")
    if name == "pred":
        names = ("false", "true") if not shape.dimensions else ("0", "1")
        return [names[bool(value)] for value in literal.preds]
    if name in {"s32", "s64", "u32", "u64"}:
        return [str(value) for value in getattr(literal, f"{name}s")]
    if name in {"f32", "f64"}:
        printed = _single if name == "f32" else _double
        return [printed(value) for value in getattr(literal, f"{name}s")]
    if name in {"c64", "c128"}:
        printed = _single if name == "c64" else _double
        parts = [printed(value) for value in getattr(literal, f"{name}s")]
        return [
            f"({real}, {imaginary})"
            for real, imaginary in zip(parts[::2], parts[1::2], strict=False)
        ]
    if name in _BYTE_FORMATS:
        data = getattr(literal, f"{name}s")
        size = struct.calcsize(_BYTE_FORMATS[name])
        usable = data[: len(data) // size * size]
        return [str(value) for (value,) in struct.iter_unpack(f"<{_BYTE_FORMATS[name]}", usable)]
    if name in {"f16", "bf16"}:
        data = getattr(literal, f"{name}s")
        halves = struct.iter_unpack("<H", data[: len(data) // 2 * 2])
        return [_half(bits) if name == "f16" else _brain(bits) for (bits,) in halves]
    if name == "f8e8m0fnu":
        return [
            "nan" if bits == 255 else f"{2.0 ** (bits - 127):.2g}" for bits in literal.f8e8m0fnus
        ]
    if name in _SMALL_FLOATS:
        return [_small_float(bits, name) for bits in getattr(literal, f"{name}s")]
    return None


def _nan(bits: int, mantissa_bits: int, total_bits: int) -> str:
    """Print a NaN with its payload unless it is the usual one."""
    payload = bits & ((1 << mantissa_bits) - 1)
    usual = payload == 1 << (mantissa_bits - 1)
    text = "-nan" if bits >> (total_bits - 1) else "nan"
    return text if usual else f"{text}(0x{payload:x})"


def _single(value: float) -> str:
    if math.isnan(value):
        return _nan(struct.unpack("<I", struct.pack("<f", value))[0], 23, 32)
    short = f"{value:.6g}"
    if math.isinf(value) or struct.unpack("<f", struct.pack("<f", float(short)))[0] == value:
        return short
    return f"{value:.9g}"


def _double(value: float) -> str:
    if math.isnan(value):
        return _nan(struct.unpack("<Q", struct.pack("<d", value))[0], 52, 64)
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def _half(bits: int) -> str:
    value = struct.unpack("<e", struct.pack("<H", bits))[0]
    return _nan(bits, 10, 16) if math.isnan(value) else f"{value:.5g}"


def _brain(bits: int) -> str:
    value = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    return _nan(bits, 7, 16) if math.isnan(value) else f"{value:.4g}"


def _small_float(bits: int, name: str) -> str:
    exponent_bits, mantissa_bits, bias, digits = _SMALL_FLOATS[name]
    width = 1 + exponent_bits + mantissa_bits
    sign = -1.0 if bits >> (width - 1) & 1 else 1.0
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    if name.endswith("fnuz"):
        if bits == 1 << (width - 1):
            return "-nan"
    elif name == "f8e4m3fn":
        if bits & 0x7F == 0x7F:
            return "-nan" if sign < 0 else "nan"
    elif name in {"f8e3m4", "f8e4m3", "f8e5m2"} and exponent == (1 << exponent_bits) - 1:
        if mantissa == 0:
            return "-inf" if sign < 0 else "inf"
        return _nan(bits, mantissa_bits, width)
    if exponent == 0:
        value = sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    else:
        value = sign * (mantissa + (1 << mantissa_bits)) * 2.0 ** (exponent - bias - mantissa_bits)
    return f"{value:.{digits}g}"
