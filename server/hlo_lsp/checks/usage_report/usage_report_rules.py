"""The lines of a memory usage report against the buffer assignment."""

import re
from collections.abc import Iterator
from itertools import zip_longest

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.memory.memory_usage_report import (
    PrintedReport,
    in_printed_order,
    printed_report,
    report_by_size,
    report_by_space,
)
from hlo_lsp.model.buffer_assignment import buffer_assignment, misses_used_values
from hlo_lsp.model.place import Place, field_place
from hlo_lsp.syntax.scanners import fields_of_line, rule_of

_MAX_EXCERPT = 110  # characters of a line in a message
_ROUNDED = re.compile(r"^(Total bytes: \d+) \(.*\)$")
_TOTAL = "Total bytes used:"


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
    checkpoint()
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
        place = source.place()
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
            f"the report ends early: expected `{_excerpt(expected or '')}` after this line",
        )
    text = file.lines[place.line]
    if expected is None:
        return place, f"`{_excerpt(text)}` follows the end of the expected report"
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
    return place, f"`{found}` does not match the buffer assignment: expected `{right}`"


def _excerpt(text: str, at: int = 0) -> str:
    text = " ".join(text.split())
    start = max(0, min(at - _MAX_EXCERPT // 2, len(text) - _MAX_EXCERPT))
    part = text[start : start + _MAX_EXCERPT]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(text) else ''}"


RULES: tuple[AnyRule, ...] = (WholeRule("report-mismatch", Severity.ERROR, report_mismatch),)
