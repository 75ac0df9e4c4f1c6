"""Whether two shapes are of the same type and dimensions.

Layouts, tiles and memory spaces are left out: they differ between instructions before layouts are
assigned and inside of fusions. So is the difference between a bound and a size, as some passes
drop it.
"""

from dataclasses import dataclass
from functools import lru_cache

from hlo_lsp.model.shape import ArrayShape, BufferShape, Shape, TupleShape, element_texts, try_shape

_FLOAT_PREFIXES = ("f", "bf")
_MAX_SHAPE_LENGTH = 60  # characters of a shape in a sentence


@dataclass(frozen=True, slots=True)
class ShapeDifference:
    """The first parts of two shapes that differ, as a sentence names them."""

    index: str
    first: str
    second: str

    @property
    def where(self) -> str:
        """`` at index {1,0}``, or nothing if all of the shapes is meant."""
        return f" at index {self.index}" if self.index != "{}" else ""


def is_compatible(first: str, second: str) -> bool:
    """Whether type and dimensions are the same, in tuples element by element."""
    return first == second or shape_difference(first, second) is None


def is_compatible_ignoring_precision(first: str, second: str) -> bool:
    """The same, but floating point types count as one: libtpu mixes precisions in fusions."""
    return first == second or shape_difference(first, second, loose=True) is None


def is_compatible_ignoring_type(first: str, second: str) -> bool:
    """Whether the dimensions are the same, whatever the element types."""
    return first == second or shape_difference(first, second, types=False) is None


@lru_cache(maxsize=1 << 14)
def shape_difference(
    first: str, second: str, *, types: bool = True, loose: bool = False
) -> ShapeDifference | None:
    """Where two shapes differ first, or None; also None if one of them cannot be read."""
    one, other = try_shape(first), try_shape(second)
    if one is None or other is None:
        return None
    return _difference(one, other, types, loose, ())


@lru_cache(maxsize=1 << 10)
def tuple_element_texts(shape: str) -> tuple[str, ...] | None:
    """The texts of the elements of a tuple shape, or None if it is none.

    Remembered, as the tuple of a large train step has thousands of elements and as many that take
    one out of it.
    """
    found = element_texts(shape)
    return None if found is None else tuple(found)


def describe_shape(text: str) -> str:
    """A shape as a sentence names it: without layout, a tuple by the number of its elements."""
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
