"""Allocations with their values, as a buffer assignment prints them."""

from dataclasses import dataclass, field
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import Query, Result, query
from hlo_lsp.model.sections import is_joined
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import BrokenRecord


@dataclass(frozen=True, eq=False)
class AllocationBlock:
    """An allocation and the values below it.

    It is the same object as long as none of its lines changes, so that facts about it can be kept
    while other blocks are edited.

    Attributes:
        allocation: first line of the block.
        values: values of the allocation in the order of the file.
        is_whole: whether no line of the block is broken.
    """

    allocation: AllocationLine
    values: tuple[AssignedValue, ...]
    is_whole: bool
    query_results: dict[Query[..., Any], Result] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def end(self) -> int:
        """Return the byte after the last one that a value takes."""
        return max((value.offset + value.size for value in self.values), default=0)


@dataclass(frozen=True, slots=True, eq=False)
class BufferAssignment:
    """All allocations of a compile in the order of the file."""

    file: DumpFile
    blocks: tuple[AllocationBlock, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether all lines are readable and all numbers are there, in order."""
        return all(
            block.is_whole and block.allocation.number == number
            for number, block in enumerate(self.blocks)
        )


def buffer_assignment(dump: DumpSet) -> BufferAssignment:
    """Return the allocations of a compile; none where a file holds two buffer assignments."""
    file = next((file for file in dump.files if len(file.memory.allocations)), dump.files[0])
    return BufferAssignment(file, () if is_joined(file) else tuple(blocks_of(file).values()))


@query(ignores_sizes=True)
def misses_used_values(dump: DumpSet) -> bool:
    """Return whether a used value is in no allocation."""
    assigned = set[int]().union(*(file.memory.assigned.keys for file in dump.files))
    return any(not file.memory.entries.keys <= assigned for file in dump.files)


@query
def blocks_of(file: DumpFile) -> dict[AllocationLine, AllocationBlock]:
    """Return the allocations of a file in order; unchanged blocks stay the same objects."""
    old = blocks_of.last(file) or {}
    found: dict[AllocationLine, tuple[list[AssignedValue], bool]] = {}
    head: AllocationLine | None = None
    for record in file.records:
        checkpoint()
        if head is not None and isinstance(record, BrokenRecord):
            found[head] = found[head][0], False
        if record.is_head:
            head = record if isinstance(record, AllocationLine) else None
            if head is not None:
                found[head] = [], True
        elif head is not None and type(record) is AssignedValue:
            found[head][0].append(record)
    blocks = {}
    for line, (listed, is_whole) in found.items():
        block, known = AllocationBlock(line, tuple(listed), is_whole), old.get(line)
        is_known = known is not None and known.is_whole is is_whole and known.values == block.values
        blocks[line] = known if known is not None and is_known else block
    return blocks


def block_of(allocation: LocatedRecord[AllocationLine]) -> AllocationBlock:
    """Return the block of one allocation."""
    return blocks_of(allocation.file)[allocation.record]
