"""The cost of a module as XLA's own analysis reports it: logical sizes, each loop once."""

from functools import lru_cache

from hlo_lsp.cost.module_costs import FusionIndex, ModuleCosts
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.model.padded_sizes import logical_bytes
from hlo_lsp.model.shape import ArrayShape, try_shape

_BYTES_PER_DYNAMIC_DIMENSION = 4  # the run-time sizes of a dynamic array, for each dimension


def xla_costs(operands: OperandIndex, fusions: FusionIndex | None = None) -> ModuleCosts:
    """Return the costs of a module by XLA's conventions."""
    return ModuleCosts(operands, _part_size, fusions)


def _part_size(shape: str, _: str | None = None, /) -> int:
    return xla_size(shape)


@lru_cache(maxsize=1 << 13)
def xla_size(text: str) -> int:
    """Return the bytes of an array, or of the table of a tuple (``ShapeSizeBytes`` of a CPU)."""
    shape = try_shape(text)
    if shape is None:
        return 0
    size = logical_bytes(shape) or 0
    if isinstance(shape, ArrayShape) and shape.dynamic:
        size += _BYTES_PER_DYNAMIC_DIMENSION * len(shape.dims)
    return size
