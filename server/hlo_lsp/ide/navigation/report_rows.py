"""The allocations and values that the rows of a memory usage report count.

Since jax 0.9 the report prints no allocation numbers. It has one table for each allocation of a
memory space: the largest first, and of two equal ones the one with the smaller number first. A row
counts the values that begin at one offset. The tables are matched with the buffer assignment of the
compile in this order. A table that does not fit its allocation, because the text was edited, has no
match.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from hlo_lsp.ide.cursor.targets import CursorTarget, TermTarget
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    ListedAllocation,
    ReportedAllocation,
    SpaceLine,
    TableRow,
)


class ReportedRow(NamedTuple):
    """The allocation of a report row, and the values that it counts in allocation order."""

    allocation: LocatedRecord[AllocationLine]
    values: tuple[LocatedRecord[AssignedValue], ...]


def reported_row(dump: DumpSet, file: DumpFile, row: TableRow) -> ReportedRow | None:
    """Return the allocation and the values of a row, or None if they are unknown."""
    number = _allocation_numbers_of_rows(dump).get((file, row))
    allocation = None if number is None else dump.allocation(number)
    if allocation is None:
        return None
    values = (value for value in dump.assigned_to(allocation) if value.offset == row.offset)
    return ReportedRow(allocation, tuple(LocatedRecord(allocation.file, value) for value in values))


def reported_row_at(dump: DumpSet, target: CursorTarget) -> ReportedRow | None:
    """Return the report row at the cursor, unless the cursor is on one of its shapes."""
    if not isinstance(target.record, TableRow) or not isinstance(target.entity, TermTarget):
        return None
    return reported_row(dump, target.place.file, target.record)


def rows_of_value(
    dump: DumpSet, value: LocatedRecord[AssignedValue]
) -> list[LocatedRecord[TableRow]]:
    """Return the report rows that count a value."""
    allocation = dump.allocation_of(value)
    rows = [] if allocation is None else rows_of_allocation(dump, allocation.record.number)
    return [row for row in rows if row.record.offset == value.record.offset]


def rows_of_allocation(dump: DumpSet, number: int) -> list[LocatedRecord[TableRow]]:
    """Return the report rows of an allocation; empty if the report omits it."""
    numbers = _allocation_numbers_of_rows(dump)
    return [LocatedRecord(file, row) for (file, row), found in numbers.items() if found == number]


@query
def _allocation_numbers_of_rows(dump: DumpSet) -> dict[tuple[DumpFile, TableRow], int]:
    counts: dict[int, Counter[int]] = {}
    by_space: dict[int, list[int]] = {}  # the largest allocation last
    by_size = sorted(
        dump.allocations(), key=lambda found: (found.record.size, -found.record.number)
    )
    for allocation in by_size:
        number = allocation.record.number
        counts[number] = Counter(value.offset for value in dump.assigned_to(allocation))
        by_space.setdefault(allocation.record.color or 0, []).append(number)
    found: dict[tuple[DumpFile, TableRow], int] = {}
    for file in dump.files:
        if file.kind is FileKind.REPORT:
            waiting = {space: list(numbers) for space, numbers in by_space.items()}
            for number, table in _tables_with_allocations(file, waiting):
                known = counts.get(number, Counter())
                if all(known[row.offset] == row.value_count for row in table):
                    found.update(((file, row), number) for row in table)
    return found


def _tables_with_allocations(
    file: DumpFile, waiting: dict[int, list[int]]
) -> Iterator[tuple[int, list[TableRow]]]:
    """Yield the tables of a report with the numbers of their allocations.

    ``waiting`` holds the allocations of each memory space, the one of the next table last.
    """
    space: int | None = None
    named: int | None = None
    for is_table, records in groupby(file.records, lambda record: isinstance(record, TableRow)):
        if is_table:
            numbers = [] if space is None else waiting.get(space, [])
            number = named if named is not None else numbers.pop() if numbers else None
            if number is not None:
                yield number, [row for row in records if isinstance(row, TableRow)]
            continue
        for record in records:
            if isinstance(record, SpaceLine):
                space, named = record.color, None
            elif isinstance(record, ReportedAllocation):
                named = None if isinstance(record, ListedAllocation) else record.number
