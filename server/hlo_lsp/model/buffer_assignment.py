"""Allocations with their values, as a buffer assignment prints them."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hlo_lsp.background_jobs import cached_property, checkpoint
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import Query, Result, query
from hlo_lsp.model.sections import is_joined
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import BrokenRecord, UnknownSection


@dataclass(frozen=True, eq=False)
class AllocationBlock:
    """An allocation and the values below it.

    It is the same object as long as none of its lines changes, so that facts about it can be kept
    while other blocks are edited. A block that replaces it has its results, which are outdated, so
    that a query can update the last one.

    Attributes:
        allocation: first line of the block.
        values: values of the allocation in the order of the file.
        is_whole: whether no line of the block is broken.
    """

    allocation: AllocationLine
    values: tuple[AssignedValue, ...]
    is_whole: bool
    query_results: dict[Query[..., Any], Result] = field(default_factory=dict, repr=False)

    @cached_property
    def end(self) -> int:
        """The byte after the last one that a value occupies."""
        return max((value.offset + value.size for value in self.values), default=0)


class BufferAssignment(NamedTuple):
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


def buffer_assignment(dump: Compile) -> BufferAssignment:
    """Return the allocations of a compile; none where a file holds two buffer assignments."""
    file = dump.allocations_file or dump.files[0]
    return BufferAssignment(file, () if is_joined(file) else tuple(blocks_of(file).values()))


@query(ignores_sizes=True)
def misses_used_values(dump: Compile) -> bool:
    """Return whether a used value is in no allocation."""
    assigned = set[int]().union(*(file.memory.assigned.keys for file in dump.files))
    return any(not file.memory.entries.keys <= assigned for file in dump.files)


@query
def blocks_of(file: DumpFile) -> dict[AllocationLine, AllocationBlock]:
    """Return the allocations of a file in order; unchanged blocks stay the same objects."""
    old = blocks_of.last(file) or {}
    found: dict[AllocationLine, list[AssignedValue]] = {}
    damaged: set[AllocationLine] = set()
    head: AllocationLine | None = None
    values: list[AssignedValue] = []  # of the head
    for record in file.records:
        checkpoint()
        if type(record) is AssignedValue:
            values.append(record)
            continue
        if head is not None and isinstance(record, BrokenRecord | UnknownSection):
            damaged.add(head)
        if record.is_head:
            head, values = None, []
            if isinstance(record, AllocationLine):
                head = record
                found[head] = values
    blocks: dict[AllocationLine, AllocationBlock] = {}
    for line, listed in found.items():
        now, is_whole = tuple(listed), line not in damaged
        block = old.get(line)
        if block is None:
            block = AllocationBlock(line, now, is_whole)
        elif block.values != now or block.is_whole is not is_whole:
            block = AllocationBlock(line, now, is_whole, block.query_results)
        blocks[line] = block
    return blocks


def block_of(allocation: LocatedRecord[AllocationLine]) -> AllocationBlock:
    """Return the block of one allocation."""
    return blocks_of(allocation.file)[allocation.record]
