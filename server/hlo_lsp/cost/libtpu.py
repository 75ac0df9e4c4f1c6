"""The cost of a TPU program as ``compiled.cost_analysis()`` of libtpu reports it.

Its conventions are those of a program that runs, except where libtpu counts something that does not
move or run (libtpu 0.0.51 and 0.0.52, compared in ``tests/oracles/test_libtpu_cost.py``).
"""

from hlo_lsp.cost.formulas import cost_of
from hlo_lsp.cost.indexed_slices import window_sizes
from hlo_lsp.cost.module_costs import FusionIndex
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import Cost, Operation, SizeOf
from hlo_lsp.cost.physical_costs import PhysicalCosts
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.module_records import InstructionLine

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
    """Costs with each loop once, and with both halves of asynchronous operations.

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
            tiles = _tiles(operation, window_sizes(operation, operation.operand(0), update))
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
