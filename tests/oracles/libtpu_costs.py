"""The cost of modules as ``compiled.cost_analysis()`` of libtpu counts it.

It has the rules of ``ExecutedCosts``, except where libtpu counts something that does not run.
"""

from hlo_lsp.cost.executed import ExecutedCosts
from hlo_lsp.cost.formulas import cost_of
from hlo_lsp.cost.indexed_slices import window_sizes
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import Cost, Operation
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.padded_sizes import Target, sizes_of_text
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.module_records import InstructionLine

_ELEMENTS_PER_TILE, _ROWS_PER_TILE = 1024, 8
_FLAG_LAYOUT, _FLAG_SPACE = "{:S(2)}", "S(2)"


class AsynchronousTwice(ExecutedCosts):
    """Costs that count each half of an asynchronous operation, and 64-bit conversions as -1."""

    _counts_users = True

    def _cost_of_part(self, _instruction: InstructionLine) -> None:
        return None

    def _call_cost(self, instruction: InstructionLine) -> Cost:
        operation = self.operation(instruction)
        if operation.attribute("custom_call_target").startswith('"X64'):
            return cost_of(operation)
        return super()._call_cost(instruction)


class LibtpuCosts(AsynchronousTwice):
    """Costs that also count whole tiles for each index, for the padding of the result too."""

    def _indexed_cost(self, moving: InstructionLine, _fusion: InstructionLine) -> Cost:
        operation = self.operation(moving)
        if operation.opcode == "gather":
            moved = operation.size_of(operation.shape)
            tiles = _tiles(operation, operation.numbers("slice_sizes"))
        else:
            count = len(operation.operands) // 2
            updates = operation.operands[count + 1 :]
            moved = 2 * sum(map(operation.size_of, updates))
            tiles = _tiles(operation, window_sizes(operation, operation.operand(0), updates[0]))
        cost = cost_of(operation)
        return cost.with_bytes(cost.bytes_accessed + (tiles - 1) * moved)


def _tiles(operation: Operation, sizes: list[int]) -> int:
    """Return how often the size of a slice fits into the tiles of 8 x 128 elements it is in."""
    array = try_shape(operation.operand(0))
    assert isinstance(array, ArrayShape)
    assert array.layout is not None
    minor = [sizes[dim] for dim in array.layout.minor_to_major[:2]]
    if all(size == 1 for size in minor):
        return _ELEMENTS_PER_TILE
    return _ROWS_PER_TILE if minor[1:] == [1] else 1


def costs_of(module: ModuleIndex, kind: type[ExecutedCosts], granule: int) -> Cost:
    """Return the cost of a module for a TPU whose tables of tuples have this granule in bytes.

    The flag of an asynchronous operation is a semaphore of 4 bytes, which libtpu counts as an
    array of its layout.
    """
    target = Target(Backend.TPU, granule)

    def size_of(shape: str, _: str | None = None, /) -> int:
        shape = shape.replace(_FLAG_LAYOUT, "").replace(_FLAG_SPACE, "")
        return sizes_of_text(shape, target).bytes or 0

    return kind(OperandIndex(module), size_of).total
