"""Shardings, parsed once for each distinct text.

All three versions of the notation have the same model: the number of parts of each dimension, and
the subgroups of the devices of each part (hlo_sharding.cc, named_sharding.cc).
"""

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from hlo_lsp.model.device_groups import (
    Axis,
    DeviceOrder,
    Mesh,
    ShardingError,
    parse_device_order,
    parse_integers,
    parse_mesh,
    parse_sharding_text,
)
from hlo_lsp.model.shape import ArrayShape
from hlo_lsp.syntax.grammar import subtrees
from hlo_lsp.syntax.statements import tuple_sharding_texts

if TYPE_CHECKING:
    from lark import Token, Tree


class ShardingKind(Enum):
    """The kind of a sharding or of a subgroup."""

    REPLICATED = "replicated"
    MANUAL = "manual"
    UNREDUCED = "unreduced"
    UNKNOWN = "unknown"
    MAXIMAL = "maximal"
    TILED = "tiled"


@dataclass(frozen=True, slots=True)
class DimensionPartition:
    """The partition of a dimension into ``parts`` equal parts along ``axes`` of a mesh, if any.

    ``is_open`` is the ``?`` of the text: the partitioner may split the dimension further.
    """

    parts: int
    axes: tuple[Axis, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Subgroup:
    """A subgroup of ``size`` devices that share a part; ``kind`` is never TILED."""

    kind: ShardingKind
    size: int
    axes: tuple[Axis, ...] = ()


@dataclass(frozen=True, slots=True)
class ShardGroup:
    """``shard_as 1`` (equal shardings in the group) or ``shard_like 1`` (compatible ones)."""

    number: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Sharding:
    """The sharding of an array.

    ``partitions`` has an entry for each dimension if ``kind`` is TILED. ``order`` lists the devices
    of each part consecutively, and the parts in row-major order.
    """

    kind: ShardingKind
    partitions: tuple[DimensionPartition, ...] = ()
    subgroups: tuple[Subgroup, ...] = ()
    order: DeviceOrder | None = None
    mesh: Mesh | None = None
    group: ShardGroup | None = None

    @property
    def parts(self) -> int:
        """The number of distinct parts."""
        return prod(partition.parts for partition in self.partitions)

    @property
    def devices(self) -> int | None:
        """The number of devices, None if the text does not contain it."""
        return None if self.order is None else self.order.count


@dataclass(frozen=True, slots=True)
class TupleSharding:
    """The shardings of the leaves of a tuple in depth-first order."""

    elements: tuple[Sharding, ...]


def parse_sharding(text: str) -> Sharding | TupleSharding:
    """Parse the value of ``sharding=``, braces included.

    Raises:
        ShardingError: The text is not a sharding, or the number of devices does not match.
    """
    elements = tuple_sharding_texts(text)
    if elements is None:
        return _parse_single(text)
    return TupleSharding(tuple(map(_parse_single, elements)))


def shard_shape(array: ArrayShape, sharding: Sharding) -> ArrayShape | None:
    """Return the shape of a shard, or None if the ranks of array and sharding differ.

    The size of a shard is rounded up (``HloSharding::TileShape``), as the partitioner pads the last
    shards.
    """
    if sharding.kind is not ShardingKind.TILED:
        return array
    if len(sharding.partitions) != len(array.dims):
        return None
    dims = tuple(
        replace(dim, size=None if dim.size is None else -(-dim.size // partition.parts))
        for dim, partition in zip(array.dims, sharding.partitions, strict=True)
    )
    return replace(array, dims=dims)


@lru_cache(maxsize=1 << 12)
def _parse_single(text: str) -> Sharding:
    main, *others = subtrees(parse_sharding_text("single", text, "sharding"))
    if main.data == "mesh":
        return _parse_named(parse_mesh(main), others)
    suffixes = {other.data: other.children for other in others}
    sharding = _parse_tiled(main, suffixes.get("subgroups", []))
    if "shard_group" in suffixes:
        word, number = suffixes["shard_group"]
        group = ShardGroup(int(str(number)), str(word) == "shard_as")
        return replace(sharding, group=group)
    return sharding


def _parse_tiled(main: "Tree[Token]", last: "list[Tree[Token] | Token]") -> Sharding:
    first = str(main.children[0])
    if main.data == "whole":
        return Sharding(ShardingKind(first))
    if main.data in {"maximal", "maximal_mesh"}:
        return Sharding(ShardingKind.MAXIMAL, order=DeviceOrder.of_list((int(first),)))
    kinds = [
        ShardingKind.REPLICATED if k == "last_tile_dim_replicate" else ShardingKind(str(k))
        for k in last
    ]
    order, dims = parse_device_order(next(subtrees(main))), parse_integers(main.children[0])
    if 0 in dims or prod(dims) != order.count or len(kinds) > len(dims):
        raise ShardingError(f"{order.count} devices do not fill the tiles {dims}")
    rank = len(dims) - len(kinds)
    subgroups = (Subgroup(*pair) for pair in zip(kinds, dims[rank:], strict=True))
    return Sharding(
        ShardingKind.TILED, tuple(map(DimensionPartition, dims[:rank])), tuple(subgroups), order
    )


def _parse_named(mesh: Mesh, others: "list[Tree[Token]]") -> Sharding:
    first, *named = others
    if first.data == "whole":
        return _unpartitioned(mesh, ShardingKind(str(first.children[0])))
    partitions = tuple(_parse_partition(mesh, tree) for tree in subtrees(first))
    subgroups = tuple(_parse_subgroup(mesh, tree) for tree in named)
    order, copies = mesh.by(
        [axis for partition in partitions for axis in partition.axes],
        [axis for subgroup in subgroups for axis in subgroup.axes],
    )
    if copies > 1:  # by the axes that are not mentioned
        subgroups = (Subgroup(ShardingKind.REPLICATED, copies), *subgroups)
    kinds = {subgroup.kind for subgroup in subgroups} or {ShardingKind.REPLICATED}
    if not partitions and len(kinds) == 1:  # of an array of any rank
        return _unpartitioned(mesh, kinds.pop())
    return Sharding(ShardingKind.TILED, partitions, subgroups, order, mesh)


def _unpartitioned(mesh: Mesh, kind: ShardingKind) -> Sharding:
    return Sharding(kind, order=mesh.devices if mesh.axes else None, mesh=mesh)


def _parse_partition(mesh: Mesh, tree: "Tree[Token]") -> DimensionPartition:
    axes = tuple(map(mesh.axis, subtrees(tree)))
    is_open = len(axes) < len(tree.children)
    return DimensionPartition(prod(axis.size for axis in axes), axes, is_open)


def _parse_subgroup(mesh: Mesh, tree: "Tree[Token]") -> Subgroup:
    axes = tuple(map(mesh.axis, subtrees(tree)))
    return Subgroup(ShardingKind(str(tree.children[0])), prod(axis.size for axis in axes), axes)
