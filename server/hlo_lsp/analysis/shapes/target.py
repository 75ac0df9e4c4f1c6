"""The target that the sizes of a dump follow."""

from collections import Counter

from hlo_lsp.analysis.shapes.sizes import Target, tuple_granule
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.shape import element_texts


def target_of(dump: DumpSet) -> Target:
    """Backend and tuple granule, remembered until an allocation or value changes."""
    holders = [file for file in dump.files if len(file.memory.assigned)]
    return dump.derived(_compute, holders)


def _compute(dump: DumpSet) -> Target:
    backend = dump.backend
    if backend is not Backend.TPU:
        return Target(backend)
    sizes: Counter[tuple[int, int]] = Counter()
    for file in dump.files:
        for (text, size), count in file.memory.tuple_sizes.items():
            elements = element_texts(text)
            if elements is not None:
                sizes[len(elements), size] += count
    return Target(backend, tuple_granule(sizes))
