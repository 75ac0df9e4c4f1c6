"""A value that a report counts elsewhere than the assignment has it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hlo_lsp.analysis.reports.printed_report import PrintedReport, printed_report, terms_of
from hlo_lsp.analysis.reports.report import (
    Block,
    report_by_size,
    report_by_space,
    without_layout,
)
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue, TableRow


@dataclass(frozen=True, slots=True)
class Displaced:
    """A value of the assignment, and the row of the report that counts it."""

    value: LocatedRecord[AssignedValue]
    reported: TableRow


class Counts:
    """How many values of a shape lie at an offset: what only one of both sides says.

    ``here`` is what the assignment has more, ``there`` what the report has more.
    """

    def __init__(self, rows: Sequence[TableRow], blocks: Sequence[Block]) -> None:
        here: Counter[tuple[int, str]] = Counter()
        there: Counter[tuple[int, str]] = Counter()
        for block in blocks:
            for slot in block.shown:
                here.update((slot.offset, without_layout(value.shape)) for value in slot.values)
        for row in rows:
            for term in terms_of(row.shapes):
                count, _, shape = term.rpartition("×")
                there[row.offset, shape] += int(count) if count.isdecimal() else 1
        self.here = here - there
        self.there = there - here

    def doubt(self, value: AssignedValue) -> int:
        """2 if the report does not count a value where it lies, 1 if one as it elsewhere, or 0."""
        shape = without_layout(value.shape)
        if (value.offset, shape) in self.here:
            return 2
        return int(any(shape == other for _, other in self.there))


def counted(dump: DumpSet) -> Counts:
    """The values of a compile against its report; nothing is odd where there is no report."""
    printed = printed_report(dump.files)
    if printed is None:
        return Counts((), ())
    blocks = (report_by_size if printed.by_size else report_by_space)(dump)
    return Counts(_rows(printed), blocks)


def displaced(printed: PrintedReport, blocks: Sequence[Block]) -> Displaced | None:
    """The one value that explains all that is wrong with the offsets and shapes of a report.

    None unless two rows are at odds with the assignment because of it: a damaged row of the report
    is one row.
    """
    rows = _rows(printed)
    counts = Counts(rows, blocks)
    moved, reported = list(counts.here.elements()), list(counts.there.elements())
    if len(moved) != 1 or len(reported) != 1 or moved[0][1] != reported[0][1]:
        return None
    (offset, shape), (other, _) = moved[0], reported[0]
    found = [
        (block.allocation, slot, value)
        for block in blocks
        for slot in block.slots
        for value in slot.values
        if slot.offset == offset and without_layout(value.shape) == shape and block.allocation
    ]
    counting = [row for row in rows if row.offset == other and shape in row.shapes]
    if len(found) != 1 or len(counting) != 1:
        return None
    allocation, slot, value = found[0]
    if len(slot.values) == 1 and counting[0].value_count == 1:
        return None
    return Displaced(LocatedRecord(allocation.file, value), counting[0])


def _rows(printed: PrintedReport) -> list[TableRow]:
    return [record for record in printed.records if isinstance(record, TableRow)]
