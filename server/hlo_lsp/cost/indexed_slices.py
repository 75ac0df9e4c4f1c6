"""The bytes that a gather or a scatter moves in arrays with tiles, as those of a TPU.

Each index moves its slice alone, and no less than the layout allows. The transfers in the code that
libtpu generates (0.0.51 and 0.0.52, ``--xla_jf_dump_llo_text``) have these sizes:

- A scatter reads and writes all tiles of a slice: 16 KiB for a row of 512 numbers of 32 bits in
  ``T(8,128)``. An array that fits is copied to on-chip memory first, and back.
- A gather reads a row in words of 32 bits: 2 KiB for the same row, and 2 KiB for a row of 512
  numbers of 16 bits, because each word has numbers of two rows.
- A gather of single elements reads a tile for each.

``compiled.cost_analysis()`` of libtpu counts all tiles in each case.
"""

import re
from collections.abc import Sequence
from math import prod

from hlo_lsp.cost.formulas import cost_of
from hlo_lsp.cost.operation import Cost, Operation, dimensions, element_count
from hlo_lsp.model.backend import Backend, is_on_chip
from hlo_lsp.model.shape import ArrayShape, Layout, try_shape

_DIMENSIONS = re.compile(r"\[[^\[\]]*\]")
_TILES = re.compile(r"T\(\d+,(\d+)\)(?:\((\d+),1\))?")


def indexed_cost(operation: Operation, result: str) -> Cost:
    """Return the cost of a gather or a scatter.

    Args:
        operation: The gather or the scatter, which can be in a fusion.
        result: The shape of its result, or of the fusion.
    """
    cost = cost_of(operation)
    layout = _tiled_layout(operation.operand(0))
    if layout is None:
        return cost
    if operation.opcode == "gather":
        return cost.with_bytes(_gather_bytes(operation, layout, result))
    return cost.with_bytes(_scatter_bytes(operation))


def _tiled_layout(shape: str) -> Layout | None:
    parsed = try_shape(shape)
    layout = parsed.layout if isinstance(parsed, ArrayShape) else None
    return layout if layout is not None and layout.tiles else None


def _gather_bytes(operation: Operation, layout: Layout, result: str) -> int:
    source = operation.operand(0)
    sizes = operation.numbers("slice_sizes")
    part = _part(source, sizes)
    if _is_row(layout, sizes):
        part = _TILES.sub(lambda match: f"T({match[2] or 1},{match[1]})", part)
    read = _count(operation.shape, sizes) * operation.size_of(part, source)
    written = operation.size_of(operation.shape, result)
    return read + written + operation.size_of(operation.operand(1))


def _is_row(layout: Layout, sizes: Sequence[int]) -> bool:
    first = [sizes[dim] for dim in layout.minor_to_major[:2] if dim < len(sizes)]
    return len(first) > 1 and first[0] > 1 == first[1]


def _scatter_bytes(operation: Operation) -> int:
    count = len(operation.operands) // 2
    targets, updates = operation.operands[:count], operation.operands[count + 1 :]
    size = operation.size_of(operation.operand(count))
    for target, update in zip(targets, updates, strict=False):
        sizes = window_sizes(operation, target, update)
        moved = _count(update, sizes) * operation.size_of(_part(target, sizes), target)
        if not _is_on_chip(target):  # A target that fits moves as a whole.
            moved = min(moved, operation.size_of(target))
        size += operation.size_of(update) + 2 * moved
    return size


def window_sizes(operation: Operation, target: str, update: str) -> list[int]:
    """Return the sizes of a slice of the target."""
    sizes = dimensions(update)
    window = [sizes[dim] for dim in operation.numbers("update_window_dims") if dim < len(sizes)]
    single = {
        dim
        for name in ("inserted_window_dims", "input_batching_dims")
        for dim in operation.numbers(name)
    }
    rest = iter(window)
    return [1 if dim in single else next(rest, 1) for dim in range(len(dimensions(target)))]


def _part(array: str, sizes: Sequence[int]) -> str:
    """Return the shape of a slice with the layout of the array."""
    return _DIMENSIONS.sub(f"[{','.join(map(str, sizes))}]", array, count=1)


def _count(shape: str, sizes: Sequence[int]) -> int:
    """Return the number of slices in an array."""
    return element_count(shape) // max(1, prod(sizes))


def _is_on_chip(shape: str) -> bool:
    parsed = try_shape(shape)
    return isinstance(parsed, ArrayShape) and is_on_chip(parsed.memory_space, Backend.TPU)
