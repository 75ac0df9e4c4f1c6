"""The matrix products of an instruction, and the FLOPs that a matrix unit wastes on them.

A matrix unit of a TPU is a square array. It holds a part of one operand, whose sides are the
contracted dimension and a dimension of the result; the rows of the other operand pass through it.
If these dimensions are not multiples of the size of the unit, a part of the unit has no work.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from hlo_lsp.cost.formulas import (
    WindowDimension,
    convolution_flops,
    dot_flops,
    parse_labels,
    parse_window,
    valid_positions,
)
from hlo_lsp.cost.operation import Operation, dimensions, element_count

_MAX_BATCH = 1 << 12  # a damaged dimension must not take seconds


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """``count`` products of a ``rows x depth`` matrix and a ``depth x columns`` matrix."""

    count: int
    rows: int
    columns: int
    depth: int

    @property
    def flops(self) -> int:
        """The FLOPs of the products: two for each multiplication and addition."""
        return 2 * self.count * self.rows * self.columns * self.depth

    def padding_flops(self, unit: int) -> int:
        """Return the FLOPs that a unit of this size wastes at least, whichever operand it holds.

        If a part of it fits several times, the unit can hold it for several rows at once.
        """
        sides = (self.rows, self.columns), (self.columns, self.rows)
        return min(self._flops_of_unit(passing, held, unit) for passing, held in sides) - self.flops

    def padded_dimensions(self, unit: int) -> list[str]:
        """Return the dimensions that do not fill a unit of this size, as ``columns 10 of 128``."""
        sides = [("rows", self.rows, self.columns), ("columns", self.columns, self.rows)]
        side = min(sides, key=lambda one: self._flops_of_unit(one[2], one[1], unit))
        sizes = [("depth", self.depth), side[:2]]
        return [
            f"{name} {size:,} of {_padded(size, unit):,}" for name, size in sizes if size % unit
        ]

    def _flops_of_unit(self, passing: int, held: int, unit: int) -> int:
        passes = 0
        for depth, depth_tiles in _tiles(self.depth, unit):
            for width, width_tiles in _tiles(held, unit):
                copies = min(unit // depth, unit // width)
                passes += depth_tiles * width_tiles * -(-passing // copies)
        return 2 * self.count * passes * unit * unit


def _tiles(size: int, unit: int) -> list[tuple[int, int]]:
    """Return the sizes of the parts of a dimension in a unit, each with the number of them."""
    parts = [(unit, size // unit), (size % unit, 1)]
    return [(part, count) for part, count in parts if part and count]


def _padded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def matrix_product(operation: Operation) -> MatrixProduct | None:
    """Return the matrix product that a dot or a convolution is, or None for other operations.

    TPUs compute dots as convolutions. Convolutions with a window that slides are no such products.
    """
    if operation.opcode == "dot":
        return _product_of_dot(operation)
    return _product_of_convolution(operation) if operation.opcode == "convolution" else None


def _product_of_dot(operation: Operation) -> MatrixProduct | None:
    lhs = dimensions(operation.operand(0))
    contracting = operation.numbers("lhs_contracting_dims")
    batch = operation.numbers("lhs_batch_dims")
    if any(number >= len(lhs) for number in (*contracting, *batch)):
        return None
    depth, count = prod(lhs[dim] for dim in contracting), prod(lhs[dim] for dim in batch)
    rows = prod(size for dim, size in enumerate(lhs) if dim not in {*contracting, *batch})
    columns = element_count(operation.shape) // max(1, count * rows)
    found = MatrixProduct(count, rows, columns, depth)
    is_exact = found.flops == dot_flops(operation.operand(0), operation.shape, contracting)
    return found if is_exact and found.flops else None


def _product_of_convolution(operation: Operation) -> MatrixProduct | None:
    labels = parse_labels(operation.attribute("dim_labels"))
    if labels is None or operation.attribute("batch_group_count"):
        return None
    shapes = operation.operand(0), operation.operand(1), operation.shape
    sides = (labels.lhs, labels.rhs, labels.result)
    sizes = [
        dict(zip(letters, dimensions(shape), strict=False))
        for letters, shape in zip(sides, shapes, strict=True)
    ]
    lhs, _, out = sizes
    count = max([1, *operation.numbers("feature_group_count")[:1]])
    rows, columns, depth = lhs.get("b", 0), out.get("f", 0) // count, lhs.get("f", 0) // count
    for one, digit in zip(
        parse_window(operation.attribute("window")), labels.spatial, strict=False
    ):
        inputs, kernels, outputs = (size.get(digit, 1) for size in sizes)
        if kernels == 1:
            rows *= outputs
        elif outputs == 1 and valid_positions(one, inputs, kernels, outputs) == kernels:
            depth *= kernels
        elif _is_batch(one, inputs, kernels, outputs):
            count *= outputs
        else:
            return None
    found = MatrixProduct(count, rows, columns, depth)
    return found if found.flops and found.flops == convolution_flops(operation, *shapes) else None


@lru_cache(maxsize=1 << 8)
def _is_batch(one: WindowDimension, inputs: int, kernels: int, outputs: int) -> bool:
    """Return whether each output index reads one index of the input and of the kernel.

    XLA writes the batch dimension of a dot as a window with holes.
    """
    if not inputs == kernels == outputs <= _MAX_BATCH:
        return False
    starts = (one.padding_low - index * one.stride for index in range(outputs))
    windows = (replace(one, padding_low=start) for start in starts)
    return all(valid_positions(each, inputs, kernels, 1) == 1 for each in windows)
