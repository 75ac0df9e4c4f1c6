"""The memory usage report as XLA computes it from the buffer assignment, line by line.

There are two generations of it: a section for each memory space (jaxlib from 0.9, libtpu from
0.0.5), and before that a list of all allocations followed by the table of each
(``BufferAssignment::MemoryUsageReport`` and ``BufferAllocation::MemoryUsageReport`` in
buffer_assignment.cc).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, groupby, zip_longest

from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.model.backend import report_space_name
from hlo_lsp.model.buffer_assignment import (
    AllocationBlock,
    block_of,
    buffer_assignment,
    misses_used_values,
)
from hlo_lsp.model.display import format_bytes_as_xla as xla_size
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord, Place, field_place
from hlo_lsp.model.query import query
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    ListedAllocation,
    ReportedAllocation,
    TableRow,
    TotalLine,
)
from hlo_lsp.syntax.records import BlankLine, Label, Record
from hlo_lsp.syntax.scanners import fields_of_line, rule_of
from hlo_lsp.text.checkpoint import checkpoint

_TABLE = "cumulative_size;       size;       offset; used_by_n_values; shapes_list"
_LIST = "cumulative_size; total_size - cumulative_size; allocation"
_LAYOUT = re.compile(r"\{[^{}]*\}")
_MIN_ROWS = 50  # after more rows than these the rest is left out once it is small


@dataclass(frozen=True, slots=True)
class TableSlot:
    """The values at one offset of an allocation, by id: a row of its table.

    Attributes:
        offset: first byte in the allocation.
        size: bytes of the largest value.
        terms: shapes without layouts, each once with its number, as the row lists them.
        last_id: largest id of a value, which orders rows of the same size.
        count: number of values.
    """

    offset: int
    size: int
    terms: tuple[str, ...]
    last_id: int
    count: int


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


def report_by_space(dump: DumpSet) -> list[ReportSection]:
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
            slots = _slots(block_of(found))
            lines = tuple("  " + line for line in table_lines(slots))
            sections.append(ReportSection(lines, found, slots))
    return sections


def report_by_size(dump: DumpSet) -> list[ReportSection]:
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
        slots = _slots(block_of(found))
        if sum(slot.count for slot in slots) == 1:
            sections.append(ReportSection((_head(found),), found))
        else:
            lines = (_head(found), "", *("\t" + line for line in table_lines(slots)))
            sections.append(ReportSection(lines, found, slots))
    return sections


def table_lines(slots: Sequence[TableSlot]) -> list[str]:
    """Return the lines of a table with these rows, without indentation.

    Percentages are of the sum of all rows, which may overlap, and not of the allocation.
    """
    sums = list(accumulate(slot.size for slot in slots))
    count = _shown_count(sums)
    rows = [
        f"{xla_size(part):>9}({_percent(part, sums[-1])}%); {xla_size(slot.size):>10}; "
        f"{slot.offset:12}; {slot.count:16}; {', '.join(slot.terms)}"
        for slot, part in zip(slots[:count], sums, strict=False)
    ]
    return [_TABLE, "-" * 60, *rows, *_rest(sums, count, "values")]


@query
def _slots(block: AllocationBlock) -> tuple[TableSlot, ...]:
    at: defaultdict[int, list[AssignedValue]] = defaultdict(list)
    for value in block.values:
        checkpoint()
        at[value.offset].append(value)
    slots: list[TableSlot] = []
    for offset, values in at.items():
        checkpoint()
        size = max(value.size for value in values)
        slots.append(TableSlot(offset, size, _terms(values), values[-1].id, len(values)))
    return tuple(sorted(slots, key=lambda slot: (-slot.size, slot.last_id)))


def _terms(values: Sequence[AssignedValue]) -> tuple[str, ...]:
    counts = Counter(_without_layout(value.shape) for value in values)
    ordered = sorted(counts.items(), key=lambda item: (item[1], item[0]))
    return tuple(shape if count == 1 else f"{count}×{shape}" for shape, count in ordered)


def _shown_count(sums: Sequence[int]) -> int:
    """Return how many rows with these running sums are printed.

    After row 50, the list ends at the first row after which less than 5 % of the bytes remain.
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


_MAX_EXCERPT = 110  # characters of a line in a message
_ROUNDED = re.compile(r"^(Total bytes: \d+) \(.*\)$")
_TOTAL = "Total bytes used:"


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
        slots.append(replace(slot, terms=(shapes,)) if is_same else slot)
    lines = ("\t" + line for line in table_lines(slots))
    return replace(section, lines=(*section.lines[:2], *lines), slots=tuple(slots))


def report_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report lines that do not follow from the buffer assignment, one for each table."""
    dump, printed = context.dump, printed_report(context.dump.files)
    assignment = buffer_assignment(dump)
    if printed is None or not assignment.blocks or not assignment.is_complete:
        return
    if misses_used_values(dump):
        return
    sections = report_by_size(dump) if printed.is_by_size else report_by_space(dump)
    if printed.is_by_size:
        sections = in_printed_order(sections, printed)
    expected = [
        (line, section)
        for section in sections
        for line in section.lines
        if line and not line.startswith(_TOTAL)
    ]
    is_aligned = len(printed.records) == len(expected)
    reported: set[int] = set()
    for at, (record, wanted) in enumerate(zip_longest(printed.records, expected)):
        checkpoint()
        line, section = wanted or (None, sections[-1])
        text = None if record is None else printed.file.lines[record.line]
        if text == line or _exact(text) == _exact(line) or id(section) in reported:
            continue
        reported.add(id(section))
        source = section.allocation or next(dump.allocations())
        place = field_place(source.file, source.record)
        related = [Related(place, f"allocation {source.record.number}")]
        if at and at < len(printed.records) and not is_aligned:
            before = field_place(printed.file, printed.records[at - 1])
            related.append(Related(before, "the previous line"))
        yield context.report(*_difference(printed, at, line, is_aligned), *related)
        if not is_aligned:
            return


def _exact(line: str | None) -> str:
    """Return a line without the size in brackets, which ``human-size`` is about."""
    return _ROUNDED.sub(r"\1", line or "")


def _difference(
    printed: PrintedReport, at: int, expected: str | None, is_aligned: bool
) -> tuple[Place, str]:
    file, records = printed.file, printed.records
    place = field_place(file, records[min(at, len(records) - 1)])
    if at == len(records):
        return (
            place,
            f"the report ends early: expected `{_excerpt(expected or '')}` after this line.",
        )
    text = file.lines[place.line]
    if expected is None:
        return place, f"`{_excerpt(text)}` follows the end of the expected report."
    rule = rule_of(records[at], text) if is_aligned else None
    fields = () if rule is None else fields_of_line(rule, text)
    for field, wanted in zip(fields, fields_of_line(rule or "", expected), strict=False):
        if field.text != wanted.text and field.role == wanted.role:
            place = Place(file, place.line, field.start, field.end)
            text, expected = field.text, wanted.text
            break
    columns = enumerate(zip(text, expected, strict=False))
    same = next((at for at, (one, other) in columns if one != other), 0)
    found, right = _excerpt(text, same), _excerpt(expected, same)
    return place, f"`{found}` does not match the buffer assignment: expected `{right}`."


def _excerpt(text: str, at: int = 0) -> str:
    text = " ".join(text.split())
    start = max(0, min(at - _MAX_EXCERPT // 2, len(text) - _MAX_EXCERPT))
    part = text[start : start + _MAX_EXCERPT]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(text) else ''}"


RULES: tuple[AnyRule, ...] = (WholeRule("report-mismatch", Severity.ERROR, report_mismatch),)
