"""Which allocation a table of the memory usage report is about, and which values a row counts.

Since jax 0.9 the report prints no allocation numbers. There is one table for each allocation of a
memory space, the largest first, of two alike the one with the smaller number; a row stands for the
values that begin at one offset. So a report is told from the buffer assignment beside it, byte for
byte (formats.md 9); a table that does not fit its allocation, in an edited text, means none.
"""

from collections import Counter
from dataclasses import dataclass

from hlo_lsp.ide.cursor.targets import CursorTarget, TermTarget
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
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
    """What a row counts: ``values`` in the order in which they stand in the allocation."""

    allocation: LocatedRecord[AllocationLine]
    values: tuple[LocatedRecord[AssignedValue], ...]


def reported_row(dump: DumpSet, file: DumpFile, row: TableRow) -> ReportedRow | None:
    """The allocation and the values of a row, or None where the compile does not say it."""
    numbers = dump.derived(_allocations_of_rows, dump.files)
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


def reported_row_at(dump: DumpSet, found: CursorTarget) -> ReportedRow | None:
    """What the row counts that the cursor is on, if it is on one and on none of its shapes."""
    if not isinstance(found.record, TableRow) or not isinstance(found.subject, TermTarget):
        return None
    return reported_row(dump, found.place.file, found.record)


def rows_of_value(
    dump: DumpSet, value: LocatedRecord[AssignedValue]
) -> list[LocatedRecord[TableRow]]:
    """The rows that count a value."""
    allocation = dump.allocation_of(value)
    if allocation is None:
        return []
    rows = rows_of_allocation(dump, allocation.record.number)
    return [row for row in rows if row.record.offset == value.record.offset]


def rows_of_allocation(dump: DumpSet, number: int) -> list[LocatedRecord[TableRow]]:
    """The rows of the table of an allocation, in order; it may be left out of the report."""
    numbers = dump.derived(_allocations_of_rows, dump.files)
    return [LocatedRecord(file, row) for (file, row), found in numbers.items() if found == number]


def _allocations_of_rows(dump: DumpSet) -> dict[tuple[DumpFile, TableRow], int]:
    """The number of the allocation of each row."""
    counts: dict[int, Counter[int]] = {}
    waiting: dict[int, list[int]] = {}  # by memory space, the one whose table comes next at the end
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
            for number, table in _tables(file, {space: list(of) for space, of in waiting.items()}):
                known = counts.get(number, Counter())
                if all(known[row.offset] == row.value_count for row in table):
                    found.update(((file, row), number) for row in table)
    return found


def _tables(file: DumpFile, waiting: dict[int, list[int]]) -> list[tuple[int, list[TableRow]]]:
    """The tables of a report with the allocations that they are about, by name or by their turn."""
    tables: list[tuple[int, list[TableRow]]] = []
    space: int | None = None
    named: int | None = None
    begins = True  # whether the next row is the first of its table
    for record in file.records:
        if isinstance(record, SpaceLine):
            space, named = record.color, None
        elif isinstance(record, ReportedAllocation):
            named = None if isinstance(record, ListedAllocation) else record.number
        elif isinstance(record, TableRow):
            if begins:
                number = _next(named, space, waiting)
                if number is None:
                    continue
                tables.append((number, []))
                begins = False
            tables[-1][1].append(record)
            continue
        begins = True
    return tables


def _next(named: int | None, space: int | None, waiting: dict[int, list[int]]) -> int | None:
    if named is not None:
        return named
    numbers = [] if space is None else waiting.get(space, [])
    return numbers.pop() if numbers else None
