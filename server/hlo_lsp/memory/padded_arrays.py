"""Padded arrays, of a program and at a peak, and the shapes that would waste least."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.memory.grouping import BufferGroup, GroupKey, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.occupancy_and_peaks import SpaceOccupancy
from hlo_lsp.model.buffer_assignment import block_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import (
    PaddedSize,
    Target,
    array_bytes,
    padded_size,
    padded_size_of_text,
    target_of,
)
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import ArrayShape, Dimension, try_shape, without_memory_space
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.memory_records import AssignedValue

_MAX_RANK = 5  # 120 orders of dimensions


@dataclass(frozen=True, slots=True)
class ShapeChange:
    """A change of a shape that wastes less: another order of dimensions, or two merged ones.

    Attributes:
        text: The change, such as ``merge dimensions 1 and 2``.
        saves_bytes: What it saves for one array.
    """

    text: str
    saves_bytes: int


@dataclass(frozen=True, slots=True)
class PaddedShape:
    """The arrays of one shape at a peak.

    Attributes:
        shape: The shape without the memory space.
        count: Number of arrays.
        wasted: Bytes of padding of all arrays.
        bytes: Padded bytes of all arrays.
        padded: The padded size of one array with the causes; None if the rule is unknown.
        source: The Python line with most of the bytes.
        name: The largest array.
        change: The change that saves most, None if none saves a tenth of the padding.
    """

    shape: str
    count: int
    wasted: int
    bytes: int
    padded: PaddedSize | None
    source: SourceLine | None
    argument: str | None
    name: str
    change: ShapeChange | None


def padded_shapes(dump: Compile, occupancy: SpaceOccupancy) -> list[PaddedShape]:
    """Return the shapes of padded arrays at the peak of a memory space, most padding first."""
    buffers = live_buffers(dump, occupancy.space, occupancy.peak_step)
    padded = owned_buffers(dump, (one for one in buffers if one.padding))
    found = [
        _padded_shape(dump, group, occupancy.space)
        for group in group_buffers(dump, padded, GroupKey.SHAPE)
    ]
    return sorted(found, key=lambda one: (-one.wasted, one.shape))


def _padded_shape(dump: Compile, group: BufferGroup, space: int) -> PaddedShape:
    largest = group.buffers[0]
    target = target_of(dump)
    shape = try_shape(group.name)
    size = None if shape is None else padded_size(shape, target, space)
    change = None
    if isinstance(shape, ArrayShape) and size is not None and size.padding:
        change = _best_change(shape, size, target, space)
    value = largest.buffer.value
    origin = largest.origin
    return PaddedShape(
        group.name,
        len(group.buffers),
        sum(owned.buffer.padding for owned in group.buffers),
        group.bytes,
        size,
        largest.source,
        None if origin is None else origin.argument,
        "" if value is None else value.record.key,
        change,
    )


def _best_change(
    shape: ArrayShape, size: PaddedSize, target: Target, space: int
) -> ShapeChange | None:
    best: ShapeChange | None = None
    logical = (shape.elements or 0) * (shape.bits or 0) // 8
    least = (size.bytes - logical) // 10
    for text, other in _changes(shape):
        checkpoint()
        changed = padded_size(other, target, space)
        if changed is not None:
            saved = size.bytes - changed.bytes
            if saved > max(least, 0 if best is None else best.saves_bytes):
                best = ShapeChange(text, saved)
    return best


def _changes(shape: ArrayShape) -> Iterator[tuple[str, ArrayShape]]:
    """Yield merges of two adjacent dimensions, then other orders of the dimensions in memory."""
    layout, rank = shape.layout, len(shape.dims)
    if layout is None or rank < 2 or rank > _MAX_RANK:
        return
    for first in reversed(range(rank - 1)):
        one, other = shape.dims[first], shape.dims[first + 1]
        if one.size is None or other.size is None:
            continue
        merged = Dimension(one.size * other.size)
        dims = (*shape.dims[:first], merged, *shape.dims[first + 2 :])
        text = f"merge dimensions {first} and {first + 1} ({one.size:,} x {other.size:,})"
        for order in permutations(range(rank - 1)):
            yield text, ArrayShape(shape.element_type, dims, replace(layout, minor_to_major=order))
    for order in permutations(range(rank)):
        if order != layout.minor_to_major:
            minor = order[0]
            text = f"make dimension {minor} ({shape.dims[minor].size:,}) the most minor one"
            if len(order) > 1:
                text += f", then dimension {order[1]}"
            yield text, replace(shape, layout=replace(layout, minor_to_major=order))


@dataclass(frozen=True, slots=True)
class PaddedArrays:
    """Values of one padded shape.

    Attributes:
        places: Number of distinct allocation offsets.
    """

    value: LocatedRecord[AssignedValue]
    logical: int
    padded: PaddedSize
    values: int
    places: int

    @property
    def wasted(self) -> int:
        """Bytes of padding at all offsets."""
        return (self.padded.bytes - self.logical) * self.places


def padded_arrays(dump: Compile, target: Target, share: float, least: int) -> list[PaddedArrays]:
    """Return shapes of which at least a share (0 to 1) is padding, most wasted bytes first.

    Shapes that differ only in the memory space are one group. Values below ``least`` bytes, and
    those whose size does not follow from their shape, are skipped.
    """
    found: dict[str, tuple[LocatedRecord[AssignedValue], int, PaddedSize]] = {}
    places: dict[str, list[tuple[int, int]]] = {}
    for allocation in dump.allocations():
        checkpoint()
        for value in block_of(allocation).values:
            if value.size < least:
                continue
            checkpoint()
            logical = array_bytes(value.shape)
            if not logical or value.size - logical < share * value.size:
                continue
            padded = padded_size_of_text(value.shape, target, value.color or 0)
            if padded is None or not padded.padding or padded.bytes != value.size:
                continue
            key = without_memory_space(value.shape)
            found.setdefault(key, (LocatedRecord(allocation.file, value), logical, padded))
            places.setdefault(key, []).append((allocation.record.number, value.offset))
    groups = [
        PaddedArrays(value, logical, padded, len(places[key]), len(set(places[key])))
        for key, (value, logical, padded) in found.items()
    ]
    return sorted(groups, key=lambda group: (-group.wasted, group.value.record.id))
