"""A named mesh of devices and the axes that shardings and collectives take from it.

Source of the rules: mesh_and_axis.cc (``Mesh::ValidateMesh``, ``AxisRef::Validate``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from lark import Token, Tree

from hlo_lsp.model.device_order import (
    DeviceOrder,
    Iota,
    Reordered,
    ShardingError,
    counted,
    order_of,
)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a mesh, or the part of one: ``'x':(2)4`` are 4 steps inside of each half."""

    name: str
    before: int
    size: int
    whole: bool = True

    def __str__(self) -> str:
        return self.name if self.whole else f"{self.name}:({self.before}){self.size}"


@dataclass(frozen=True, slots=True)
class Mesh:
    """Axes with their numbers of devices, major to minor; ``devices`` in row-major order."""

    axes: tuple[tuple[str, int], ...]
    devices: DeviceOrder

    def axis(self, tree: "Tree[Token]") -> Axis:
        """The axis that an ``axis`` of the grammar names.

        Raises:
            ShardingError: the mesh has no such axis, or it cannot be cut like this.
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
        """The devices with some axes in front and some last, and how many the axes between hold.

        Raises:
            ShardingError: axes overlap.
        """
        first, last = [(a.name, a.before) for a in front], [(a.name, a.before) for a in back]
        pieces = self._pieces([*front, *back])
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
        return Reordered(self.devices, Iota(dims, permutation)), count

    def _pieces(self, used: list[Axis]) -> list[tuple[str, int, int]]:
        """The mesh with its axes cut where a part begins or ends: name, steps before, size."""
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


def mesh_of(tree: "Tree[Token]") -> Mesh:
    """The mesh that a ``mesh`` of the grammar says.

    Raises:
        ShardingError: an axis is named twice or has no devices, or as many devices are not listed.
    """
    axes: list[tuple[str, int]] = []
    order: DeviceOrder | None = None
    for child in tree.children:
        if not isinstance(child, Tree):
            continue
        if child.data == "mesh_axis":
            name, size = child.children
            axes.append((_unquoted(name), int(str(size))))
        else:
            order = order_of(child)
    count = counted(size for _, size in axes)
    if len(dict(axes)) != len(axes):
        raise ShardingError("an axis of the mesh is named twice")
    if order is None:
        order = Iota((count,), (0,))
    if order.count != count:
        raise ShardingError(f"the mesh has room for {count} devices and lists {order.count}")
    return Mesh(tuple(axes), order)


def _unquoted(child: "Tree[Token] | Token") -> str:
    text = str(child)
    return text[1:-1] if text[0] in "'\"" else text
