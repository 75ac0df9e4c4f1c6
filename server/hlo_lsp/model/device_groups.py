"""Device orders and meshes: the list, iota and mesh forms of HLO text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import islice, pairwise
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from hlo_lsp.syntax.grammar import ParseFailure, load_grammar, subtrees

if TYPE_CHECKING:
    from lark import Token, Tree

_DEVICE_COUNT_LIMIT = 1 << 63


class ShardingError(ValueError):
    """A text that does not describe a sharding or device groups."""


@dataclass(frozen=True, slots=True)
class DeviceOrder:
    """``<=[2,4]T(1,0)``: 0, 1, 2 ... in the shape ``dims``, transposed, in row-major order.

    The numbers are devices, or positions in the ``base``: another order, or a list of devices.
    Devices are computed, so their number is not limited by memory (tile_assignment.h).
    """

    dims: tuple[int, ...]
    permutation: tuple[int, ...]
    base: "DeviceOrder | tuple[int, ...] | None" = None

    @classmethod
    def of_list(cls, devices: tuple[int, ...]) -> "DeviceOrder":
        """Return the order of an explicit list: ``0,2,1,3``."""
        return cls((len(devices),), (0,), devices)

    @property
    def count(self) -> int:
        """The number of devices."""
        return prod(self.dims)

    def at(self, position: int) -> int:
        """Return the device at a position of the order, from 0."""
        indexes = [0] * len(self.dims)
        for dim in reversed(self.permutation):
            position, indexes[dim] = divmod(position, self.dims[dim])
        number = 0
        for size, index in zip(self.dims, indexes, strict=True):
            number = number * size + index
        if self.base is None:
            return number
        return self.base.at(number) if isinstance(self.base, DeviceOrder) else self.base[number]


def parse_device_order(tree: "Tree[Token]") -> DeviceOrder:
    """Parse a ``listed``, ``iota`` or ``mesh_iota`` of the grammar.

    Raises:
        ShardingError: A device occurs twice, the transposition is not a permutation, or the
            number of devices is invalid.
    """
    first, *rest = tree.children
    dims = parse_integers(first)
    if tree.data == "listed":
        if len(set(dims)) != len(dims):
            raise ShardingError("a device is listed twice")
        return DeviceOrder.of_list(dims)
    _device_count(dims)
    if not rest and len(dims) > 1:
        raise ShardingError("several device dimensions require a transposition `T(...)`")
    permutation = parse_integers(rest[0]) if rest else (0,)
    if sorted(permutation) != list(range(len(dims))):
        raise ShardingError(f"T{permutation} is not a permutation of {len(dims)} dimensions")
    return DeviceOrder(dims, permutation)


def parse_sharding_text(rule: str, text: str, what: str) -> "Tree[Token]":
    """Parse a text by a rule of the grammar.

    Raises:
        ShardingError: The text does not match the rule.
    """
    found = load_grammar("sharding").parse(rule, text)
    if isinstance(found, ParseFailure):
        raise ShardingError(f"{found} in the {what} `{text[:80]}`")
    return found


def _device_count(dims: Iterable[int]) -> int:
    """Return the number of devices in a shape, which is neither 0 nor exceeds 64 bits."""
    count = prod(dims)
    if not 0 < count < _DEVICE_COUNT_LIMIT:
        raise ShardingError("the number of devices is 0 or does not fit in 64 bits")
    return count


def parse_integers(child: "Tree[Token] | str") -> tuple[int, ...]:
    """Return the integers of a comma-separated list."""
    return tuple(map(int, str(child).split(",")))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a mesh or a part of one: ``'x':(2)4`` has 4 steps inside of each half."""

    name: str
    before: int
    size: int
    whole: bool = True

    def __str__(self) -> str:
        return self.name if self.whole else f"{self.name}:({self.before}){self.size}"


@dataclass(frozen=True, slots=True)
class Mesh:
    """Axes with their sizes, major to minor, and the ``devices`` in row-major order."""

    axes: tuple[tuple[str, int], ...]
    devices: DeviceOrder

    def axis(self, tree: "Tree[Token]") -> Axis:
        """Return the axis that an ``axis`` of the grammar names.

        Raises:
            ShardingError: The mesh has no such axis, or the axis has no such part.
        """
        name = _unquoted(tree.children[0])
        size = dict(self.axes).get(name)
        if size is None:
            raise ShardingError(f"the mesh has no axis {name}")
        if len(tree.children) == 1:
            return Axis(name, 1, size)
        before, part = (int(str(child)) for child in tree.children[1:])
        if before < 1 or not 1 < part < size or size % (before * part):
            raise ShardingError(f"an axis of {size} devices has no part ({before}){part}")
        return Axis(name, before, part, whole=False)

    def by(self, front: Sequence[Axis], back: Sequence[Axis]) -> tuple[DeviceOrder, int]:
        """Return the devices with some axes first and some last, and the size of the other axes.

        Raises:
            ShardingError: Axes overlap.
        """
        first, last = [(a.name, a.before) for a in front], [(a.name, a.before) for a in back]
        pieces = self._split_axes([*front, *back])
        places = {piece[:2]: place for place, piece in enumerate(pieces)}
        taken = set(first + last)
        if len(taken) != len(first) + len(last):
            raise ShardingError("an axis is used twice")
        between = [place for key, place in places.items() if key not in taken]
        count = prod(pieces[place][2] for place in between)
        permutation = (*(places[key] for key in first), *between, *(places[key] for key in last))
        dims = tuple(size for _, _, size in pieces)
        if permutation == tuple(range(len(dims))):
            return self.devices, count
        return DeviceOrder(dims, permutation, self.devices), count

    def _split_axes(self, used: list[Axis]) -> list[tuple[str, int, int]]:
        """Split the axes where a part begins or ends; return (name, steps before, size)."""
        pieces = []
        for name, size in self.axes:
            own = [axis for axis in used if axis.name == name]
            ends = {end for axis in own for end in (axis.before, axis.before * axis.size)}
            bounds = sorted({1, size, *ends}) if size > 1 else [1, 1]
            if any(high % low for low, high in pairwise(bounds)):
                raise ShardingError(f"the parts of axis {name} do not fit into each other")
            found = [(name, low, high // low) for low, high in pairwise(bounds)]
            if any((name, axis.before, axis.size) not in found for axis in own):
                raise ShardingError(f"parts of axis {name} overlap")
            pieces += found
        return pieces


def parse_mesh(tree: "Tree[Token]") -> Mesh:
    """Parse a ``mesh`` of the grammar.

    Raises:
        ShardingError: An axis occurs twice or has no devices, or the number of listed devices
            differs from the product of the axes.
    """
    axes: list[tuple[str, int]] = []
    order: DeviceOrder | None = None
    for child in subtrees(tree):
        if child.data == "mesh_axis":
            name, size = child.children
            axes.append((_unquoted(name), int(str(size))))
        else:
            order = parse_device_order(child)
    count = _device_count(size for _, size in axes)
    if len(dict(axes)) != len(axes):
        raise ShardingError("an axis of the mesh is named twice")
    if order is None:
        order = DeviceOrder((count,), (0,))
    if order.count != count:
        raise ShardingError(f"the mesh has room for {count} devices and lists {order.count}")
    return Mesh(tuple(axes), order)


def _unquoted(child: "Tree[Token] | Token") -> str:
    text = str(child)
    return text[1:-1] if text[0] in "'\"" else text


# Opcodes with use_global_device_ids=: without it, groups span replicas and all partitions.
_CROSS_REPLICA_AND_PARTITION = frozenset({"all-gather", "all-reduce", "reduce-scatter"})


class GroupMode(Enum):
    """The meaning of the numbers in ``replica_groups=`` (``GetCollectiveOpGroupMode``)."""

    REPLICAS = "replica"
    PARTITIONS = "partition"
    DEVICES = "device"  # replica * num_partitions + partition
    WHOLE_REPLICAS = "replica with all partitions"


def group_mode(opcode: str, *, channel: bool, global_ids: bool) -> GroupMode:
    """Return the group mode of an opcode with ``channel_id`` and ``use_global_device_ids``."""
    if global_ids:
        return GroupMode.DEVICES
    if not channel:
        return GroupMode.REPLICAS
    plain = opcode.removesuffix("-start")
    return (
        GroupMode.WHOLE_REPLICAS if plain in _CROSS_REPLICA_AND_PARTITION else GroupMode.PARTITIONS
    )


@dataclass(frozen=True, slots=True)
class GroupList:
    """``{{0,1},{2}}``: a list of groups; an empty list means one group of all devices."""

    groups: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """The number of listed groups."""
        return len(self.groups)

    @property
    def size(self) -> int | None:
        """The number of devices in each group, None if it differs between groups."""
        sizes = set(map(len, self.groups))
        return sizes.pop() if len(sizes) == 1 else None

    def first(self, limit: int) -> Iterator[tuple[int, ...]]:
        """Return the first ``limit`` groups in order."""
        return islice(self.groups, limit)


@dataclass(frozen=True, slots=True)
class EqualGroups:
    """``[2,4]<=[8]`` or ``mesh['x'=2,'y'=4] {'y'}``: groups of ``size`` consecutive devices.

    ``axes`` are the axes of ``mesh`` along which the devices of a group differ.
    """

    count: int
    size: int
    order: DeviceOrder
    mesh: Mesh | None = None
    axes: tuple[Axis, ...] = ()

    def first(self, limit: int) -> Iterator["OrderedGroup"]:
        """Return the first ``limit`` groups in order."""
        return (
            OrderedGroup(self.order, number * self.size, self.size)
            for number in range(min(limit, self.count))
        )


@dataclass(frozen=True, slots=True)
class OrderedGroup:
    """A group of ``count`` consecutive devices of an order, computed on access."""

    order: DeviceOrder
    start: int
    count: int

    def at(self, position: int) -> int:
        """Return the device at a position of the group, from 0."""
        return self.order.at(self.start + position)


DeviceGroups: TypeAlias = GroupList | EqualGroups


@lru_cache(maxsize=1 << 10)
def parse_device_groups(text: str) -> DeviceGroups:
    """Parse the value of ``replica_groups=`` (replica_group.cc).

    Raises:
        ShardingError: The text does not describe groups.
    """
    tree = parse_sharding_text("replica_groups", text, "groups")
    if tree.data == "group_list":
        return _parse_group_list(tree)
    if tree.data == "mesh_groups":
        return _parse_mesh_groups(tree)
    shape, order = parse_integers(tree.children[0]), parse_device_order(next(subtrees(tree)))
    if len(shape) != 2 or prod(shape) != order.count:
        raise ShardingError(f"{order.count} devices do not form groups {shape}")
    return EqualGroups(shape[0], shape[1], order)


def _parse_group_list(tree: "Tree[Token]") -> GroupList:
    texts = [str(child)[1:-1].strip() for child in tree.children]
    try:
        groups = tuple(parse_integers(text) if text else () for text in texts)
    except ValueError:
        raise ShardingError("a group contains something other than numbers") from None
    return GroupList(groups)


def _parse_mesh_groups(tree: "Tree[Token]") -> EqualGroups:
    parsed, *others = subtrees(tree)
    mesh = parse_mesh(parsed)
    axes = tuple(map(mesh.axis, others))
    order, count = mesh.by((), axes)
    return EqualGroups(count, order.count // count, order, mesh, axes)
