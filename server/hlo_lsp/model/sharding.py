"""How a value is spread over devices, parsed once for each distinct text.

All three generations of the text become the same thing: how many parts each dimension is cut into,
and what the devices that are left do. Source: hlo_sharding.cc, named_sharding.cc.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import prod

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from hlo_lsp.model.device_mesh import (
    Axis,
    DeviceOrder,
    Listed,
    Mesh,
    ShardingError,
    mesh_of,
    numbers,
    order_of,
)
from hlo_lsp.model.shape import Array, Dimension
from hlo_lsp.syntax.grammar import load

_PIECES = re.compile(r"""/\*.*?\*/|"(?:[^"\\]|\\.)*"|'[^']*'|[\[({]|[\])}]|,""")
_BLANK = re.compile(r"(?:\s|/\*.*?\*/)*")
_TUPLE = re.compile(rf"\{{{_BLANK.pattern}[{{}}]")


class Kind(Enum):
    """What a sharding says of a value, or a subgroup of it says of each part."""

    REPLICATED = "replicated"
    MANUAL = "manual"
    UNREDUCED = "unreduced"
    UNKNOWN = "unknown"
    MAXIMAL = "maximal"
    TILED = "tiled"


@dataclass(frozen=True, slots=True)
class Cut:
    """A dimension cut into equal parts, by which axes of the mesh if it has one.

    ``is_open`` is the ``?`` of the text: the partitioner may cut it further.
    """

    parts: int
    axes: tuple[Axis, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Subgroup:
    """What ``size`` devices that share a part do with it. ``kind`` is never TILED."""

    kind: Kind
    size: int
    axes: tuple[Axis, ...] = ()


@dataclass(frozen=True, slots=True)
class ShardGroup:
    """``shard_as 1`` (all of the group alike) or ``shard_like 1`` (compatible)."""

    number: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Sharding:
    """The sharding of an array. ``cuts`` has an entry for each dimension if ``kind`` is TILED.

    ``order`` goes through the parts row by row and then through the devices of each.
    """

    kind: Kind
    cuts: tuple[Cut, ...] = ()
    subgroups: tuple[Subgroup, ...] = ()
    order: DeviceOrder | None = None
    mesh: Mesh | None = None
    group: ShardGroup | None = None

    @property
    def parts(self) -> int:
        """The number of different parts in one manual group."""
        return prod(cut.parts for cut in self.cuts)

    @property
    def devices(self) -> int | None:
        """The number of devices, None where the text does not say."""
        return None if self.order is None else self.order.count


@dataclass(frozen=True, slots=True)
class TupleSharding:
    """The shardings of the leaves of a tuple, depth first."""

    elements: tuple[Sharding, ...]


def parse_sharding(text: str) -> Sharding | TupleSharding:
    """The sharding that the value of ``sharding=`` describes, braces included.

    Raises:
        ShardingError: it describes none, or more or fewer devices than it has places for.
    """
    elements = sharding_texts(text)
    if elements is None:
        return _parse_single(text)
    return TupleSharding(tuple(map(_parse_single, elements)))


def sharding_texts(text: str) -> list[str] | None:
    """The texts of the leaves of a tuple sharding, or None if it is none.

    Tuples of a train step have thousands of leaves with few different texts.
    """
    if _TUPLE.match(text) is None:
        return None
    parts: list[str] = []
    depth, start = 0, 1
    for match in _PIECES.finditer(text):
        sign = match[0]
        depth += (sign in "[({") - (sign in "])}")
        if depth == 0 or (depth == 1 and sign == ","):
            parts.append(_BLANK.sub("", text[start : match.start()], count=1).rstrip())
            start = match.end()
        if depth == 0:
            break
    if depth or text[start:].strip():
        return None
    return [] if parts == [""] else parts


def shard_of(array: Array, sharding: Sharding) -> Array | None:
    """What one device holds of a whole array, or None if the sharding is not of such an array.

    A dimension that does not divide is rounded up (``HloSharding::TileShape``): the partitioner
    pads the last parts to the size of the others.
    """
    return _resized(array, sharding, lambda size, parts: -(-size // parts))


def whole_of(shard: Array, sharding: Sharding) -> Array | None:
    """The whole array of which one device holds ``shard``, at most: its last parts may be padded.

    None if the sharding is not of such an array.
    """
    return _resized(shard, sharding, lambda size, parts: size * parts)


def _resized(array: Array, sharding: Sharding, new: Callable[[int, int], int]) -> Array | None:
    if sharding.kind is not Kind.TILED:
        return array
    if len(sharding.cuts) != len(array.dims):
        return None
    dims = tuple(
        Dimension(None if dim.size is None else new(dim.size, cut.parts), dim.dynamic)
        for dim, cut in zip(array.dims, sharding.cuts, strict=True)
    )
    return replace(array, dims=dims)


@lru_cache(maxsize=1 << 12)
def _parse_single(text: str) -> Sharding:
    try:
        tree = load("sharding").parse("single", text)
    except UnexpectedInput:
        refusal = load("sharding").refusal("single", text)
        raise ShardingError(f"{refusal} in the sharding `{text[:80]}`") from None
    main, *others = _trees(tree)
    if main.data == "mesh":
        return _named(mesh_of(main), others)
    suffixes = {other.data: other.children for other in others}
    sharding = _unnamed(main, suffixes.get("subgroups", []))
    if "shard_group" in suffixes:
        word, number = suffixes["shard_group"]
        group = ShardGroup(int(str(number)), str(word) == "shard_as")
        return replace(sharding, group=group)
    return sharding


def _unnamed(main: "Tree[Token]", last: "list[Tree[Token] | Token]") -> Sharding:
    first = str(main.children[0])
    if main.data == "whole":
        return Sharding(Kind(first))
    if main.data in {"maximal", "maximal_mesh"}:
        return Sharding(Kind.MAXIMAL, order=Listed((int(first),)))
    kinds = [Kind.REPLICATED if k == "last_tile_dim_replicate" else Kind(str(k)) for k in last]
    order, dims = order_of(next(_trees(main))), numbers(main.children[0])
    if 0 in dims or prod(dims) != order.count or len(kinds) > len(dims):
        raise ShardingError(f"{order.count} devices do not fill the tiles {dims}")
    rank = len(dims) - len(kinds)
    subgroups = (Subgroup(*pair) for pair in zip(kinds, dims[rank:], strict=True))
    return Sharding(Kind.TILED, tuple(map(Cut, dims[:rank])), tuple(subgroups), order)


def _named(mesh: Mesh, others: "list[Tree[Token]]") -> Sharding:
    first, *named = others
    if first.data == "whole":
        return _whole(mesh, Kind(str(first.children[0])))
    cuts = tuple(_cut(mesh, tree) for tree in _trees(first))
    subgroups = tuple(_subgroup(mesh, tree) for tree in named)
    order, copies = mesh.by(
        [axis for cut in cuts for axis in cut.axes],
        [axis for subgroup in subgroups for axis in subgroup.axes],
    )
    if copies > 1:  # by the axes that are not mentioned
        subgroups = (Subgroup(Kind.REPLICATED, copies), *subgroups)
    kinds = {subgroup.kind for subgroup in subgroups} or {Kind.REPLICATED}
    if not cuts and len(kinds) == 1:  # of an array of any rank
        return _whole(mesh, kinds.pop())
    return Sharding(Kind.TILED, cuts, subgroups, order, mesh)


def _whole(mesh: Mesh, kind: Kind) -> Sharding:
    return Sharding(kind, order=mesh.devices if mesh.axes else None, mesh=mesh)


def _cut(mesh: Mesh, tree: "Tree[Token]") -> Cut:
    axes = tuple(mesh.axis(axis) for axis in _trees(tree))
    is_open = len(axes) < len(tree.children)
    return Cut(prod(axis.size for axis in axes), axes, is_open)


def _subgroup(mesh: Mesh, tree: "Tree[Token]") -> Subgroup:
    axes = tuple(mesh.axis(axis) for axis in _trees(tree))
    return Subgroup(Kind(str(tree.children[0])), prod(axis.size for axis in axes), axes)


def _trees(tree: "Tree[Token]") -> "Iterator[Tree[Token]]":
    return (child for child in tree.children if isinstance(child, Tree))
