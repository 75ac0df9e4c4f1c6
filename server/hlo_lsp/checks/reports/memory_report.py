"""A memory usage report as it was printed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from hlo_lsp.checks.allocations.sizes import contradicting_size
from hlo_lsp.checks.case import CompileCheck, field_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.reports.expected_report import (
    ReportSection,
    TableSlot,
    report_by_size,
    report_by_space,
    table_lines,
)
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.model.buffer_assignment import buffer_assignment, misses_used_values
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord, Place
from hlo_lsp.model.shape import element_texts
from hlo_lsp.model.sizes import target_of
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.line_fields import fields_of_line, rule_of
from hlo_lsp.syntax.memory_records import ListedAllocation, ReportedAllocation, TableRow, TotalLine
from hlo_lsp.syntax.records import BlankLine, Label, Record
from hlo_lsp.text.checkpoint import checkpoint


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


_MAX_EXCERPT = 110  # characters of a line in a message
_LINES_PER_CHECKPOINT = 2000
_ROUNDED = re.compile(r"^(Total bytes: \d+) \(.*\)$")
_TOTAL = "Total bytes used:"


@dataclass(frozen=True, slots=True)
class _Difference:
    """A printed line that is not the expected one.

    Attributes:
        at: number of the line among those of the report that are not blank.
        expected: expected line, None after the end of the expected report.
        section: section of the expected line.
        is_aligned: whether both reports have as many lines.
    """

    at: int
    expected: str | None
    section: ReportSection
    is_aligned: bool


def report_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report lines that XLA does not make of the buffer assignment, one of each table.

    Where lines are missing or added, what follows cannot be compared: only the first is reported.
    """
    dump, printed = survey.dump, printed_report(survey.dump.files)
    assignment = buffer_assignment(dump)
    if printed is None or not assignment.blocks or not assignment.is_complete:
        return
    if misses_used_values(dump):
        return
    sections = report_by_size(dump) if printed.is_by_size else report_by_space(dump)
    if printed.is_by_size:
        sections = in_printed_order(sections, printed)
    reported: set[int] = set()
    for found in _differences(printed, sections):
        if id(found.section) not in reported and not _has_wrong_size(survey, found.section):
            yield _finding(survey, printed, found)
        reported.add(id(found.section))


def _differences(
    printed: PrintedReport, sections: Sequence[ReportSection]
) -> Iterator[_Difference]:
    expected = [
        (line, section)
        for section in sections
        for line in section.lines
        if line and not line.startswith(_TOTAL)
    ]
    is_aligned = len(printed.records) == len(expected)
    for at, (record, wanted) in enumerate(zip_longest(printed.records, expected)):
        if at % _LINES_PER_CHECKPOINT == _LINES_PER_CHECKPOINT - 1:
            checkpoint()
        line, section = wanted or (None, sections[-1])
        text = None if record is None else printed.file.lines[record.line]
        if text != line and _exact(text) != _exact(line):
            yield _Difference(at, line, section, is_aligned)
            if not is_aligned:
                return


def _exact(line: str | None) -> str:
    """Return a line without the size in brackets, which ``human-size`` is about."""
    return _ROUNDED.sub(r"\1", line or "")


def _has_wrong_size(survey: CompileCheck, section: ReportSection) -> bool:
    """Return whether a value of a table has a size that its own shape contradicts."""
    if section.allocation is None:
        return False
    target = target_of(survey.dump)
    values = survey.dump.assigned_to(section.allocation)
    return any(contradicting_size(value, target) is not None for value in values)


def _finding(survey: CompileCheck, printed: PrintedReport, found: _Difference) -> Finding:
    file, records = printed.file, printed.records
    source = found.section.allocation or next(survey.dump.allocations())
    allocation = f"allocation {source.record.number}"
    related = [Related(field_place(source.file, source.record), allocation)]
    if found.at == len(records):
        line = _excerpt(found.expected or "")
        message = f"the report ends early: expected `{line}` after this line."
        return survey.finding(LocatedRecord(file, records[-1]), None, message, *related)
    if found.at and not found.is_aligned:
        related.append(Related(field_place(file, records[found.at - 1]), "the previous line"))
    place = field_place(file, records[found.at])
    text, expected = file.lines[place.line], found.expected
    if expected is None:
        message = f"`{_excerpt(text)}` follows the end of the expected report."
        return survey.report(place, message, *related)
    rule = rule_of(records[found.at], text) if found.is_aligned else None
    pairs = (
        ()
        if rule is None
        else zip(fields_of_line(rule, text), fields_of_line(rule, expected), strict=False)
    )
    for field, wanted in pairs:
        if field.text != wanted.text and field.role == wanted.role:
            place = Place(file, place.line, field.start, field.end)
            text, expected = field.text, wanted.text
            break
    columns = enumerate(zip(text, expected, strict=False))
    same = next((at for at, (one, other) in columns if one != other), 0)
    message = (
        f"`{_excerpt(text, same)}` does not match the buffer assignment: expected "
        f"`{_excerpt(expected, same)}`."
    )
    return survey.report(place, message, *related)


def _excerpt(text: str, at: int = 0) -> str:
    """Return a line for a message; of a long one the part around a column."""
    text = " ".join(text.split())
    start = max(0, min(at - _MAX_EXCERPT // 2, len(text) - _MAX_EXCERPT))
    part = text[start : start + _MAX_EXCERPT]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(text) else ''}"


RULES: tuple[AnyRule, ...] = (WholeRule("report-mismatch", Severity.ERROR, report_mismatch),)
