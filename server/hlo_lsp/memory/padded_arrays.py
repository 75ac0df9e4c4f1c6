"""Arrays whose padded size is a multiple of their logical size."""

from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.buffer_assignment import block_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import PaddedSize, Target, array_bytes, padded_size_of_text
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import without_memory_space
from hlo_lsp.syntax.memory_records import AssignedValue


@dataclass(frozen=True, slots=True)
class PaddedArrays:
    """Values of one padded shape.

    Attributes:
        places: Number of distinct allocation offsets.
    """

    value: LocatedRecord[AssignedValue]
    logical: int
    padded: PaddedSize
    values: int
    places: int

    @property
    def wasted(self) -> int:
        """Bytes of padding at all offsets."""
        return (self.padded.bytes - self.logical) * self.places


def padded_arrays(dump: Compile, target: Target, ratio: float, least: int) -> list[PaddedArrays]:
    """Return shapes with at least a ratio of padded to logical size, most wasted bytes first.

    Shapes that differ only in the memory space are one group. Values below ``least`` bytes, and
    those whose size does not follow from their shape, are skipped.
    """
    found: dict[str, tuple[LocatedRecord[AssignedValue], int, PaddedSize]] = {}
    values: dict[str, int] = {}
    places: dict[str, set[tuple[int, int]]] = {}
    for allocation in dump.allocations():
        checkpoint()
        for value in block_of(allocation).values:
            if value.size < least:
                continue
            checkpoint()
            logical = array_bytes(value.shape)
            if not logical or value.size < ratio * logical:
                continue
            padded = padded_size_of_text(value.shape, target, value.color or 0)
            if padded is None or not padded.padding or padded.bytes != value.size:
                continue
            key = without_memory_space(value.shape)
            found.setdefault(key, (LocatedRecord(allocation.file, value), logical, padded))
            values[key] = values.get(key, 0) + 1
            places.setdefault(key, set()).add((allocation.record.number, value.offset))
    groups = [
        PaddedArrays(value, logical, padded, values[key], len(places[key]))
        for key, (value, logical, padded) in found.items()
    ]
    return sorted(groups, key=lambda group: (-group.wasted, group.value.record.id))
