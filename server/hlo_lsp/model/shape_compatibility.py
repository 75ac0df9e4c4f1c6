"""Compatibility of shapes: equal element types and dimensions.

Layouts, tiles and memory spaces are ignored, as they differ between instructions before layout
assignment and inside of fusions. Bounds of dynamic dimensions count as sizes, as some passes drop
the difference.
"""

from dataclasses import dataclass
from functools import lru_cache

from hlo_lsp.model.shape import ArrayShape, BufferShape, Shape, TupleShape, element_texts, try_shape

_FLOAT_PREFIXES = ("f", "bf")
_MAX_SHAPE_LENGTH = 60  # characters of a shape in a sentence


@dataclass(frozen=True, slots=True)
class ShapeDifference:
    """The first different parts of two shapes, as texts for a message."""

    index: str
    first: str
    second: str

    @property
    def where(self) -> str:
        """`` at index {1,0}``, or an empty string for the whole shapes."""
        return f" at index {self.index}" if self.index != "{}" else ""


def is_compatible(first: str, second: str) -> bool:
    """Return True if types and dimensions are equal (``ShapeUtil::Compatible``)."""
    return first == second or shape_difference(first, second) is None


def is_compatible_ignoring_precision(first: str, second: str) -> bool:
    """Return :func:`is_compatible` with all floating-point types equal.

    libtpu mixes precisions in fusions.
    """
    return first == second or shape_difference(first, second, loose=True) is None


def is_compatible_ignoring_type(first: str, second: str) -> bool:
    """Return True if the dimensions are equal."""
    return first == second or shape_difference(first, second, types=False) is None


@lru_cache(maxsize=1 << 14)
def shape_difference(
    first: str, second: str, *, types: bool = True, loose: bool = False
) -> ShapeDifference | None:
    """Return the first difference of two shapes, or None if equal or not parsable."""
    one, other = try_shape(first), try_shape(second)
    if one is None or other is None:
        return None
    return _difference(one, other, types, loose, ())


@lru_cache(maxsize=1 << 10)
def tuple_element_texts(shape: str) -> tuple[str, ...] | None:
    """Return the element texts of a tuple shape, or None for other shapes.

    The result is cached, as the tuple of a large train step has thousands of elements and as many
    ``get-tuple-element`` instructions.
    """
    found = element_texts(shape)
    return None if found is None else tuple(found)


def describe_shape(text: str) -> str:
    """Return a shape for a message: without layout, and tuples by their number of elements."""
    shape = try_shape(text)
    return f"`{text[:_MAX_SHAPE_LENGTH]}`" if shape is None else _describe(shape)


def _difference(
    one: Shape, other: Shape, types: bool, loose: bool, index: tuple[int, ...]
) -> ShapeDifference | None:
    if isinstance(one, TupleShape) and isinstance(other, TupleShape):
        if len(one.elements) == len(other.elements):
            for number, (left, right) in enumerate(zip(one.elements, other.elements, strict=True)):
                found = _difference(left, right, types, loose, (*index, number))
                if found is not None:
                    return found
            return None
    elif isinstance(one, BufferShape) and isinstance(other, BufferShape):
        return _difference(one.shape, other.shape, types, loose, index)
    elif isinstance(one, ArrayShape) and isinstance(other, ArrayShape):
        agree = not types or _same_type(one.element_type, other.element_type, loose)
        if agree and _same_dims(one, other):
            return None
    return ShapeDifference(f"{{{','.join(map(str, index))}}}", _describe(one), _describe(other))


def _same_type(one: str, other: str, loose: bool) -> bool:
    return one == other or (
        loose and one.startswith(_FLOAT_PREFIXES) and other.startswith(_FLOAT_PREFIXES)
    )


def _same_dims(one: ArrayShape, other: ArrayShape) -> bool:
    if len(one.dims) != len(other.dims):
        return False
    return all(
        left.size == right.size or left.size is None or right.size is None
        for left, right in zip(one.dims, other.dims, strict=True)
    )


def _describe(shape: Shape) -> str:
    if isinstance(shape, TupleShape):
        count = len(shape.elements)
        return f"a tuple of {count} element{'' if count == 1 else 's'}"
    return f"`{_shape_text(shape)[:_MAX_SHAPE_LENGTH]}`"


def _shape_text(shape: Shape) -> str:
    if isinstance(shape, BufferShape):
        return f"b({_shape_text(shape.shape)})"
    if isinstance(shape, TupleShape):
        return f"({', '.join(map(_shape_text, shape.elements))})"
    dims = (
        "?" if dim.size is None else f"<={dim.size}" if dim.dynamic else str(dim.size)
        for dim in shape.dims
    )
    return f"{shape.element_type}[{','.join(dims)}]"
