"""Shapes and layouts, parsed once for each distinct text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from hlo_lsp.hlo.notation import TuplePath, index_text
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.syntax.grammar import ParseFailure, load_grammar, subtrees

if TYPE_CHECKING:
    from lark import Token, Tree

_ELEMENT_COUNT_LIMIT = 1 << 63
_UNBOUNDED = re.compile(r"\[[^\[\]]*\?")
_TUPLE_TOKENS = re.compile(r"[(\[{]|[)\]}]|,(?=\s)|(?<=[)\]}\s/]),")  # no comma inside of a layout
_BRACKETS = re.compile(r"[()\[\]{}]")
_MAX_NESTING_DEPTH = 100  # real shapes have a depth of 5
_MAX_RANK = 100  # dimensions of an array or of a tile; real ones have 8
_MAX_LAYOUT_PARTS = 16  # tiles or splits of a layout; real ones have 3 and 1
_INDEX_COMMENT = re.compile(r"^/\*index=\d+\*/ ?")
_COMMENT = re.compile(r"/\*[\s\S]*?(?:\*/|\Z)")
_LAYOUT = re.compile(r"\{[^{}]*\}")
_TILE = re.compile(r"\(([^()]*)\)")
_MEMORY_SPACE = re.compile(r"(?:(?<=\{)|:)?S\(\d+\)")


class ShapeError(ValueError):
    """A text that is not a shape."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension in elements; ``size`` is the bound of a dynamic one, None if unbounded."""

    size: int | None
    dynamic: bool = False


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile in elements, major to minor; None is ``*`` (combined with the next minor one)."""

    dims: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"({','.join('*' if dim is None else str(dim) for dim in self.dims)})"


@dataclass(frozen=True, slots=True)
class Split:
    """A split of a physical (major to minor) dimension at some elements, one piece per core."""

    dimension: int
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The memory layout of an array; ``minor_to_major`` lists the fastest dimension first."""

    minor_to_major: tuple[int, ...] = ()
    tiles: tuple[Tile, ...] = ()
    tail_padding: int = 1  # elements
    element_bits: int = 0
    memory_space: int = 0
    splits: tuple[Split, ...] = ()
    metadata_bytes: int = 0
    # Properties without a known size rule, as printed.
    others: tuple[str, ...] = ()

    @property
    def tile_text(self) -> str:
        """The tiles as printed, such as ``T(8,128)(2,1)``."""
        return f"T{''.join(map(str, self.tiles))}" if self.tiles else ""


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """An array, a token or an opaque."""

    element_type: str
    dims: tuple[Dimension, ...]
    layout: Layout | None

    @property
    def bits(self) -> int | None:
        """The bits of an element in memory, None for an unknown type.

        Types smaller than a byte take a byte unless the layout has ``E(n)``.
        """
        if self.layout is not None and self.layout.element_bits:
            return self.layout.element_bits
        known = vocabulary().element_types.get(self.element_type)
        return None if known is None else known.bits and max(8, known.bits)

    @property
    def elements(self) -> int | None:
        """The number of elements, None if it is unbounded or does not fit in 64 bits."""
        product = 1
        for dim in self.dims:
            if dim.size is None:
                return None
            product *= dim.size
        return product if product < _ELEMENT_COUNT_LIMIT else None

    @property
    def dynamic(self) -> bool:
        """True if a dimension is dynamic."""
        return any(dim.dynamic for dim in self.dims)

    @property
    def memory_space(self) -> int:
        """The number in ``S(n)``, 0 if it is not printed."""
        return 0 if self.layout is None else self.layout.memory_space


@dataclass(frozen=True, slots=True)
class TupleShape:
    """A tuple, in memory a table of pointers to its elements."""

    elements: tuple["Shape", ...]


@dataclass(frozen=True, slots=True)
class BufferShape:
    """``b(f32[8])``: a reference to a buffer."""

    shape: "Shape"


Shape: TypeAlias = ArrayShape | TupleShape | BufferShape


@lru_cache(maxsize=1 << 13)
def parse_shape(text: str) -> Shape:
    """Parse a shape.

    Raises:
        ShapeError: The text is not a shape; the message contains the column and what was expected.
    """
    elements = element_texts(text)
    if elements is not None:
        return TupleShape(tuple(map(parse_shape, elements)))
    if is_too_deep(text):
        raise ShapeError("the tuple is nested too deeply")
    found = _plain_array(text) or load_grammar("shape").parse("shape", text)
    if isinstance(found, ParseFailure):
        place = f"column {found.column + 1} of the shape `{text[:80]}`"
        raise ShapeError(f"{found} at {place}")
    return found if isinstance(found, ArrayShape) else _parse_tree(found)


def is_too_deep(text: str) -> bool:
    """Return whether brackets nest deeper than in shapes, which takes long to parse."""
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth += 1 if bracket[0] in "([{" else -1
        if depth > _MAX_NESTING_DEPTH:
            return True
    return False


def try_shape(text: str) -> Shape | None:
    """Parse a shape, or return None."""
    try:
        return parse_shape(text)
    except ShapeError:
        return None


def is_unbounded(text: str) -> bool:
    """Return whether a dimension of a shape has no size that is known: ``f32[?,8]``."""
    return _UNBOUNDED.search(text) is not None


@lru_cache(maxsize=1 << 10)
def element_texts(text: str) -> tuple[str, ...] | None:
    """Return the element texts of a tuple shape, or None if it is not a well-formed tuple.

    Lark would take seconds for the tuples of a large train step, which have few distinct elements.
    Such a tuple has as many ``get-tuple-element`` instructions, so the result is cached.
    """
    if not text.startswith("("):
        return None
    depth = 0
    start = 1
    parts: list[str] = []
    for match in _TUPLE_TOKENS.finditer(text):
        sign = match[0]
        if sign == ",":
            if depth == 1:
                parts.append(text[start : match.start()].strip())
                start = match.end()
        elif sign in "([{":
            depth += 1
            if depth > _MAX_NESTING_DEPTH:
                return None
        else:
            depth -= 1
            if depth == 0 and match.end() != len(text):
                return None
    if depth != 0:
        return None
    if start < len(text) - 1 or parts:
        parts.append(text[start:-1].strip())
    return tuple(_INDEX_COMMENT.sub("", part, count=1) for part in parts)


def subshape_text(shape: str, index: str | None) -> str | None:
    """Return the text of the subshape at an index, or None if there is none."""
    text = shape
    digits = (index or "{}")[1:-1]
    for number in map(int, digits.split(",") if digits else ()):
        elements = element_texts(text)
        if elements is None or number >= len(elements):
            return None
        text = elements[number]
    return text


@lru_cache(maxsize=1 << 12)
def shape_indexes(shape: str) -> tuple[str | None, ...]:
    """Return the shape indexes of a tuple in pre-order, or None alone for an array.

    XLA prints positions in this order: ``{}``, ``{0}``, ``{1}``, ``{1,0}`` for a nested tuple.
    """
    if not shape.startswith("("):
        return (None,)
    return tuple(index_text(path) for path in _index_paths(shape))


def _index_paths(shape: str) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for number, element in enumerate(element_texts(shape) or ()):
        found += [(number, *path) for path in _index_paths(element)]
    return found


def arrays_of(shape: Shape | None) -> Iterator[ArrayShape]:
    """Yield the arrays of a shape; none if it is None."""
    match shape:
        case ArrayShape():
            yield shape
        case BufferShape():
            yield from arrays_of(shape.shape)
        case TupleShape():
            for element in shape.elements:
                yield from arrays_of(element)


def _plain_array(text: str) -> ArrayShape | None:
    """Return an array of the form that XLA prints for nearly all, or None for another shape.

    Lark reads it too, but takes 0.1 ms, and 20 ms for the first one.
    """
    match = load_grammar("shape").expression("plain_array").fullmatch(text)
    if match is None:
        return None
    dims = tuple(map(Dimension, _integers(match["DIMENSIONS"])))
    if match["ORDER"] is None:
        return ArrayShape(match["TYPE"], dims, None)
    tiles = (Tile(_integers(tile)) for tile in _TILE.findall(match["TILES"] or ""))
    bits, space = int(match["BITS"] or 0), int(match["SPACE"] or 0)
    layout = Layout(_integers(match["ORDER"]), tuple(tiles), element_bits=bits, memory_space=space)
    return ArrayShape(match["TYPE"], dims, layout)


def _integers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


def _parse_tree(tree: "Tree[Token]") -> Shape:
    if tree.data == "tuple":
        return TupleShape(tuple(_parse_tree(child) for child in subtrees(tree)))
    if tree.data == "buffer":
        return BufferShape(_parse_tree(next(subtrees(tree))))
    dimensions, *layouts = subtrees(tree)
    dims = tuple(
        Dimension(
            None if child.data == "unbounded" else _parse_int(child),
            dynamic=child.data in {"unbounded", "bounded"},
        )
        for child in subtrees(dimensions)
    )
    layout = _parse_layout(layouts[0]) if layouts else None
    _refuse_above(_MAX_RANK, "dimensions", len(dims))
    return ArrayShape(str(tree.children[0]), dims, layout)


def _refuse_above(limit: int, what: str, count: int) -> None:
    """Raise an error for a shape whose size would take too long to compute."""
    if count > limit:
        raise ShapeError(f"the shape has {count:,} {what}: at most {limit} are supported")


def _parse_layout(tree: "Tree[Token]") -> Layout:
    order, *letters = subtrees(tree)
    found: dict[str, list[Tree[Token]]] = {}
    others: list[str] = []
    for letter in letters:
        if letter.data in _SIZE_PROPERTIES:
            found.setdefault(letter.data, []).append(letter)
        elif letter.data not in _PROPERTIES_WITHOUT_SIZE:
            others.append(str(letter.children[0]) if letter.data == "other_letter" else "P(...)")
    tiles = tuple(_parse_tile(tile) for some in found.get("tiles", ()) for tile in subtrees(some))
    splits = tuple(
        _parse_split(split) for some in found.get("splits", ()) for split in subtrees(some)
    )
    _refuse_above(_MAX_LAYOUT_PARTS, "tiles", len(tiles))
    _refuse_above(_MAX_RANK, "dimensions of a tile", max((len(t.dims) for t in tiles), default=0))
    _refuse_above(_MAX_LAYOUT_PARTS, "pieces", prod(len(split.at) + 1 for split in splits))
    return Layout(
        minor_to_major=tuple(map(int, order.children)),  # type: ignore[arg-type]  # tokens only
        tiles=tiles,
        tail_padding=_integer_property(found, "tail_padding", 1),
        element_bits=_integer_property(found, "element_bits", 0),
        memory_space=_integer_property(found, "memory_space", 0),
        splits=splits,
        metadata_bytes=_integer_property(found, "metadata_bytes", 0),
        others=tuple(others),
    )


_SIZE_PROPERTIES = {
    *("tiles", "tail_padding", "element_bits", "memory_space", "splits", "metadata_bytes"),
}
_PROPERTIES_WITHOUT_SIZE = {"levels", "index_type", "pointer_type"}  # of sparse arrays


def _parse_tile(tree: "Tree[Token]") -> Tile:
    return Tile(
        tuple(None if dim.data == "combined" else _parse_int(dim) for dim in subtrees(tree))
    )


def _parse_split(tree: "Tree[Token]") -> Split:
    dimension, *at = (int(str(token)) for token in tree.children)
    return Split(dimension, tuple(at))


def _integer_property(found: "dict[str, list[Tree[Token]]]", name: str, default: int) -> int:
    return _parse_int(found[name][0]) if name in found else default


def _parse_int(tree: "Tree[Token]") -> int:
    return int(str(tree.children[0]))


@lru_cache(maxsize=4096)
def without_layout(shape: str) -> str:
    """Return a shape without layouts, comments and white space, for comparison."""
    text, count = _COMMENT.sub("", shape), 1
    while count:
        text, count = _LAYOUT.subn("", text)  # a layout may contain a shape with a layout
    return "".join(text.split())


def without_memory_space(shape: str) -> str:
    """Return a shape without the ``S(n)`` of its layouts, for comparison."""
    return _MEMORY_SPACE.sub("", shape)


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


def is_compatible(first: str, second: str, *, types: bool = True) -> bool:
    """Return True if types and dimensions are equal (``ShapeUtil::Compatible``)."""
    return first == second or shape_difference(first, second, types=types) is None


@lru_cache(maxsize=1 << 14)
def shape_difference(
    first: str, second: str, *, types: bool = True, loose: bool = False
) -> ShapeDifference | None:
    """Return the first difference of two shapes, or None if equal or not parsable."""
    one, other = try_shape(first), try_shape(second)
    if one is None or other is None:
        return None
    return _difference(one, other, types, loose, ())


def brief_shape(text: str) -> str:
    """Return a shape for a message: without layout, and tuples by their number of elements."""
    shape = try_shape(text)
    return f"`{text[:_MAX_SHAPE_LENGTH]}`" if shape is None else _describe(shape)


def _difference(
    one: Shape, other: Shape, types: bool, loose: bool, index: TuplePath
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
        kinds = one.element_type, other.element_type
        are_loose = loose and all(kind.startswith(_FLOAT_PREFIXES) for kind in kinds)
        agree = not types or are_loose or kinds[0] == kinds[1]
        if agree and _same_dims(one, other):
            return None
    return ShapeDifference(index_text(index), _describe(one), _describe(other))


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
    return f"`{shape_text(shape)[:_MAX_SHAPE_LENGTH]}`"


def shape_text(shape: Shape) -> str:
    """Return a shape without layouts, as XLA prints it."""
    if isinstance(shape, BufferShape):
        return f"b({shape_text(shape.shape)})"
    if isinstance(shape, TupleShape):
        return f"({', '.join(map(shape_text, shape.elements))})"
    dims = (
        "?" if dim.size is None else f"<={dim.size}" if dim.dynamic else str(dim.size)
        for dim in shape.dims
    )
    return f"{shape.element_type}[{','.join(dims)}]"
