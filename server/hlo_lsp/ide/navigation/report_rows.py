"""The allocations and values that the rows of a memory usage report count.

Since jax 0.9 the report prints no allocation numbers. It has one table for each allocation of a
memory space: the largest first, and of two equal ones the one with the smaller number first. A row
counts the values that begin at one offset. The tables are matched with the buffer assignment of the
compile in this order (formats.md 9); a table that does not fit its allocation, because the text was
edited, is left unmatched.
"""

from collections import Counter
from dataclasses import dataclass

from hlo_lsp.ide.cursor.targets import CursorTarget, TermTarget
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query import query
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    ListedAllocation,
    ReportedAllocation,
    SpaceLine,
    TableRow,
)


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """The allocation of a report row, and the values that it counts in allocation order."""

    allocation: LocatedRecord[AllocationLine]
    values: tuple[LocatedRecord[AssignedValue], ...]


def reported_row(dump: DumpSet, file: DumpFile, row: TableRow) -> ReportedRow | None:
    """Return the allocation and the values of a row, or None if they are unknown."""
    numbers = _allocation_numbers_of_rows(dump)
    number = numbers.get((file, row))
    allocation = None if number is None else dump.allocation(number)
    if allocation is None:
        return None
    values = tuple(
        LocatedRecord(allocation.file, value)
        for value in dump.assigned_to(allocation)
        if value.offset == row.offset
    )
    return ReportedRow(allocation, values)


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
    if allocation is None:
        return []
    rows = rows_of_allocation(dump, allocation.record.number)
    return [row for row in rows if row.record.offset == value.record.offset]


def rows_of_allocation(dump: DumpSet, number: int) -> list[LocatedRecord[TableRow]]:
    """Return the report rows of an allocation; empty if the report omits it."""
    numbers = _allocation_numbers_of_rows(dump)
    return [LocatedRecord(file, row) for (file, row), found in numbers.items() if found == number]


@query
def _allocation_numbers_of_rows(dump: DumpSet) -> dict[tuple[DumpFile, TableRow], int]:
    """Return the allocation number of each row."""
    counts: dict[int, Counter[int]] = {}
    waiting: dict[int, list[int]] = {}  # by memory space; the allocation of the next table is last
    by_size = sorted(
        dump.allocations(), key=lambda found: (found.record.size, -found.record.number)
    )
    for allocation in by_size:
        number = allocation.record.number
        counts[number] = Counter(value.offset for value in dump.assigned_to(allocation))
        waiting.setdefault(allocation.record.color or 0, []).append(number)
    found: dict[tuple[DumpFile, TableRow], int] = {}
    for file in dump.files:
        if file.kind is FileKind.REPORT:
            for number, table in _tables_with_allocations(
                file, {space: list(of) for space, of in waiting.items()}
            ):
                known = counts.get(number, Counter())
                if all(known[row.offset] == row.value_count for row in table):
                    found.update(((file, row), number) for row in table)
    return found


def _tables_with_allocations(
    file: DumpFile, waiting: dict[int, list[int]]
) -> list[tuple[int, list[TableRow]]]:
    """Return the tables of a report with the numbers of their allocations."""
    tables: list[tuple[int, list[TableRow]]] = []
    space: int | None = None
    named: int | None = None
    begins = True  # True if the next row is the first of its table.
    for record in file.records:
        if isinstance(record, SpaceLine):
            space, named = record.color, None
        elif isinstance(record, ReportedAllocation):
            named = None if isinstance(record, ListedAllocation) else record.number
        elif isinstance(record, TableRow):
            if begins:
                number = _next_allocation(named, space, waiting)
                if number is None:
                    continue
                tables.append((number, []))
                begins = False
            tables[-1][1].append(record)
            continue
        begins = True
    return tables


def _next_allocation(
    named: int | None, space: int | None, waiting: dict[int, list[int]]
) -> int | None:
    if named is not None:
        return named
    numbers = [] if space is None else waiting.get(space, [])
    return numbers.pop() if numbers else None
