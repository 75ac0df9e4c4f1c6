"""A memory usage report as it was printed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from hlo_lsp.checks.reports.expected_report import ReportSection, TableSlot, table_lines
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import ListedAllocation, ReportedAllocation, TableRow, TotalLine
from hlo_lsp.syntax.records import BlankLine, Label, Record


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
    for file in files:
        if file.kind is not FileKind.REPORT:
            continue
        records = tuple(
            record for record in file.records if not isinstance(record, BlankLine | TotalLine)
        )
        labels = {record.name for record in records if isinstance(record, Label)}
        if "proto_line" in labels or not records:
            continue
        is_by_size = bool(labels & {"by_size_label", "by_size_header", "with_values_label"})
        is_by_size = is_by_size or any(isinstance(each, ReportedAllocation) for each in records)
        return PrintedReport(file, records, is_by_size)
    return None


def in_printed_order(
    sections: Sequence[ReportSection], printed: PrintedReport
) -> list[ReportSection]:
    """Return the tables of an older report in the order in which they were printed.

    Up to jaxlib 0.7 rows of equal size, and the shapes in a row, came in the order of a hash map.
    """
    tables: dict[int, list[TableRow]] = {}
    number: int | None = None
    for record in printed.records:
        if isinstance(record, ReportedAllocation) and not isinstance(record, ListedAllocation):
            number = record.number
        elif isinstance(record, TableRow) and number is not None:
            tables.setdefault(number, []).append(record)
    return [
        section
        if section.allocation is None or not section.slots
        else _reordered(section, tables.get(section.allocation.record.number, []))
        for section in sections
    ]


def _reordered(section: ReportSection, rows: Sequence[TableRow]) -> ReportSection:
    places = {row.offset: place for place, row in reversed(list(enumerate(rows)))}
    shapes = {row.offset: row.shapes for row in rows}
    slots = [
        _with_printed_terms(slot, shapes.get(slot.offset, ""))
        for _, alike in groupby(section.slots, key=lambda slot: slot.size)
        for slot in sorted(alike, key=lambda slot: places.get(slot.offset, len(places)))
    ]
    lines = ("\t" + line for line in table_lines(slots))
    return replace(section, lines=(*section.lines[:2], *lines), slots=tuple(slots))


def _with_printed_terms(slot: TableSlot, shapes: str) -> TableSlot:
    terms = element_texts(f"({shapes})") or [shapes]
    return replace(slot, terms=(shapes,)) if sorted(terms) == sorted(slot.terms) else slot
