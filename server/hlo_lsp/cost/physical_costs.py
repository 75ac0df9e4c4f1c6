"""The costs of instructions with physical sizes, and library calls by name.

The two halves of an asynchronous operation count once, at its start. ``LibtpuCosts`` counts as
``compiled.cost_analysis()`` of libtpu does.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import prod

from hlo_lsp.cost.formulas import convolution_flops, cost_of, dot_flops
from hlo_lsp.cost.matrix_products import MatrixProduct, matrix_product
from hlo_lsp.cost.module_costs import FusionIndex, ModuleCosts
from hlo_lsp.cost.operation import (
    NO_COST,
    Cost,
    OperandIndex,
    Operation,
    SizeOf,
    dimensions,
    element_count,
    leaf_texts,
)
from hlo_lsp.hlo.dataflow import callees_first, started_element
from hlo_lsp.hlo.vocabulary import INDEXED_OPCODES, PRODUCT_OPCODES
from hlo_lsp.model.backend import Backend, is_on_chip
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.shape import ArrayShape, Layout, element_texts, try_shape
from hlo_lsp.program.transfers import fused_collective
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

# Custom calls that mark a place for the compiler, or that name a buffer.
_MARKERS = frozenset(
    {
        *("AllocateBuffer", "AssumeGatherIndicesInBound", "ConcatBitcast"),
        *("AsyncCollectiveDone", "AsyncCollectiveStart", "GatherScatterIndicesBitpacked"),
        *("PrepareAsyncCallDone", "PrepareAsyncCallStart"),
        *("SPMDFullToShardShape", "SPMDShardToFullShape", "Sharding"),
        *("annotate_device_placement", "xla.sdy.FuncResultSharding"),
        *("xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"),
    }
)
# Custom calls that only move data.
_MOVES = frozenset({"MoveToDevice", "MoveToHost", "X64Combine", "X64SplitHigh", "X64SplitLow"})
_TOP_K = "TopK"
_GEMMS = ("__cublas$gemm", "__cublas$lt$matmul")
_CONVOLUTIONS = "__cudnn$conv"
_BACKWARD_INPUT, _BACKWARD_FILTER = "__cudnn$convBackwardInput", "__cudnn$convBackwardFilter"
_CONTRACTING = re.compile(r'"lhs_contracting_dimensions":\[([^\]]*)\]')
_ESTIMATE = re.compile(r'"cost_estimate":\{([^{}]*)\}')
_ESTIMATED = re.compile(r'"(\w+)":"?(\d{1,19})\b')
_NUMBER = re.compile(r"\d{1,9}")


def library_call_cost(operation: Operation) -> Cost | None:
    """Return the cost of a custom call, or None if it is unknown."""
    target = operation.attribute("custom_call_target").strip('"')
    if target in _MARKERS:
        return NO_COST
    if target in _MOVES:
        return Cost(bytes_accessed=operation.bytes_of_all)
    if target == _TOP_K:
        return _top_k_cost(operation)
    if target.startswith(_GEMMS):
        return _with_traffic(operation, _gemm_flops)
    if target.startswith(_CONVOLUTIONS):
        return _with_traffic(operation, lambda operation: _convolution_flops(operation, target))
    return _estimated_cost(operation.attribute("backend_config"))


def _top_k_cost(operation: Operation) -> Cost:
    """Return the cost of a TopK, which compares each element with k others as libtpu counts."""
    count = next(reversed(dimensions(_result(operation))), 1)
    return Cost(element_count(operation.operand(0)) * count, 0, operation.bytes_of_all)


def _with_traffic(operation: Operation, flops_of: Callable[[Operation], int | None]) -> Cost | None:
    """Return a cost with the bytes of the operands and of the result, without the workspace."""
    flops = flops_of(operation)
    if flops is None:
        return None
    read = sum(map(operation.size_of, operation.operands))
    return Cost(flops, 0, read + operation.size_of(_result(operation)))


def _result(operation: Operation) -> str:
    """Return the shape of the result; the other elements of the tuple are workspaces."""
    return next(iter(leaf_texts(operation.shape)), "")


def _gemm_flops(operation: Operation) -> int | None:
    match = _CONTRACTING.search(operation.attribute("backend_config"))
    if match is None:
        return None
    contracting = list(map(int, _NUMBER.findall(match[1])))
    return dot_flops(operation.operand(0), _result(operation), contracting)


def _convolution_flops(operation: Operation, target: str) -> int | None:
    """Return the FLOPs of a convolution; its window and labels are those of the forward pass."""
    result, first, second = _result(operation), operation.operand(0), operation.operand(1)
    shapes = {
        _BACKWARD_INPUT: (result, second, first),
        _BACKWARD_FILTER: (first, result, second),
    }.get(target, (first, second, result))
    return convolution_flops(operation, *shapes) or None


def _estimated_cost(config: str) -> Cost | None:
    """Return the ``cost_estimate`` of a kernel, which its author gives."""
    match = _ESTIMATE.search(config)
    if match is None:
        return None
    found = {name: int(number) for name, number in _ESTIMATED.findall(match[1])}
    return Cost(*(found.get(name, 0) for name in ("flops", "transcendentals", "bytes_accessed")))


_DIMENSIONS = re.compile(r"\[[^\[\]]*\]")
_TILES = re.compile(r"T\(\d+,(\d+)\)(?:\((\d+),1\))?")


def _tiled_cost(operation: Operation, result: str) -> Cost:
    """Return the cost of a gather or a scatter in arrays with tiles, as those of a TPU.

    Each index moves its slice alone, and no less than the layout allows. The transfers in the code
    that libtpu generates (0.0.51 and 0.0.52, ``--xla_jf_dump_llo_text``) have these sizes:

    - A scatter reads and writes all tiles of a slice: 16 KiB for a row of 512 numbers of 32 bits
      in ``T(8,128)``. An array that fits is copied to on-chip memory first, and back.
    - A gather reads a row in words of 32 bits: 2 KiB for the same row, and 2 KiB for a row of 512
      numbers of 16 bits, because each word has numbers of two rows.
    - A gather of single elements reads a tile for each.

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
        sizes = _window_sizes(operation, target, update)
        moved = _count(update, sizes) * operation.size_of(_part(target, sizes), target)
        if not _is_on_chip(target):  # A target that fits moves as a whole.
            moved = min(moved, operation.size_of(target))
        size += operation.size_of(update) + 2 * moved
    return size


def _window_sizes(operation: Operation, target: str, update: str) -> list[int]:
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


_ENDS = ("-done", "-update")
_NO_CODE = frozenset({"opt-barrier", "tuple"})
_STARTS = ("all-gather-start", "collective-permute-start", "copy-start")
# The element of the result that has the data; that of `send` is a token.
_RESULT_ELEMENTS = {
    **{opcode: started_element(opcode) or 0 for opcode in _STARTS},
    "recv": 0,
    "send": 2,
}
_FUSED_RESULT_ELEMENT = 1  # of a fusion that starts a collective
_ALIAS = re.compile(r"\{(\d{1,9})\}: \((\d{1,9}), \{\}")


class PhysicalCosts(ModuleCosts):
    """The costs of instructions without those of the computations that are in the schedule."""

    _counts_users = False

    def __init__(
        self, operands: OperandIndex, size_of: SizeOf, fusions: FusionIndex | None = None
    ) -> None:
        super().__init__(operands, size_of, fusions)
        self.unknown_calls: dict[InstructionLine, str] = {}
        self._has_custom_call: dict[ComputationLine, bool] = {}
        self._products: dict[ComputationLine, Sequence[MatrixProduct]] = {}

    def _cost(self, instruction: InstructionLine) -> Cost:
        cost = self._cost_of_part(instruction)
        if cost is not None:
            return cost
        opcode = instruction.opcode
        if opcode in INDEXED_OPCODES:
            return self._indexed_cost(instruction, instruction)
        if opcode != "custom-call":
            return super()._cost(instruction)
        return self._call_cost(instruction)

    def _cost_of_part(self, instruction: InstructionLine) -> Cost | None:
        """Return the cost of a part of an asynchronous operation, which counts at its start.

        None means another instruction.
        """
        opcode = instruction.opcode
        if opcode.endswith(_ENDS) or opcode in _NO_CODE:
            return NO_COST
        if opcode in _RESULT_ELEMENTS:
            return self._cost_by_shapes(instruction, self._start_cost)
        part, collective = fused_collective(self.module, instruction) or ("", instruction)
        if part == "Start":
            return self.of(collective).with_bytes(self._start_cost(instruction).bytes_accessed)
        return NO_COST if part else None

    def _call_cost(self, instruction: InstructionLine) -> Cost:
        operation = self.operation(instruction)
        cost = library_call_cost(operation)
        if cost is None:
            target = operation.attribute("custom_call_target").strip('"')
            self.unknown_calls[instruction] = target
        return cost or NO_COST

    def _indexed_cost(self, moving: InstructionLine, fusion: InstructionLine) -> Cost:
        return _tiled_cost(self.operation(moving), fusion.shape)

    def _aliases(self, fusion: InstructionLine) -> tuple[tuple[int, int], ...]:
        aliasing = fusion.attribute("output_to_operand_aliasing")
        pairs = () if aliasing is None else _ALIAS.findall(aliasing.text)
        return tuple((int(element), int(number)) for element, number in pairs)

    def _fused_arithmetic(self, body: Computation) -> Cost:
        if self._contains_custom_call(body.head):
            return self.of_computation(body.head)
        return super()._fused_arithmetic(body)

    def _contains_custom_call(self, head: ComputationLine) -> bool:
        """Return whether a fused computation, or a fusion inside of it, has a custom call."""
        calls = self._has_custom_call
        if head not in calls:
            for callee in callees_first(head, self._fused_in, calls.__contains__):
                opcodes = (member.opcode for member in self.module.members(callee))
                calls[callee] = "custom-call" in opcodes or any(
                    calls.get(fused, False) for fused in self._fused_in(callee)
                )
        return calls[head]

    def _fused_in(self, head: ComputationLine) -> Iterator[ComputationLine]:
        """Yield the computations of the fusions in a computation."""
        for member in self.module.members(head):
            if member.opcode == "fusion":
                yield from self.operands.called_by(member)

    def _start_cost(self, instruction: InstructionLine) -> Cost:
        """Return the bytes that an operation reads, and those of one element of its result."""
        element = _RESULT_ELEMENTS.get(instruction.opcode, _FUSED_RESULT_ELEMENT)
        results = (element_texts(instruction.shape) or ())[element : element + 1]
        operation = self.operation(instruction)
        shapes = (*operation.operands, *results)
        return Cost(bytes_accessed=sum(map(operation.leaf_bytes, shapes)))

    def products(self, instruction: InstructionLine) -> Iterator[MatrixProduct]:
        """Yield the matrix products in an instruction or in its fusion."""
        if instruction.opcode in PRODUCT_OPCODES:
            product = matrix_product(self.operation(instruction))
            if product is not None:
                yield product
        elif instruction.opcode == "fusion":
            for computation in self.operands.called_by(instruction):
                yield from self._products_in(computation)

    def _products_in(self, head: ComputationLine) -> Sequence[MatrixProduct]:
        products = self._products
        if head not in products:
            order = [*callees_first(head, self._fused_in, products.__contains__)]
            products.update(dict.fromkeys(order, ()))  # for damaged texts that call themselves
            for callee in order:
                body = self.module.computation(callee)
                if self._fusions.arithmetic(body).flops:
                    products[callee] = [*chain.from_iterable(map(self.products, body.members))]
        return products[head]

    def unknown_in(self, instruction: InstructionLine) -> list[str]:
        """Return the targets of the unknown custom calls in an instruction or its fusion."""
        if instruction in self.unknown_calls:
            return [self.unknown_calls[instruction]]
        if not self.unknown_calls or instruction.opcode != "fusion":
            return []
        return [
            self.unknown_calls[member]
            for computation in self.operands.called_by(instruction)
            for member in self.module.members(computation)
            if member in self.unknown_calls
        ]


_ELEMENTS_PER_TILE, _ROWS_PER_TILE = 1024, 8
# The flag of an asynchronous operation is a semaphore, which counts as an array of 4 bytes.
_FLAG_LAYOUT, _FLAG_SPACE = "{:S(2)}", "S(2)"


def libtpu_costs(
    operands: OperandIndex, size_of: SizeOf, fusions: FusionIndex | None = None
) -> "LibtpuCosts":
    """Return the costs of a module by the conventions of libtpu.

    Args:
        operands: The operands of the instructions of the module.
        size_of: Returns the bytes of an array in memory.
        fusions: The fusions of the module, to share them with costs of other sizes.
    """

    def size_with_flags(shape: str, array: str | None = None, /) -> int:
        return size_of(shape.replace(_FLAG_LAYOUT, "").replace(_FLAG_SPACE, ""), array)

    return LibtpuCosts(operands, size_with_flags, fusions)


class LibtpuCosts(PhysicalCosts):
    """The cost of a TPU program as ``compiled.cost_analysis()`` of libtpu reports it.

    Each loop counts once, and both halves of asynchronous operations count. The conventions are
    those of a program that runs, except where libtpu counts something that does not move or run
    (libtpu 0.0.51 and 0.0.52, compared in ``tests/oracles/test_libtpu_cost.py``).

    Conversions of 64-bit numbers are custom calls of unknown cost, -1. For each index of a gather
    or a scatter, all tiles count that the slice is in, also for the padding of the result.
    """

    _counts_users = True

    def _cost_of_part(self, _instruction: InstructionLine) -> None:
        return None

    def _call_cost(self, instruction: InstructionLine) -> Cost:
        operation = self.operation(instruction)
        if operation.attribute("custom_call_target").startswith('"X64'):
            return cost_of(operation)
        return super()._call_cost(instruction)

    def _indexed_cost(self, moving: InstructionLine, _fusion: InstructionLine) -> Cost:
        operation = self.operation(moving)
        if operation.opcode == "gather":
            moved = operation.size_of(operation.shape)
            tiles = _tiles(operation, operation.numbers("slice_sizes"))
        else:
            count = len(operation.operands) // 2
            updates = operation.operands[count + 1 :]
            moved = 2 * sum(map(operation.size_of, updates))
            update = operation.operand(count + 1)
            tiles = _tiles(operation, _window_sizes(operation, operation.operand(0), update))
        cost = cost_of(operation)
        return cost.with_bytes(cost.bytes_accessed + (tiles - 1) * moved)


def _tiles(operation: Operation, sizes: list[int]) -> int:
    """Return how often the size of a slice fits into the tiles of 8 x 128 elements it is in."""
    array = try_shape(operation.operand(0))
    layout = array.layout if isinstance(array, ArrayShape) else None
    order = () if layout is None else layout.minor_to_major[:2]
    minor = [sizes[dim] for dim in order if dim < len(sizes)]
    if minor and all(size == 1 for size in minor):
        return _ELEMENTS_PER_TILE
    return _ROWS_PER_TILE if minor[1:] == [1] else 1
