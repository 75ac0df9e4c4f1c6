"""The memory usage report against the one that XLA makes of the buffer assignment."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from hlo_lsp.analysis.assignment.assignment_doubts import (
    doubts_allocation,
    doubts_assignment,
    doubts_shapes,
)
from hlo_lsp.analysis.assignment.displaced import Displaced, displaced
from hlo_lsp.analysis.assignment.interface import misstated_outputs, misstated_parameter
from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.origins import origins_of
from hlo_lsp.analysis.assignment.overlap_faults import overlap_faults
from hlo_lsp.analysis.assignment.placements import assignment_of
from hlo_lsp.analysis.files.siblings import kin
from hlo_lsp.analysis.reports.printed_report import (
    Difference,
    PrintedReport,
    differences,
    in_printed_order,
    printed_report,
    strangers,
    wanted_lines,
)
from hlo_lsp.analysis.reports.report import Block, report_by_size, report_by_space
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.line_fields import fields_of_line, rule_of
from hlo_lsp.syntax.memory_records import AllocationLine, ReportedAllocation, SpaceLine, TableRow
from hlo_lsp.syntax.records import BrokenRecord, Label, Record
from hlo_lsp.text.checkpoint import checkpoint

_FEW = 3  # rows that may be wrong before a report is said to be of another compile
_OUTPUT = ", output shape is |"
_LONGEST = 110  # characters of a row in a sentence
_WORDS = {
    "ALLOCATION": "the allocation",
    "COLOR": "the color",
    "COUNT": "the number of values",
    "CUMULATIVE": "the cumulative size",
    "HUMAN": "the size",
    "OFFSET": "the offset",
    "PERCENT": "the percentage",
    "REMAINDER": "the number of rows that are left out",
    "REST": "the size of the rest",
    "SHAPES": "the list of shapes",
    "SIZE": "the size",
    "SPACE_NAME": "the name of the memory space",
    "TOTAL": "the total",
}


@dataclass(frozen=True, slots=True)
class _Told:
    """Allocations whose flags or parameter are wrong by another rule, and whether the output is.

    The older reports repeat what an allocation says of itself.
    """

    allocations: frozenset[int]
    output: bool

    def explains(self, printed: PrintedReport, one: Difference) -> bool:
        """Whether lines differ only in what is told of allocations."""
        rows = printed.records[one.start : one.end]
        if not rows or not all(isinstance(row, ReportedAllocation) for row in rows):
            return False
        numbers = {row.number for row in rows if isinstance(row, ReportedAllocation)}
        if numbers <= self.allocations:
            return True
        return self.output and all(
            any(_OUTPUT in text for text in _lines(printed, one, number)) for number in numbers
        )


def _lines(printed: PrintedReport, one: Difference, number: int) -> Iterator[str]:
    mark = f"allocation {number}: "
    for text in _texts(printed, one):
        if mark in text:
            yield text


def _told_of(dump: DumpSet) -> _Told:
    assignment = assignment_of(dump)
    misfits = misfits_of(dump)
    origins = origins_of(kin(dump, assignment.file))
    outputs = misstated_outputs(assignment, origins)
    wrong = misfits.allocations | {found.allocation for found in outputs}
    wrong |= {
        placement.allocation
        for placement in assignment.placements
        if misstated_parameter(placement, origins) is not None
    }
    return _Told(frozenset(allocation.number for allocation in wrong), bool(outputs))


def report_mismatch(survey: Survey) -> Iterator[Finding]:
    """The report is made of the buffer assignment alone: made again it is the same.

    Where the assignment contradicts itself the report is left alone, and where one value alone is
    at odds with several rows it is the value that is wrong.
    """
    dump = survey.dump
    printed = printed_report(dump.files)
    if printed is None or not survey.context.knows_assignment or survey.context.misses_assigned:
        return
    blocks = (report_by_size if printed.by_size else report_by_space)(dump)
    if printed.by_size:
        blocks = in_printed_order(blocks, printed)
    wanted = wanted_lines(blocks)
    checkpoint()
    found = [one for one in differences(printed, wanted) if not _is_cut_off(printed, one)]
    if not found or doubts_assignment(dump):
        return
    rows = sum(isinstance(record, TableRow | ReportedAllocation) for record in printed.records)
    unknown = strangers(printed, wanted)
    if unknown > max(_FEW, rows // 2):
        yield _of_another(survey, printed, unknown, rows)
        return
    overlapping = overlap_faults(dump)
    told_of = {fault.placement.allocation for fault in overlapping}
    found = [one for one in found if not _is_about(one, told_of)]
    if told_of:
        yield from _first_of_each(survey, printed, found)
        return
    moved, target = displaced(printed, blocks), survey.context.target
    if moved is not None:
        allocation = dump.allocation_of(moved.value)
        if allocation is not None and not doubts_allocation(dump, allocation, target):
            yield _displaced(survey, printed, moved)
        return
    if printed.by_size:
        told = _told_of(dump)
        found = [one for one in found if not told.explains(printed, one)]
    yield from _first_of_each(survey, printed, found)


def _is_about(one: Difference, allocations: set[AllocationLine]) -> bool:
    """Whether the lines are made of one of these allocations."""
    made_of = None if one.block is None else one.block.allocation
    return made_of is not None and made_of.record in allocations


def _is_cut_off(printed: PrintedReport, one: Difference) -> bool:
    """Whether the file ends where it differs, in a line that shows by itself that more follows."""
    last = printed.records[-1]
    shows = isinstance(last, BrokenRecord | SpaceLine)
    shows = shows or (isinstance(last, Label) and last.name not in {"table_rest", "table_ruler"})
    return shows and one.end == len(printed.lines)


def _of_another(survey: Survey, printed: PrintedReport, unknown: int, rows: int) -> Finding:
    # There is none where all of them are gone.
    related = [
        Related(field_place(first.file, first.record), "the buffer assignment")
        for first in islice(survey.dump.allocations(), 1)
    ]
    return survey.finding(
        LocatedRecord(printed.file, printed.records[0]),
        None,
        f"the report is not of this buffer assignment: {unknown:,} of its {rows:,} rows are none "
        "that it makes",
        *related,
    )


def _displaced(survey: Survey, printed: PrintedReport, moved: Displaced) -> Finding:
    value = moved.value.record
    return survey.finding(
        moved.value,
        "OFFSET",
        f"value {value.id} `{value.key}` is at offset {value.offset:,} here, but the memory usage "
        f"report counts it at offset {moved.reported.offset:,}",
        Related(field_place(printed.file, moved.reported, "COUNT"), "the report counts it here"),
    )


def _first_of_each(
    survey: Survey, printed: PrintedReport, found: Sequence[Difference]
) -> Iterator[Finding]:
    """The first difference of each table, those left out that are the echo of another damage."""
    told: list[Block] = []
    counts = Counter(chain.from_iterable(_texts(printed, one) for one in found))
    moved: set[str] = set()  # what is wrong here and wanted there, or the other way round
    for one in found:
        records = printed.records[one.start : max(one.end, one.start + 1)]
        if any(isinstance(record, BrokenRecord) for record in records):
            continue
        if any(one.block is block for block in told) or moved & _texts(printed, one):
            continue
        moved |= {text for text in _texts(printed, one) if counts[text] > 1}
        if one.block is not None:
            told.append(one.block)
            allocation = one.block.allocation
            if allocation is not None and doubts_allocation(
                survey.dump, allocation, survey.context.target
            ):
                continue
        if not _is_of_shapes(survey, printed, one):
            yield _difference(survey, printed, one, moved)
        checkpoint()


def _is_of_shapes(survey: Survey, printed: PrintedReport, one: Difference) -> bool:
    """Whether a row differs because a value is not of the shape that its instruction defines."""
    row = printed.records[one.start] if one.start < one.end else None
    if not isinstance(row, TableRow) or one.block is None:
        return False
    at_offset = (slot.values for slot in one.block.slots if slot.offset == row.offset)
    return doubts_shapes(survey.dump, chain.from_iterable(at_offset))


def _texts(printed: PrintedReport, one: Difference) -> set[str]:
    return {*printed.lines[one.start : one.end], *(line.text for line in one.wanted)}


def _difference(
    survey: Survey, printed: PrintedReport, one: Difference, moved: set[str]
) -> Finding:
    file, related = printed.file, _sources(one)
    last = LocatedRecord(file, printed.records[min(one.start, len(printed.records) - 1)])
    if not one.wanted:
        text = _clipped(file.lines[last.line])
        message = f"the buffer assignment makes no such row here: `{text}`"
        return survey.finding(last, None, message, *related)
    wanted = one.wanted[0]
    if one.start == one.end:
        above = LocatedRecord(file, printed.records[max(0, one.start - 1)])
        where = "behind this line" if one.start else "in front of this line"
        text = f"`{_clipped(wanted.line)}`"
        if wanted.text in moved:
            what = f"{text} belongs in front of this line and stands elsewhere"
            return survey.finding(last, None, what, *related)
        what = f"{text} is missing {where}"
        if len(one.wanted) > 1:
            what = f"{len(one.wanted):,} lines are missing {where}, the first is {text}"
        return survey.finding(above, None, what, *related)
    text = file.lines[last.line]
    wrong = _wrong_fields(last.record, text, wanted.line)
    if len(wrong) == 1:
        role, found, right = wrong[0]
        word = _WORDS.get(role, "this field")
        message = (
            f"{word} is {_quoted(found, right)}, but by the buffer assignment it is "
            f"{_quoted(right, found)}"
        )
        return survey.finding(last, role, message, *related)
    message = (
        f"this is `{_clipped(text)}`, but by the buffer assignment "
        f"`{_clipped(wanted.line)}` stands here"
    )
    return survey.finding(last, None, message, *related)


def _wrong_fields(record: Record, found: str, wanted: str) -> list[tuple[str, str, str]]:
    """The fields of a line that should be others: role, text, and what it should be."""
    rule = rule_of(record, found)
    if rule is None:
        return []
    one, other = fields_of_line(rule, found), fields_of_line(rule, wanted)
    if [field.role for field in one] != [field.role for field in other]:
        return []
    return [
        (left.role, left.text, right.text)
        for left, right in zip(one, other, strict=True)
        if left.text != right.text and not (rule == "space_total_line" and left.role == "HUMAN")
    ]


def _sources(one: Difference) -> tuple[Related, ...]:
    """The allocation that the lines are made of."""
    if one.block is None or one.block.allocation is None:
        return ()
    found = one.block.allocation
    place = field_place(found.file, found.record)
    return (Related(place, f"made of allocation {found.record.number}"),)


def _clipped(line: str) -> str:
    text = " ".join(line.split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _quoted(text: str, other: str) -> str:
    """A field; of a long one what is around the first letter that differs."""
    text, other = text.strip(), other.strip()
    if len(text) <= _LONGEST:
        return f"`{text}`"
    same = next(
        (at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two),
        min(len(text), len(other)),
    )
    start = max(0, min(same - _LONGEST // 2, len(text) - _LONGEST))
    end = start + _LONGEST
    return f"`{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}`"


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "report-mismatch",
        Severity.ERROR,
        report_mismatch,
        frozenset(Part),
    ),
)
