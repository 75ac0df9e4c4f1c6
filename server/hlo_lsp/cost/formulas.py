"""The formulas of XLA's cost analysis for opcodes whose cost is not one for each element.

Those of convolutions and reductions count the valid positions of their windows.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from math import gcd, prod

from hlo_lsp.cost.operation import NO_COST, Cost, Operation, dimensions, element_count, leaf_texts
from hlo_lsp.hlo.vocabulary import CostRule, opcode_spec
from hlo_lsp.model.shape import ArrayShape, try_shape

_FIELD = re.compile(r"(?<!\w)(\w+)=(\S+)")
_MAX_WALKED_INDEXES = 1 << 20  # real dimensions are smaller; a damaged one must not take minutes
_LABELS = re.compile(r"([0-9a-z?]+)_([0-9a-z?]+)->([0-9a-z?]+)")


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """A dimension of ``window={size=3 stride=2 pad=0_1 lhs_dilate=1 rhs_dilate=1}``."""

    size: int = 1
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1


@lru_cache(maxsize=1 << 10)
def parse_window(text: str) -> tuple[WindowDimension, ...]:
    """Return the dimensions of a window; none if the attribute is missing or not valid."""
    fields = dict(_FIELD.findall(text.strip("{}")))
    rank = len(fields.get("size", "").split("x")) if "size" in fields else 0
    try:
        sizes, strides, base, window = (
            _numbers(fields.get(name), rank)
            for name in ("size", "stride", "lhs_dilate", "rhs_dilate")
        )
        pads = fields.get("pad", "x".join(["0_0"] * rank)).split("x")
        pairs = [list(map(int, pad.split("_"))) for pad in pads]
        return tuple(
            WindowDimension(size, stride, low, high, lhs, rhs)
            for size, stride, (low, high), lhs, rhs in zip(
                sizes, strides, pairs, base, window, strict=True
            )
        )
    except (ValueError, TypeError):
        return ()


def _numbers(text: str | None, rank: int) -> list[int]:
    return [1] * rank if text is None else list(map(int, text.split("x")))


@dataclass(frozen=True, slots=True)
class ConvolutionLabels:
    """The letters of ``dim_labels=b01f_01io->b01f``: for each array, one for each dimension."""

    lhs: str
    rhs: str
    result: str

    @property
    def spatial(self) -> list[str]:
        """The digits of the spatial dimensions, in the order of the window."""
        return sorted(letter for letter in self.lhs if letter.isdigit())


@lru_cache(maxsize=1 << 10)
def parse_labels(text: str) -> ConvolutionLabels | None:
    """Return the labels of a convolution, or None."""
    match = _LABELS.match(text)
    return None if match is None else ConvolutionLabels(*match.groups())


@lru_cache(maxsize=1 << 10)
def valid_positions(one: WindowDimension, inputs: int, kernels: int, outputs: int) -> int:
    """Return the number of pairs of a kernel index and an output index that read an element.

    The other pairs read padding or a hole of the base dilation. The shorter of both dimensions is
    walked, and the pairs of each index are counted at once. If it is huge, all pairs count.

    Args:
        one: The dimension of the window.
        inputs: The size of this dimension of the input.
        kernels: That of the kernel.
        outputs: That of the result.
    """
    # The pair (kernel, output) reads position output * stride + kernel * dilation - padding.
    walks = (kernels, one.window_dilation), (outputs, one.stride)
    (walked, step), (counted, stride) = sorted(walks)
    if walked > _MAX_WALKED_INDEXES:
        return walked * counted
    last = (inputs - 1) * one.base_dilation
    return sum(
        _multiples(index * step - one.padding_low, stride, counted, last, one.base_dilation)
        for index in range(walked)
    )


def _multiples(start: int, stride: int, count: int, last: int, divisor: int) -> int:
    """Return how many of ``start + stride * i`` are multiples of ``divisor`` from 0 to ``last``.

    The indexes ``i`` are those below ``count``.
    """
    if stride < 1 or divisor < 1:
        return 0
    low, high = max(0, -(start // stride)), min(count - 1, (last - start) // stride)
    common = gcd(stride, divisor)
    if start % common or high < low:
        return 0
    period = divisor // common
    first = -(start // common) * pow(stride // common, -1, period) % period if period > 1 else 0
    return (high - first) // period - (low - 1 - first) // period


_FLOPS_PER_MULTIPLY_ADD = 2
_MULTIPLICATIONS_PER_COMPLEX_PRODUCT = 4


def has_formula(opcode: str) -> bool:
    """Return whether the cost depends on more than the shapes of the operands and the result."""
    return opcode in _FORMULAS


def cost_of(operation: Operation) -> Cost:
    """Return the cost of an operation by the formula or the rule of its opcode."""
    formula = _FORMULAS.get(operation.opcode)
    if formula is not None:
        return formula(operation)
    rule = opcode_spec(operation.opcode).cost
    if rule is CostRule.FREE:
        return NO_COST
    if rule is CostRule.ELEMENTWISE:
        return Cost(operation.elements, 0, operation.bytes_of_all)
    if rule is CostRule.TRANSCENDENTAL:
        return Cost(0, operation.elements, operation.bytes_of_all)
    return Cost(0, 0, operation.bytes_of_all)


def _repeated(operation: Operation, callee: Cost, count: int) -> Cost:
    return callee.times(count).with_bytes(operation.bytes_of_all)


def _tuple(operation: Operation) -> Cost:
    return Cost(bytes_accessed=operation.size_of(operation.shape))


def _transpose(operation: Operation) -> Cost:
    return NO_COST if _is_bitcast(operation) else Cost(0, 0, operation.bytes_of_all)


def _is_bitcast(operation: Operation) -> bool:
    """Return whether a transpose moves no element (``ShapeUtil::TransposeIsBitcast``)."""
    order = operation.numbers("dimensions")
    before = _minor_to_major(operation.operand(0), len(order))
    after = _minor_to_major(operation.shape, len(order))
    return all(dim < len(order) for dim in after) and before == [order[dim] for dim in after]


def _minor_to_major(shape: str, rank: int) -> list[int]:
    parsed = try_shape(shape)
    layout = parsed.layout if isinstance(parsed, ArrayShape) else None
    order = () if layout is None else layout.minor_to_major
    return list(order) or list(reversed(range(rank)))


def dot_flops(lhs: str, result: str, contracting: Sequence[int]) -> int:
    """Return the FLOPs of a product by the shapes and the contracting dimensions of ``lhs``."""
    sizes = dimensions(lhs)
    width = prod(sizes[dim] for dim in contracting if dim < len(sizes))
    return _FLOPS_PER_MULTIPLY_ADD * element_count(result) * width


def _dot(operation: Operation) -> Cost:
    contracting = operation.numbers("lhs_contracting_dims")
    flops = dot_flops(operation.operand(0), operation.shape, contracting)
    return Cost(flops, 0, operation.bytes_of_all)


def _ragged_dot(operation: Operation) -> Cost:
    """Return the cost of a ragged dot; a ragged dimension of the result counts as one row."""
    cost = _dot(operation)
    ragged, *others = (
        operation.numbers(name)
        for name in ("lhs_ragged_dims", "lhs_contracting_dims", "lhs_batch_dims")
    )
    rows = dimensions(operation.shape)[:1]
    if ragged and rows and rows[0] and not any(ragged[0] in dims for dims in others):
        return Cost(cost.flops // rows[0], 0, cost.bytes_accessed)
    return cost


def convolution_flops(operation: Operation, *shapes: str) -> int:
    """Return the FLOPs of a convolution; ``shapes`` are those of input, kernel, and result."""
    labels = parse_labels(operation.attribute("dim_labels"))
    window = parse_window(operation.attribute("window"))
    lhs, rhs, out = map(dimensions, shapes)
    if labels is None or any(
        len(letters) != len(sizes)
        for letters, sizes in ((labels.lhs, lhs), (labels.rhs, rhs), (labels.result, out))
    ):
        return 0
    positions = 1
    for one, digit in zip(window, labels.spatial, strict=False):
        inputs, kernels, outputs = (
            sizes[letters.index(digit)] if digit in letters else 1
            for letters, sizes in ((labels.lhs, lhs), (labels.rhs, rhs), (labels.result, out))
        )
        positions *= valid_positions(one, inputs, kernels, outputs)
    features = lhs[labels.lhs.index("f")] // _count(operation, "feature_group_count")
    batches = lhs[labels.lhs.index("b")] // _count(operation, "batch_group_count")
    products = features * out[labels.result.index("f")] * batches * positions
    return _FLOPS_PER_MULTIPLY_ADD * products


def _count(operation: Operation, name: str) -> int:
    return max(1, next(iter(operation.numbers(name)), 1))


def _convolution(operation: Operation) -> Cost:
    flops = convolution_flops(
        operation, operation.operand(0), operation.operand(1), operation.shape
    )
    return Cost(flops, 0, operation.bytes_of_all)


def _first_elements(shape: str) -> int:
    """Return the number of elements of an array, or of the first array of a tuple."""
    return element_count(next(iter(leaf_texts(shape)), ""))


def _reduce(operation: Operation) -> Cost:
    count = element_count(operation.operand(0)) - _first_elements(operation.shape)
    return _repeated(operation, operation.callee(), count)


def _reduce_window(operation: Operation) -> Cost:
    window = parse_window(operation.attribute("window"))
    outputs = _first_elements(operation.shape)
    count = (prod(one.size for one in window) - 1) * outputs
    span = _broadcast_span(operation, window)
    if span:
        count = outputs // span + span - 1
    return _repeated(operation, operation.callee(), count)


def _broadcast_span(operation: Operation, window: tuple[WindowDimension, ...]) -> int:
    """Return the size of the dimension that a window reduces and broadcasts again, or 0."""
    sizes = dimensions(operation.shape)
    reduced = [number for number, one in enumerate(window) if one.size != 1]
    padded = [number for number, one in enumerate(window) if one.padding_low or one.padding_high]
    if len(reduced) != 1 or reduced != padded or len(sizes) != len(window):
        return 0
    (number,), one = reduced, window[reduced[0]]
    is_broadcast = one.padding_low == one.padding_high == sizes[number] - 1
    return sizes[number] if is_broadcast and one.size == 2 * one.padding_low + 1 else 0


def _select_and_scatter(operation: Operation) -> Cost:
    sources = element_count(operation.operand(1))
    size = prod(one.size for one in parse_window(operation.attribute("window")))
    cost = operation.callee("select").times(sources * (size - 1))
    return (cost + operation.callee("scatter").times(sources)).with_bytes(operation.bytes_of_all)


def _sort(operation: Operation) -> Cost:
    count = element_count(operation.operand(0))
    return Cost(count * max(0, count - 1).bit_length(), 0, operation.bytes_of_all)


def _fft(operation: Operation) -> Cost:
    lengths = operation.numbers("fft_length")
    logarithms = prod(max(0, length.bit_length() - 1) for length in lengths)
    per_element = _FLOPS_PER_MULTIPLY_ADD * _MULTIPLICATIONS_PER_COMPLEX_PRODUCT * logarithms
    return Cost(per_element * element_count(operation.operand(0)), 0, operation.bytes_of_all)


def _cholesky(operation: Operation) -> Cost:
    shape = operation.operand(0)
    size = next(reversed(dimensions(shape)), 0)
    return Cost(size * element_count(shape) // 3, 0, operation.size_of(shape))


def _triangular_solve(operation: Operation) -> Cost:
    a, b = operation.operand(0), operation.operand(1)
    size = next(reversed(dimensions(a)), 0)
    read = operation.size_of(a) // 2 + operation.size_of(b)
    flops = _FLOPS_PER_MULTIPLY_ADD * size * element_count(b)
    return Cost(flops, 0, operation.leaf_bytes(operation.shape) + read)


def _slice(operation: Operation) -> Cost:
    return Cost(bytes_accessed=_moved_bytes(operation, operation.operand(0), operation.shape))


def _moved_bytes(operation: Operation, source: str, target: str, part: str | None = None) -> int:
    """Return the bytes of a part, by default of the target, that an operation moves to an array."""
    part = target if part is None else part
    return operation.size_of(part, source) + operation.size_of(part, target)


def _slice_at_index(operation: Operation) -> Cost:
    moved = _moved_bytes(operation, operation.operand(0), operation.shape)
    return Cost(bytes_accessed=moved + operation.size_of(operation.operand(1)))


def _dynamic_update_slice(operation: Operation) -> Cost:
    update = operation.operand(1)
    moved = _moved_bytes(operation, update, operation.shape, update)
    return Cost(bytes_accessed=moved + operation.size_of(operation.operand(2)))


def _scatter(operation: Operation) -> Cost:
    count = len(operation.operands) // 2
    updates = operation.operands[count + 1 :]
    indices = operation.size_of(operation.operand(count))
    cost = operation.callee().times(element_count(next(iter(updates), "")))
    arrays = [leaf for shape in operation.operands[:count] for leaf in leaf_texts(shape)]
    size = indices
    for update, array in zip_longest(updates, arrays[: len(updates)], fillvalue=""):
        size += operation.size_of(update) + 2 * operation.size_of(update, array)
    return cost.with_bytes(size)


def _scan(operation: Operation) -> Cost:
    """Return the cost of a scan: that of one step for each element of a slice."""
    sizes = dimensions(operation.operand(0))
    steps = [sizes[dim] for dim in operation.numbers("dimensions") if dim < len(sizes)]
    count = element_count(operation.operand(0)) // max(1, prod(steps))
    return _repeated(operation, operation.callee(), count)


def _map(operation: Operation) -> Cost:
    return _repeated(operation, operation.callee(), operation.elements)


def _all_reduce(operation: Operation) -> Cost:
    return Cost(operation.elements, 0, operation.bytes_of_all)


def _infeed(operation: Operation) -> Cost:
    return Cost(bytes_accessed=operation.leaf_bytes(operation.shape))


def _outfeed(operation: Operation) -> Cost:
    return Cost(bytes_accessed=sum(map(operation.leaf_bytes, operation.operands)))


def _random_bits(operation: Operation) -> Cost:
    return Cost(0, operation.elements, operation.bytes_of_all)


def _call(operation: Operation) -> Cost:
    return operation.callee("to_apply")


def _while(operation: Operation) -> Cost:
    return operation.callee("body") + operation.callee("condition")


def _conditional(operation: Operation) -> Cost:
    names = ("branch_computations", "true_computation", "false_computation")
    branches = [cost for name in names for cost in operation.callees(name)]
    found = branches[0] if branches else NO_COST
    for branch in branches[1:]:
        found = found.maximum(branch)
    return found


def _async_start(operation: Operation) -> Cost:
    return operation.callee("calls")


def _custom_call(_: Operation) -> Cost:
    return Cost(-1, 0, -1)


_FORMULAS: dict[str, Callable[[Operation], Cost]] = {
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "async-start": _async_start,
    "call": _call,
    "cholesky": _cholesky,
    "collective-reduce": _all_reduce,
    "conditional": _conditional,
    "convolution": _convolution,
    "custom-call": _custom_call,
    "dot": _dot,
    "dynamic-slice": _slice_at_index,
    "dynamic-update-slice": _dynamic_update_slice,
    "fft": _fft,
    "gather": _slice_at_index,
    "infeed": _infeed,
    "map": _map,
    "outfeed": _outfeed,
    "ragged-dot": _ragged_dot,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "rng-bit-generator": _random_bits,
    "scaled-dot": _dot,
    "scan": _scan,
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
    "slice": _slice,
    "sort": _sort,
    "transpose": _transpose,
    "triangular-solve": _triangular_solve,
    "tuple": _tuple,
    "while": _while,
}
