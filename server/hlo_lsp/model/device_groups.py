"""The groups of devices that a collective works in: ``replica_groups=`` of HLO text."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import islice
from math import prod
from typing import TypeAlias

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from hlo_lsp.model.device_mesh import (
    Axis,
    DeviceOrder,
    Mesh,
    ShardingError,
    mesh_of,
    numbers,
    order_of,
)
from hlo_lsp.syntax.grammar import load

# The opcodes with use_global_device_ids=: without it they reach across replicas and partitions.
_ACROSS_BOTH = frozenset({"all-gather", "all-reduce", "reduce-scatter"})


class Members(Enum):
    """What the numbers in ``replica_groups=`` are (``GetCollectiveOpGroupMode``)."""

    REPLICAS = "replica"
    PARTITIONS = "partition"
    DEVICES = "device"  # replica * num_partitions + partition
    WHOLE_REPLICAS = "replica with all partitions"


def members(opcode: str, *, channel: bool, global_ids: bool) -> Members:
    """What the numbers are for an opcode, with a ``channel_id`` and ``use_global_device_ids``."""
    if global_ids:
        return Members.DEVICES
    if not channel:
        return Members.REPLICAS
    plain = opcode.removesuffix("-start")
    return Members.WHOLE_REPLICAS if plain in _ACROSS_BOTH else Members.PARTITIONS


@dataclass(frozen=True, slots=True)
class GroupList:
    """``{{0,1},{2}}``: the groups one by one. Without any, all devices are one group."""

    groups: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """The number of groups that are listed."""
        return len(self.groups)

    @property
    def size(self) -> int | None:
        """Devices in a group, None where the groups differ."""
        sizes = set(map(len, self.groups))
        return sizes.pop() if len(sizes) == 1 else None

    def first(self, most: int) -> Iterator[tuple[int, ...]]:
        """The first groups, in order."""
        return islice(self.groups, most)


@dataclass(frozen=True, slots=True)
class EqualGroups:
    """``[2,4]<=[8]`` or ``mesh['x'=2,'y'=4] {'y'}``: each ``size`` places of an order are a group.

    ``axes`` of the ``mesh`` are those along which the devices of a group differ.
    """

    count: int
    size: int
    order: DeviceOrder
    mesh: Mesh | None = None
    axes: tuple[Axis, ...] = ()

    def first(self, most: int) -> Iterator["OrderedGroup"]:
        """The first groups, in order."""
        return (
            OrderedGroup(self.order, number * self.size, self.size)
            for number in range(min(most, self.count))
        )


@dataclass(frozen=True, slots=True)
class OrderedGroup:
    """A group of any number of devices, which are told one at a time."""

    order: DeviceOrder
    start: int
    count: int

    def at(self, place: int) -> int:
        """The device at a place of the group, counted from 0."""
        return self.order.at(self.start + place)


DeviceGroups: TypeAlias = GroupList | EqualGroups


@lru_cache(maxsize=1 << 10)
def parse_groups(text: str) -> DeviceGroups:
    """The groups that the value of ``replica_groups=`` describes (replica_group.cc).

    Raises:
        ShardingError: it describes none.
    """
    try:
        tree = load("sharding").parse("replica_groups", text)
    except UnexpectedInput:
        refusal = load("sharding").refusal("replica_groups", text)
        raise ShardingError(f"{refusal} in the groups `{text[:80]}`") from None
    if tree.data == "group_list":
        return _listed(tree)
    if tree.data == "mesh_groups":
        return _by_axes(tree)
    dims, iota = tree.children
    shape, order = numbers(dims), order_of(_tree(iota))
    if len(shape) != 2 or prod(shape) != order.count:
        raise ShardingError(f"{order.count} devices are no groups {shape}")
    return EqualGroups(shape[0], shape[1], order)


def _listed(tree: "Tree[Token]") -> GroupList:
    texts = [str(child)[1:-1].strip() for child in tree.children]
    try:
        groups = tuple(numbers(text) if text else () for text in texts)
    except ValueError:
        raise ShardingError("a group lists what is no number") from None
    return GroupList(groups)


def _by_axes(tree: "Tree[Token]") -> EqualGroups:
    mesh = mesh_of(_tree(tree.children[0]))
    axes = tuple(mesh.axis(_tree(child)) for child in tree.children[1:])
    order, count = mesh.by((), axes)
    return EqualGroups(count, order.count // count, order, mesh, axes)


def _tree(child: "Tree[Token] | Token") -> "Tree[Token]":
    assert isinstance(child, Tree), child
    return child
