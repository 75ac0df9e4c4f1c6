"""Which device stands at which place: the list, the iota and the mesh forms of HLO text."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from lark import Token, Tree

_MOST = 1 << 63


class ShardingError(ValueError):
    """A text that is no sharding and no device groups."""


@dataclass(frozen=True, slots=True)
class Listed:
    """``0,2,1,3``: device numbers, one by one."""

    devices: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of devices."""
        return len(self.devices)

    def at(self, place: int) -> int:
        """The device at a place, counted from 0."""
        return self.devices[place]


@dataclass(frozen=True, slots=True)
class Iota:
    """``<=[2,4]T(1,0)``: 0, 1, 2 ... in the shape ``dims``, transposed, read row by row.

    Nothing is listed, so a text may speak of any number of devices (tile_assignment.h).
    """

    dims: tuple[int, ...]
    permutation: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of devices."""
        return prod(self.dims)

    def at(self, place: int) -> int:
        """The device at a place, counted from 0."""
        indexes = [0] * len(self.dims)
        for dim in reversed(self.permutation):
            place, indexes[dim] = divmod(place, self.dims[dim])
        device = 0
        for size, index in zip(self.dims, indexes, strict=True):
            device = device * size + index
        return device


@dataclass(frozen=True, slots=True)
class Reordered:
    """The devices of one order in the sequence of another."""

    devices: "DeviceOrder"
    places: Iota

    @property
    def count(self) -> int:
        """The number of devices."""
        return self.places.count

    def at(self, place: int) -> int:
        """The device at a place, counted from 0."""
        return self.devices.at(self.places.at(place))


DeviceOrder: TypeAlias = Listed | Iota | Reordered


def order_of(tree: "Tree[Token]") -> Listed | Iota:
    """The order that a ``listed``, ``iota`` or ``mesh_iota`` of the grammar says.

    Raises:
        ShardingError: a device is listed twice, the transposition is none, or see ``counted``.
    """
    first, *rest = tree.children
    dims = numbers(first)
    if tree.data == "listed":
        if len(set(dims)) != len(dims):
            raise ShardingError("a device is listed twice")
        return Listed(dims)
    counted(dims)
    if not rest and len(dims) > 1:
        raise ShardingError("several dimensions of devices need a transposition `T(...)`")
    permutation = numbers(rest[0]) if rest else (0,)
    if sorted(permutation) != list(range(len(dims))):
        raise ShardingError(f"T{permutation} is no permutation of {len(dims)} dimensions")
    return Iota(dims, permutation)


def counted(dims: Iterable[int]) -> int:
    """The number of devices in a shape.

    Raises:
        ShardingError: there are none, or more than 64 bits count.
    """
    count = prod(dims)
    if not 0 < count < _MOST:
        raise ShardingError("the devices are none or more than 64 bits count")
    return count


def numbers(child: "Tree[Token] | str") -> tuple[int, ...]:
    """The numbers of a ``LIST`` or of what looks like it."""
    return tuple(map(int, str(child).split(",")))
