"""The end of a text before it is complete: a file that is cut off, or still being written."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query import query
from hlo_lsp.model.section_order import Section, row_section, section_of
from hlo_lsp.model.shape import try_shape
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    BreakdownRow,
    PeakLabel,
    PeakRow,
)
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InlineComputation,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Label, Record
from hlo_lsp.syntax.statements import is_balanced
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

# Lines after which a report goes on.
_IN_REPORTS = frozenset(
    {
        "by_size_header",
        "by_size_label",
        "space_line",
        "space_total_line",
        "table_header",
        "total_line",
        "with_values_label",
    }
)
# What follows a section wherever it ends, and what is in one that is not empty.
_NEXT = {
    Section.TOTAL: f"`{Section.ENTRIES.value}`",
    Section.LIVE_RANGE: "the schedule",
    Section.SEQUENCE: "the live ranges",
    Section.RANGES: "the peak",
}
_ROWS = {Section.ALLOCATIONS: "the allocations", Section.ENTRIES: "the values"}
_FROM = " from instruction:"
_LINE = "the rest of this line"


@dataclass(frozen=True, slots=True)
class Ending:
    """The last line of a text that is not complete, and what is missing after it.

    ``records`` are the last record and its computation, which other rules leave out.
    """

    line: int
    last: Record
    missing: str
    records: frozenset[Record]


@query
def ending(file: DumpFile) -> Ending | None:
    """Return where a file is cut off according to its own text, or None if it may be complete.

    Buffer assignments and lists of values do not print their length, so only the other files can
    show that one ends too early.
    """
    found = last_record(file) if file.kind.has_records else None
    if found is None:
        return None
    line, last = found
    # Whatever XLA writes to a file ends with a line end.
    in_line = file.lines[-1] != "" and not isinstance(file, SectionFile)
    head = file.records.head_of(last)
    missing = None
    if file.kind is FileKind.MODULE:
        missing = _module_end(file, last, head, in_line)
    elif file.kind.is_memory:
        missing = _memory_end(file, last, head, in_line)
    if missing is None:
        return None
    own = {last, head} if isinstance(head, ComputationLine) else {last}
    return Ending(line, last, missing, frozenset(own))


def last_record(file: DumpFile) -> tuple[int, Record] | None:
    """Return the last line with anything on it (from 0) and its record."""
    line = len(file.lines) - 1
    while line >= 0 and not file.lines[line].strip():
        line -= 1
    record = file.records.at(line) if line >= 0 else None
    return None if record is None else (line, record)


def _memory_end(file: DumpFile, last: Record, head: Record | None, in_line: bool) -> str | None:
    rows = [] if head is None else file.records.members(head)
    if in_line:
        is_short = isinstance(last, PeakRow) and last.cumulative is None  # older rows are shorter
        if (
            isinstance(last, BrokenRecord)
            or (isinstance(last, AssignedValue) and try_shape(last.shape) is None)
            or (is_short and any(isinstance(row, PeakRow) and row.cumulative for row in rows))
        ):
            return _LINE
    if isinstance(last, UsedValue):
        return _entry_end(last, in_line)
    if file.kind is FileKind.REPORT:
        rule = last.name if isinstance(last, Label) else last.rule
        return "the rest of the report" if rule in _IN_REPORTS else None
    if isinstance(last, AllocationLine):
        # Only temporary allocations may have no value.
        return None if last.preallocated_temp else f"the values in allocation {last.number}"
    if isinstance(last, BreakdownRow):
        return _stacks_end(last, [row for row in rows if isinstance(row, BreakdownRow)])
    section = row_section(last) or (None if head is None else section_of(head))
    if section is None or isinstance(last, BrokenRecord):
        return None
    if section is Section.PEAK:
        return _peak_end(file, last)
    if section is Section.LIVE_RANGE and isinstance(head, Label):
        return None  # the line that gives the reason why there are no live ranges
    if section is Section.STACKS:
        has_bytes = any(row.bytes for row in file.memory.peak_names.records())
        return "the stack traces" if has_bytes else None
    return _NEXT.get(section) or (_ROWS.get(section) if last is head else None)


def _entry_end(last: UsedValue, in_line: bool) -> str | None:
    text = last.lines[-1]
    if not text.startswith(_FROM):
        return "the rest of the entry" + ("" if last.id is None else f" of value {last.id}")
    if text != _FROM and not in_line:
        return None
    read = parse_instruction(text, instruction_column(text)) if text != _FROM else None
    return None if read is not None and read.is_closed else "the rest of this instruction"


def _peak_end(file: DumpFile, last: Record) -> str | None:
    """Return what follows the peak: in split dumps stack traces follow its rows."""
    if isinstance(last, PeakRow):
        is_split = not len(file.memory.assigned) and not len(file.memory.entries)
        return f"`{Section.STACKS.value}`" if is_split and last.cumulative is not None else None
    if not isinstance(last, PeakLabel):
        return None
    ranges = file.memory.ranges.records()
    lives = any(row.start_step <= last.moment <= row.end_step for row in ranges)
    return "the values at the peak" if lives else None


def _stacks_end(last: BreakdownRow, rows: Sequence[BreakdownRow]) -> str | None:
    """Return what a row of stack traces says remains after it, if the rows above agree to it."""
    adds_up = all(above.remaining - row.current == row.remaining for above, row in pairwise(rows))
    return f"stack traces of {last.remaining:,} B" if last.remaining > 0 and adds_up else None


def _module_end(file: DumpFile, last: Record, head: Record | None, in_line: bool) -> str | None:
    if in_line and (
        isinstance(last, BrokenRecord)
        or (isinstance(last, InstructionLine) and not is_balanced(last.text, last.column))
        or (isinstance(last, ModuleHeader) and not is_balanced(last.text, 0))
    ):
        return _LINE
    if isinstance(head, ComputationLine):
        inside = isinstance(head, InlineComputation) or bool(head.members)
        closed = any(isinstance(member, ComputationEnd) for member in file.records.members(head))
        if not inside and not closed:
            return f"the end of `{head.name}`"
    header = file.module.header
    printed = header is not None and "is_scheduled=true" in header.text
    entry = any(record.is_entry for record in file.module.computations.records())
    if printed and not entry and not file.module.damaged and not isinstance(last, BlankLine):
        return "the `ENTRY` computation"
    return None
