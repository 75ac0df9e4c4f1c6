"""The memory usage report against the one that XLA makes of the buffer assignment."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

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
from hlo_lsp.model.place import Place
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.line_fields import fields_of_line, rule_of
from hlo_lsp.syntax.memory_records import ListedAllocation, ReportedAllocation, TableRow, TotalLine
from hlo_lsp.syntax.records import BlankLine, Label, Record
from hlo_lsp.text.checkpoint import checkpoint

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


def report_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report lines that XLA does not make of the buffer assignment, one of each table."""
    dump, printed = survey.dump, printed_report(survey.dump.files)
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
        yield survey.report(*_difference(printed, at, line, is_aligned), *related)
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
