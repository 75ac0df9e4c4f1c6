"""Whether a buffer assignment contradicts itself, so that nothing should be made of it.

Each contradiction has a rule of its own; what follows from the assignment is not to be accused
of it a second time.
"""

from collections.abc import Iterable

from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.shape import leaf_text
from hlo_lsp.model.sizes import Target, padded_size_of_text
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, TotalLine

_SEPARATE_TEMP = 2  # on GPU temps get this color while their values keep theirs


def doubts_assignment(dump: DumpSet) -> bool:
    """Whether allocations or values are missing, there twice, or not in their memory space."""
    allocations = list(dump.allocations())
    numbers = [found.record.number for found in allocations]
    printed = sum(1 for file in dump.files for _ in file.memory.allocations.records())
    if numbers != list(range(len(numbers))) or printed != len(numbers):
        return True
    total = sum(found.record.size for found in allocations)
    for file in dump.files:
        label = file.memory.label(TotalLine)
        if label is not None and label.total != total and file.kind is not FileKind.REPORT:
            return True
    assigned = {value_id for file in dump.files for value_id in file.memory.assigned}
    entries = {value_id for file in dump.files for value_id in file.memory.entries}
    count = sum(1 for file in dump.files for _ in file.memory.assigned.records())
    if count != len(assigned) or (entries and entries != assigned):
        return True
    return any(_contradicts_itself(dump, found) for found in allocations)


def doubts_allocation(
    dump: DumpSet, allocation: LocatedRecord[AllocationLine], target: Target
) -> bool:
    """Whether a value does not fit its shape, or the entry of its id."""
    for value in dump.assigned_to(allocation):
        padded = padded_size_of_text(value.shape, target, value.color or 0)
        if padded is not None and padded.exact and padded.bytes != value.size:
            return True
        entry = dump.find(lambda index: index.entries, value.id)
        if entry is not None and entry.record.key != value.key:
            return True
    return False


def doubts_shapes(dump: DumpSet, values: Iterable[AssignedValue]) -> bool:
    """Whether a shape is not the one that the value's instruction defines."""
    for value in values:
        text = dump.text_of(value.name)
        defined = None if text is None else leaf_text(text.shape.text, value.index)
        if defined is not None and defined != value.shape:
            return True
    return False


def _contradicts_itself(dump: DumpSet, allocation: LocatedRecord[AllocationLine]) -> bool:
    """Whether size or memory space of an allocation do not fit its values."""
    record, end = allocation.record, 0
    separate = record.preallocated_temp and record.color == _SEPARATE_TEMP
    separate = separate and dump.backend is not Backend.TPU
    for value in dump.assigned_to(allocation):
        if value.color is not None and value.color != record.color and not separate:
            return True
        end = max(end, value.offset + value.size)
    return end > record.size or (not record.preallocated_temp and end != record.size)
