"""The device groups of collectives: ``replica_groups=`` of HLO text."""

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
    parse_device_order,
    parse_integers,
    parse_mesh,
)
from hlo_lsp.syntax.grammar import load_grammar

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
    try:
        tree = load_grammar("sharding").parse("replica_groups", text)
    except UnexpectedInput:
        refusal = load_grammar("sharding").parse_failure("replica_groups", text)
        raise ShardingError(f"{refusal} in the groups `{text[:80]}`") from None
    if tree.data == "group_list":
        return _parse_group_list(tree)
    if tree.data == "mesh_groups":
        return _parse_mesh_groups(tree)
    dims, iota = tree.children
    shape, order = parse_integers(dims), parse_device_order(_as_tree(iota))
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
    mesh = parse_mesh(_as_tree(tree.children[0]))
    axes = tuple(mesh.axis(_as_tree(child)) for child in tree.children[1:])
    order, count = mesh.by((), axes)
    return EqualGroups(count, order.count // count, order, mesh, axes)


def _as_tree(child: "Tree[Token] | Token") -> "Tree[Token]":
    assert isinstance(child, Tree), child
    return child
