"""A value that a report counts elsewhere than the assignment has it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hlo_lsp.analysis.reports.printed_report import PrintedReport, terms_of
from hlo_lsp.analysis.reports.report import Block, without_layout
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.memory_records import AssignedValue, TableRow


@dataclass(frozen=True, slots=True)
class Displaced:
    """A value of the assignment, and the row of the report that counts it."""

    value: Located[AssignedValue]
    reported: TableRow


def displaced(printed: PrintedReport, blocks: Sequence[Block]) -> Displaced | None:
    """The one value that explains all that is wrong with the offsets and shapes of a report.

    None unless two rows are at odds with the assignment because of it: a damaged row of the report
    is one row.
    """
    here: Counter[tuple[int, str]] = Counter()
    there: Counter[tuple[int, str]] = Counter()
    for block in blocks:
        for slot in block.shown:
            here.update((slot.offset, without_layout(value.shape)) for value in slot.values)
    rows = [record for record in printed.records if isinstance(record, TableRow)]
    for row in rows:
        for term in terms_of(row.shapes):
            count, _, shape = term.rpartition("×")
            there[row.offset, shape] += int(count) if count.isdecimal() else 1
    moved, reported = list((here - there).elements()), list((there - here).elements())
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
    return Displaced(Located(allocation.file, value), counting[0])
