"""Logical and padded sizes of shapes in bytes.

The logical size follows ``ShapeUtil::ByteSizeOf``, the padded size the semantics of tiles
(layout.h). Tests compare it with the printed ``size=`` of every value in the corpus.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import prod

from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import (
    ArrayShape,
    Layout,
    Shape,
    Tile,
    TupleShape,
    arrays_of,
    element_texts,
    try_shape,
)

_ELEMENT_COUNT_LIMIT = 1 << 63
_TPU_TUPLE_GRANULES = (32, 512, 1024)  # bytes, by chip generation
_UNTILED_GRANULE_ELEMENTS = 1024  # untiled vectors on TPU are rounded up to a multiple of this
_UNTILED_MATRIX_TILE = Tile((8, 128))  # untiled arrays of two or more dimensions on TPU
_DYNAMIC_SIZES_BYTES = 1024  # a prefix of dynamic arrays on TPU, M(1024) in layouts


@dataclass(frozen=True, slots=True)
class Padding:
    """A cause of padding.

    ``what`` grows from ``before`` to ``after``. It is ``dim 1`` (a logical dimension), ``added
    dim`` (if a tile has more dimensions than the array), ``elements`` or ``bytes``.
    """

    what: str
    before: int
    after: int
    cause: str

    def __str__(self) -> str:
        return f"{self.what}: {self.before:,} -> {self.after:,} by {self.cause}"


@dataclass(frozen=True, slots=True)
class PaddedSize:
    """A size in memory in bytes; ``exact`` rules hold for all real dumps.

    ``allowed`` lists further correct sizes if the size depends on the unknown chip generation.
    """

    bytes: int
    exact: bool
    rule: str
    padding: tuple[Padding, ...] = ()
    allowed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Target:
    """The backend and the granule of tuple tables in bytes, which affect sizes.

    The granule is None if no tuple of the dump determines it.
    """

    backend: Backend
    granule: int | None = None


@dataclass(frozen=True, slots=True)
class ShapeSizes:
    """The sizes of a shape, which all features show.

    Attributes:
        logical: Bytes without padding; None for an unknown element type or an unbounded dimension.
        padded: The size in memory by the rules of the target; None if no rule is known.
        printed: Bytes of the value as XLA printed them; None without a buffer assignment.
    """

    logical: int | None
    padded: PaddedSize | None
    printed: int | None = None

    @property
    def bytes(self) -> int | None:
        """The size in memory: as printed, else by the rules."""
        if self.printed is not None or self.padded is None:
            return self.printed
        return self.padded.bytes

    @property
    def padding(self) -> int | None:
        """The bytes in memory that hold no elements; None if a size is unknown."""
        if self.bytes is None or self.logical is None:
            return None
        return max(0, self.bytes - self.logical)


def sizes_of_text(
    text: str, target: Target, color: int | None = None, printed: int | None = None
) -> ShapeSizes:
    """Return the sizes of a shape text.

    Args:
        text: The shape; one that is not valid has no sizes.
        target: The backend.
        color: The memory space of the value, None if it is unknown.
        printed: Bytes of the value as XLA printed them.
    """
    return ShapeSizes(
        logical_bytes_of_text(text), padded_size_of_text(text, target, color or 0), printed
    )


@lru_cache(maxsize=1 << 13)
def logical_bytes_of_text(text: str) -> int | None:
    """Return the cached :func:`logical_bytes` of a shape text; None if it is not valid."""
    shape = try_shape(text)
    return None if shape is None else logical_bytes(shape)


def logical_bytes(shape: Shape) -> int | None:
    """Return the size in bytes without padding, as in live ranges.

    The size of a tuple is that of its table of 8-byte pointers. None means an unknown element type
    or an unbounded dimension.
    """
    if isinstance(shape, TupleShape):
        return 8 * len(shape.elements)
    if not isinstance(shape, ArrayShape):
        return None
    elements, bits = shape.elements, shape.bits
    return None if elements is None or bits is None else -(-elements * bits // 8)


def array_bytes(text: str) -> int | None:
    """Return the size of an array without padding; None for a tuple, and for an unknown size."""
    shape = try_shape(text)
    return logical_bytes(shape) if isinstance(shape, ArrayShape) else None


def total_array_bytes(shape: Shape | None) -> int:
    """Return the sum of the sizes of all arrays of a shape without padding."""
    return sum(logical_bytes(array) or 0 for array in arrays_of(shape))


@lru_cache(maxsize=1 << 13)
def padded_size_of_text(text: str, target: Target, color: int = 0) -> PaddedSize | None:
    """Return the cached :func:`padded_size` of a shape text."""
    shape = try_shape(text)
    return None if shape is None else padded_size(shape, target, color)


def padded_size(shape: Shape, target: Target, color: int = 0) -> PaddedSize | None:
    """Return the size in memory on a target, or None if no rule is known.

    ``color`` is the memory space of the value, which the layout of a tuple does not contain.
    """
    if isinstance(shape, TupleShape):
        return _tuple_size(len(shape.elements), target, color)
    if not isinstance(shape, ArrayShape):
        return None
    raw, elements = logical_bytes(shape), shape.elements
    if raw is None or elements is None:
        return None
    layout = shape.layout or Layout()
    if shape.element_type == "token":
        return PaddedSize(0, exact=True, rule="a token takes no memory")
    if shape.element_type == "opaque" or layout.others:
        return PaddedSize(raw, exact=False, rule="no exact rule is known for this layout")
    if target.backend is Backend.TPU or layout.tiles:
        return _tpu_size(shape, layout, elements)
    if target.backend is Backend.UNKNOWN:
        return PaddedSize(raw, exact=False, rule="untiled, and the backend is not known")
    if shape.dynamic:
        rank = len(shape.dims)
        return PaddedSize(
            raw + 4 * rank,
            exact=True,
            rule=f"{target.backend.value} adds 4 B for each of {rank} dimensions, some dynamic",
        )
    return PaddedSize(raw, exact=True, rule=f"{target.backend.value} does not pad")


def tuple_granule(sizes: "dict[tuple[int, int], int]") -> int | None:
    """Return the granule in bytes that matches most tuple tables of a TPU dump.

    ``sizes`` counts the tuple values by number of elements and size in bytes.
    """
    votes = {
        granule: sum(
            count
            for (arity, size), count in sizes.items()
            if arity and size == -(-4 * arity // granule) * granule
        )
        for granule in _TPU_TUPLE_GRANULES
    }
    best = max(votes, key=lambda granule: votes[granule])
    return best if votes[best] else None


def _tuple_size(arity: int, target: Target, color: int) -> PaddedSize:
    if color == 7 and target.backend is Backend.TPU:
        return PaddedSize(0, exact=True, rule="SparseCore keeps no tuple tables")
    if target.backend in {Backend.CPU, Backend.GPU}:
        return PaddedSize(8 * arity, exact=True, rule="a table of 8-byte pointers")
    allowed = frozenset(-(-4 * arity // granule) * granule for granule in _TPU_TUPLE_GRANULES)
    if target.backend is Backend.UNKNOWN:
        return PaddedSize(8 * arity, False, "a table of pointers", (), allowed)
    if target.granule is None:
        return PaddedSize(min(allowed), False, "a table of 4-byte pointers", (), allowed)
    size = -(-4 * arity // target.granule) * target.granule
    rule = f"a table of 4-byte pointers, rounded up to {target.granule} B on this chip"
    return PaddedSize(size, exact=True, rule=rule)


def _tpu_size(shape: ArrayShape, layout: Layout, elements: int) -> PaddedSize:
    bits = shape.bits or 0
    if layout.memory_space == 2:
        return PaddedSize(4 * elements, exact=True, rule="a 4-byte semaphore for every element")
    if layout.tiles:
        return _tiled_size(shape, layout, bits)
    if layout.memory_space in {8, 10}:
        return PaddedSize(4 * elements, exact=True, rule="4 B for every element")
    exact = layout.memory_space in {0, 4, 6} and not layout.splits
    if len(shape.dims) > 1:
        order = layout.minor_to_major or tuple(reversed(range(len(shape.dims))))
        tiles = (_UNTILED_MATRIX_TILE,)
        tiled = _tiled_size(shape, replace(layout, minor_to_major=order, tiles=tiles), bits)
        rule = f"no tiles in the layout; {tiled.rule}"
        return replace(tiled, exact=exact and tiled.exact, rule=rule)
    rounded = -(-elements // _UNTILED_GRANULE_ELEMENTS) * _UNTILED_GRANULE_ELEMENTS
    cause = f"rounding to {_UNTILED_GRANULE_ELEMENTS:,}"
    return PaddedSize(
        -(-rounded * bits // 8) + _dynamic_sizes_bytes(shape, layout),
        exact=exact,
        rule=f"untiled, rounded up to a multiple of {_UNTILED_GRANULE_ELEMENTS:,} elements",
        padding=(Padding("elements", elements, rounded, cause),) if rounded != elements else (),
    )


def _tiled_size(shape: ArrayShape, layout: Layout, bits: int) -> PaddedSize:
    order = layout.minor_to_major[::-1]
    if sorted(order) != list(range(len(shape.dims))):
        return PaddedSize(
            logical_bytes(shape) or 0, exact=False, rule="the layout does not fit the dimensions"
        )
    sizes = [shape.dims[dim].size or 0 for dim in order]
    pieces = _split_pieces(sizes, layout)
    padded = max((_tiled_elements(piece, layout) for piece in pieces), default=0)
    if padded >= _ELEMENT_COUNT_LIMIT:
        return PaddedSize(
            logical_bytes(shape) or 0, exact=False, rule="the padded size does not fit in 64 bits"
        )
    rule = f"padded to {layout.tile_text}"
    if layout.splits:
        rule = f"the largest of {len(pieces)} pieces, each {rule}"
    combined = any(None in tile.dims for tile in layout.tiles)
    return PaddedSize(
        -(-padded * bits // 8) + _dynamic_sizes_bytes(shape, layout),
        exact=not combined and not _later_tiles_pad(pieces, layout),
        rule=rule,
        padding=() if combined else tuple(_paddings(order, sizes, shape, layout, padded)),
    )


def _dynamic_sizes_bytes(shape: ArrayShape, layout: Layout) -> int:
    """Return the bytes for run-time sizes, which layouts of parameters do not mention."""
    return layout.metadata_bytes or (_DYNAMIC_SIZES_BYTES if shape.dynamic else 0)


def _split_pieces(sizes: list[int], layout: Layout) -> list[list[int]]:
    """Return the physical dimensions of the pieces after all splits."""
    pieces = [sizes]
    for split in layout.splits:
        if split.dimension >= len(sizes):
            continue
        cuts = [0, *split.at, sizes[split.dimension]]
        widths = [max(0, end - start) for start, end in pairwise(cuts)]
        pieces = [
            [*piece[: split.dimension], width, *piece[split.dimension + 1 :]]
            for piece in pieces
            for width in widths
        ]
    return pieces


def _later_tiles_pad(pieces: list[list[int]], layout: Layout) -> bool:
    """Return True if a tile after the first one adds padding.

    Up to jax 0.9, `s2[3]{0:T(1024)(128)(16,1)E(2)}` takes 256 B, so XLA ignores (16,1).
    """
    first = replace(layout, tiles=layout.tiles[:1])
    return len(layout.tiles) > 1 and any(
        _tiled_elements(piece, layout) != _tiled_elements(piece, first) for piece in pieces
    )


def _tiled_elements(sizes: list[int], layout: Layout) -> int:
    """Return the padded number of elements for physical dimensions, major to minor."""
    dims = list(sizes)
    for tile in layout.tiles:
        tile_dims = list(tile.dims)
        while None in tile_dims:  # combine this dimension with the next minor one
            place = tile_dims.index(None)
            from_end = len(tile_dims) - place
            if len(dims) > from_end - 1 > 0:
                at = len(dims) - from_end
                dims[at : at + 2] = [prod(dims[at : at + 2])]
            del tile_dims[place]
        known = [dim for dim in tile_dims if dim is not None]
        dims = [1] * (len(known) - len(dims)) + dims
        split = len(dims) - len(known)
        counts = [
            -(-dim // size) if size else 0 for dim, size in zip(dims[split:], known, strict=True)
        ]
        dims = dims[:split] + counts + known
    tail = max(1, layout.tail_padding)
    return -(-prod(dims) // tail) * tail


def _paddings(
    order: tuple[int, ...], sizes: list[int], shape: ArrayShape, layout: Layout, padded: int
) -> "list[Padding]":
    """Return the padding by the first tile for each dimension, and by the rest of the layout."""
    first = layout.tiles[0].dims
    if not first:
        return []
    found: list[Padding] = []
    names = ["added dim"] * (len(first) - len(order)) + [f"dim {dim}" for dim in order]
    before = [1] * (len(first) - len(sizes)) + sizes
    product = prod(before[: len(before) - len(first)])
    for name, size, tile in zip(names[-len(first) :], before[-len(first) :], first, strict=True):
        grown = -(-size // tile) * tile if tile else size
        product *= grown
        if grown != size:
            found.append(Padding(name, size, grown, f"T{layout.tiles[0]}"))
    if product != padded and not layout.splits:
        rest = "".join(map(str, layout.tiles[1:]))
        tail = f"L({layout.tail_padding})" if layout.tail_padding > 1 else ""
        found.append(Padding("elements", product, padded, " and ".join(filter(None, (rest, tail)))))
    prefix = _dynamic_sizes_bytes(shape, layout)
    if prefix:
        data = -(-padded * (shape.bits or 0) // 8)
        cause = f"M({prefix}), run-time sizes" if layout.metadata_bytes else "run-time sizes"
        found.append(Padding("bytes", data, data + prefix, cause))
    return found


@query
def target_of(dump: Compile) -> Target:
    """Return backend and tuple granule."""
    backend = dump.backend
    if backend is not Backend.TPU:
        return Target(backend)
    sizes: Counter[tuple[int, int]] = Counter()
    for file in dump.files:
        for (text, size), count in file.memory.tuple_sizes.items():
            elements = element_texts(text)
            if elements is not None:
                sizes[len(elements), size] += count
    return Target(backend, tuple_granule(sizes))
