"""The memory usage report as XLA computes it from the buffer assignment, and what its rows count.

There are two generations of it: a section for each memory space (jaxlib from 0.9.2, libtpu from
0.0.40), and before that a list of all allocations followed by the table of each
(``BufferAssignment::MemoryUsageReport`` and ``BufferAllocation::MemoryUsageReport`` in
buffer_assignment.cc).

The newer one prints no allocation numbers. It has one table for each allocation of a memory space:
the largest first, and of two equal ones the one with the smaller number first. A row counts the
values that begin at one offset. The tables of a printed report are matched with the buffer
assignment in this order. A table that does not fit its allocation, because the text was edited, has
no match.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, groupby
from typing import NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.backend import report_space_name
from hlo_lsp.model.buffer_assignment import AllocationBlock, block_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    ListedAllocation,
    ReportedAllocation,
    SpaceLine,
    TableRow,
    TotalLine,
)
from hlo_lsp.syntax.records import BlankLine, Label, Record
from hlo_lsp.text.amounts import format_bytes_as_xla as xla_size

_TABLE = "cumulative_size;       size;       offset; used_by_n_values; shapes_list"
_LIST = "cumulative_size; total_size - cumulative_size; allocation"
_LAYOUT = re.compile(r"\{[^{}]*\}")
_MIN_ROWS = 50  # after more rows than these the rest is left out once it is small


@dataclass(frozen=True, slots=True)
class TableSlot:
    """The values at one offset of an allocation, by id: a row of its table.

    Attributes:
        size: bytes of the largest value.
        printed_shapes: what the row of a report lists, if it is known and has the same shapes.
    """

    offset: int
    size: int
    values: Sequence[AssignedValue]
    printed_shapes: str | None = None

    @property
    def shapes(self) -> str:
        """The shapes without layouts, each once with its number, as the row lists them."""
        return ", ".join(self.terms) if self.printed_shapes is None else self.printed_shapes

    @property
    def terms(self) -> tuple[str, ...]:
        """Each of the shapes."""
        counts = Counter(_without_layout(value.shape) for value in self.values)
        ordered = sorted(counts.items(), key=lambda item: (item[1], item[0]))
        return tuple(shape if count == 1 else f"{count}×{shape}" for shape, count in ordered)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """Lines of a report that belong together.

    Attributes:
        lines: the lines in order, some of them empty.
        allocation: allocation of a table, None for other lines.
        slots: rows of the table in order, with those that are left out at its end.
    """

    lines: tuple[str, ...]
    allocation: LocatedRecord[AllocationLine] | None = None
    slots: tuple[TableSlot, ...] = ()


def report_by_space(dump: Compile) -> list[ReportSection]:
    """Return the report with a section for each memory space, a table for each allocation.

    The largest allocation comes first, then by number.
    """
    allocations = sorted(dump.allocations(), key=lambda found: found.record.color)
    sections: list[ReportSection] = []
    for color, group in groupby(allocations, key=lambda found: found.record.color):
        largest_first = sorted(group, key=_largest_first)
        sums = list(accumulate(found.record.size for found in largest_first))
        name = f"Memory Space: {report_space_name(color)} (color={color})"
        total = f"Total bytes: {sums[-1]} ({xla_size(sums[-1])})"
        sections.append(ReportSection((name, total)))
        for found in largest_first[: _shown_count(sums)]:
            checkpoint()
            slots, lines = _table(block_of(found))
            sections.append(ReportSection(tuple("  " + line for line in lines), found, slots))
    return sections


def report_by_size(dump: Compile) -> list[ReportSection]:
    """Return the older report: all allocations by size, then each of them with its table.

    An allocation with a single value has no table.
    """
    allocations = sorted(dump.allocations(), key=_largest_first)
    sums = list(accumulate(found.record.size for found in allocations))
    if not sums:
        return []
    total, count = sums[-1], _shown_count(sums)
    rows = [
        f"{xla_size(part):>10}({_percent(part, total)}%); {xla_size(total - part):>10}; "
        f"{_head(found)}"
        for found, part in zip(allocations[:count], sums, strict=False)
    ]
    sections = [
        ReportSection((f"Total bytes used: {total} ({xla_size(total)})",)),
        ReportSection(("Allocations sorted by size:",)),
        ReportSection((_LIST, "-" * 78, *rows, *_rest(sums, count, "allocations"))),
        ReportSection(("Allocations sorted by size with their values:",)),
    ]
    for found in allocations:
        checkpoint()
        block = block_of(found)
        if len(block.values) == 1:
            sections.append(ReportSection((_head(found),), found))
        else:
            slots, table = _table(block)
            lines = (_head(found), "", *("\t" + line for line in table))
            sections.append(ReportSection(lines, found, slots))
    return sections


def table_lines(slots: Sequence[TableSlot]) -> list[str]:
    """Return the lines of a table with these rows, without indentation.

    Percentages are of the sum of all rows, which may overlap, and not of the allocation.
    """
    sums = list(accumulate(slot.size for slot in slots))
    count = _shown_count(sums)
    rows: list[str] = []
    for slot, part in zip(slots[:count], sums, strict=False):
        checkpoint()
        rows.append(
            f"{xla_size(part):>9}({_percent(part, sums[-1])}%); {xla_size(slot.size):>10}; "
            f"{slot.offset:12}; {len(slot.values):16}; {slot.shapes}"
        )
    return [_TABLE, "-" * 60, *rows, *_rest(sums, count, "values")]


@query
def _table(block: AllocationBlock) -> tuple[tuple[TableSlot, ...], list[str]]:
    """Return the rows of the table of an allocation, and its lines without indentation."""
    at: defaultdict[int, list[AssignedValue]] = defaultdict(list)
    for value in block.values:
        checkpoint()
        at[value.offset].append(value)
    slots: list[TableSlot] = []
    for offset, values in at.items():
        checkpoint()
        size = max(value.size for value in values)
        slots.append(TableSlot(offset, size, values))
    ordered = tuple(sorted(slots, key=lambda slot: (-slot.size, slot.values[-1].id)))
    return ordered, table_lines(ordered)


def _shown_count(sums: Sequence[int]) -> int:
    """Return how many rows with these running sums are printed.

    After row 50, the list ends at the first row after which less than 5% of the bytes remain.
    """
    for count in range(_MIN_ROWS + 1, len(sums)):
        if sums[-1] - sums[count - 1] < 0.05 * sums[-1]:
            return count
    return len(sums)


def _rest(sums: Sequence[int], count: int, what: str) -> list[str]:
    """Return the line after more than 50 rows; it is printed even where no row is left out."""
    rest = f"The rest {len(sums) - count} {what} are less than 5% of the total size and not shown."
    return [rest] if count > _MIN_ROWS and sums[-1] else []


def _percent(part: int, total: int) -> str:
    """Format as printf does with ``%3.0f``; 0 of 0 is ``-nan``."""
    return f"{100 * part / total:3.0f}" if total else "-nan"


def _head(allocation: LocatedRecord[AllocationLine]) -> str:
    line = allocation.file.lines[allocation.line]
    size = allocation.record.size
    return line.replace(f": size {size}", f": size {xla_size(size)}", 1)


def _largest_first(allocation: LocatedRecord[AllocationLine]) -> tuple[int, int]:
    return -allocation.record.size, allocation.record.number


@lru_cache(maxsize=1 << 13)
def _without_layout(shape: str) -> str:
    return _LAYOUT.sub("", shape)


@dataclass(frozen=True, slots=True)
class PrintedReport:
    """The lines of a report that are not blank, and whether it is of the older generation."""

    file: DumpFile
    records: tuple[Record, ...]
    is_by_size: bool


def printed_report(files: Sequence[DumpFile]) -> PrintedReport | None:
    """Return the first report that has lines and tables; a text proto has none.

    The total of all allocations is left out: ``total-mismatch`` is about it.
    """
    reports = (_printed(file) for file in files if file.kind is FileKind.REPORT)
    return next(filter(None, reports), None)


@query
def _printed(file: DumpFile) -> PrintedReport | None:
    records = tuple(
        record for record in file.records if not isinstance(record, BlankLine | TotalLine)
    )
    labels = {record.name for record in records if isinstance(record, Label)}
    if "proto_line" in labels or not records:
        return None
    is_by_size = bool(labels & {"by_size_label", "by_size_header", "with_values_label"})
    is_by_size = is_by_size or any(isinstance(each, ReportedAllocation) for each in records)
    return PrintedReport(file, records, is_by_size)


def in_printed_order(
    sections: Sequence[ReportSection], printed: PrintedReport
) -> list[ReportSection]:
    """Return the tables of an older report in the order in which they were printed.

    Up to jaxlib 0.7 rows of equal size, and the shapes in a row, came in the order of a hash map.
    """
    tables: defaultdict[int, dict[int, TableRow]] = defaultdict(dict)  # rows by offset, in order
    number: int | None = None
    for record in printed.records:
        if isinstance(record, ReportedAllocation) and not isinstance(record, ListedAllocation):
            number = record.number
        elif isinstance(record, TableRow) and number is not None:
            tables[number].setdefault(record.offset, record)
    return [
        _reordered(section, tables[section.allocation.record.number])
        if section.allocation is not None and section.slots
        else section
        for section in sections
    ]


def _reordered(section: ReportSection, rows: Mapping[int, TableRow]) -> ReportSection:
    offsets = dict.fromkeys((*rows, *(slot.offset for slot in section.slots)))
    places = {offset: place for place, offset in enumerate(offsets)}
    slots: list[TableSlot] = []
    for slot in sorted(section.slots, key=lambda slot: (-slot.size, places[slot.offset])):
        shapes = rows[slot.offset].shapes if slot.offset in rows else ""
        terms = element_texts(f"({shapes})") or [shapes]
        is_same = sorted(terms) == sorted(slot.terms)
        slots.append(replace(slot, printed_shapes=shapes) if is_same else slot)
    lines = ("\t" + line for line in table_lines(slots))
    return replace(section, lines=(*section.lines[:2], *lines), slots=tuple(slots))


class ReportedRow(NamedTuple):
    """The allocation of a report row, and the values that it counts in allocation order."""

    allocation: LocatedRecord[AllocationLine]
    values: tuple[LocatedRecord[AssignedValue], ...]


def reported_row(dump: Compile, file: DumpFile, row: TableRow) -> ReportedRow | None:
    """Return the allocation and the values of a row, or None if they are unknown."""
    number = _allocation_numbers_of_rows(dump).get((file, row))
    allocation = None if number is None else dump.allocation(number)
    if allocation is None:
        return None
    values = (value for value in dump.assigned_to(allocation) if value.offset == row.offset)
    return ReportedRow(allocation, tuple(LocatedRecord(allocation.file, value) for value in values))


def rows_of_value(
    dump: Compile, value: LocatedRecord[AssignedValue]
) -> list[LocatedRecord[TableRow]]:
    """Return the report rows that count a value."""
    allocation = dump.allocation_of(value)
    rows = [] if allocation is None else rows_of_allocation(dump, allocation.record.number)
    return [row for row in rows if row.record.offset == value.record.offset]


def rows_of_allocation(dump: Compile, number: int) -> list[LocatedRecord[TableRow]]:
    """Return the report rows of an allocation; empty if the report omits it."""
    numbers = _allocation_numbers_of_rows(dump)
    return [LocatedRecord(file, row) for (file, row), found in numbers.items() if found == number]


@query
def _allocation_numbers_of_rows(dump: Compile) -> dict[tuple[DumpFile, TableRow], int]:
    counts: dict[int, Counter[int]] = {}
    by_space: dict[int, list[int]] = {}  # the largest allocation last
    for allocation in sorted(dump.allocations(), key=_largest_first, reverse=True):
        number = allocation.record.number
        counts[number] = Counter(value.offset for value in dump.assigned_to(allocation))
        by_space.setdefault(allocation.record.color, []).append(number)
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
