"""The bytes that recomputing activations saves: all but the inputs of layers, and one layer."""

from collections import Counter
from collections.abc import Iterable

from hlo_lsp.memory.grouping import OwnedBuffer
from hlo_lsp.model.shape import ArrayShape, try_shape, without_memory_space

_MIN_INPUT_SHARE = 0.05  # of all activations; smaller arrays are not inputs of layers
_LIVE_SHARE_OF_LAYER = 0.5  # of a layer that is computed again, at its peak


def rematerialization_saving(activations: Iterable[OwnedBuffer]) -> int:
    """Return the bytes that ``jax.checkpoint`` around each layer saves at a peak.

    The activations of the layers of a network have the same operations and shapes. A loop stacks
    them along the first dimension. The input of each layer is kept: the smallest of its large
    activations. While a layer runs backward, part of its activations exists again. The saving is 0
    if there is only one layer.
    """
    layers: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    units: Counter[tuple[str, str]] = Counter()  # bytes of one layer
    for owned in activations:
        value, origin = owned.buffer.value, owned.origin
        if value is None or origin is None:
            continue
        key = origin.op_name or "", without_memory_space(value.record.shape)
        stacked = _stacked_layers(key)
        layers[key] = max(stacked, layers[key]) if stacked > 1 else layers[key] + 1
        sizes[key] += owned.buffer.bytes
        units[key] = owned.buffer.bytes // stacked
    total = sum(sizes.values())
    large = [key for key, size in sizes.items() if size >= _MIN_INPUT_SHARE * total]
    count = max((layers[key] for key in large), default=0)
    if count < 2:
        return 0
    inputs = min(units[key] for key in large if 2 * layers[key] >= count) * count
    return max(0, int(total - inputs - _LIVE_SHARE_OF_LAYER * total / count))


def _stacked_layers(key: tuple[str, str]) -> int:
    """Return the number of layers that a loop stacked in an array."""
    op_name, text = key
    shape = try_shape(text)
    if "/while/" not in op_name or "dynamic_update_slice" not in op_name:
        return 1
    if not isinstance(shape, ArrayShape) or not shape.dims:
        return 1
    return shape.dims[0].size or 1
