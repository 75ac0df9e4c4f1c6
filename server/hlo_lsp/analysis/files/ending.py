"""Where a text stops before it is complete: a file that was cut off, or is still being written."""

from dataclasses import dataclass
from itertools import pairwise
from weakref import WeakKeyDictionary

from hlo_lsp.analysis.files.sections import Section, row_section, section_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import try_shape
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    BreakdownRow,
    LiveRangeLabel,
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

# Lines of a report behind which something else always stands.
_GOES_ON = frozenset(
    {
        "space_total_line",
        "table_header",
        "by_size_label",
        "by_size_header",
        "with_values_label",
    }
)
_FROM = " from instruction:"


@dataclass(frozen=True, slots=True)
class Ending:
    """The last line of a text that is not complete, and what is missing behind it."""

    line: int
    last: Record
    missing: str
    # What is not to be blamed for being incomplete: the last record, and its computation.
    records: frozenset[Record]


_KNOWN: "WeakKeyDictionary[DumpFile, tuple[int, Ending | None]]" = WeakKeyDictionary()


def ending(file: DumpFile) -> Ending | None:
    """Where a file was cut off, as far as its own text tells; None if it may be complete.

    A buffer assignment says nowhere how long it is, and a list of values does not either: whether
    those end too early only the other files know. Remembered until the file changes.
    """
    known = _KNOWN.get(file)
    if known is None or known[0] != file.version:
        known = _KNOWN[file] = file.version, _ending(file)
    return known[1]


def last_record(file: DumpFile) -> tuple[int, Record] | None:
    """The last line with anything on it (from 0) and its record."""
    line = len(file.lines) - 1
    while line >= 0 and (not file.lines[line] or file.lines[line].isspace()):
        line -= 1
    record = file.records.at(line) if line >= 0 else None
    return None if record is None else (line, record)


def _ending(file: DumpFile) -> Ending | None:
    found = last_record(file) if file.kind.has_records else None
    if found is None:
        return None
    line, last = found
    # Whatever XLA writes to a file ends with a line end.
    in_line = file.lines[-1] != "" and not isinstance(file, SectionFile)
    if file.kind is FileKind.MODULE:
        missing = _module_end(file, last, in_line)
    elif file.kind.is_memory:
        missing = _broken_end(file, last) if in_line else None
        missing = missing or _entry_end(last, in_line)
        if missing is None and file.kind is FileKind.REPORT:
            missing = _report_end(last)
        elif missing is None:
            missing = _section_end(file, last)
    else:
        missing = None
    if missing is None:
        return None
    head = file.records.head_of(last)
    own = {last, head} if isinstance(head, ComputationLine) else {last}
    return Ending(line, last, missing, frozenset(own))


def _broken_end(file: DumpFile, last: Record) -> str | None:
    cut = isinstance(last, BrokenRecord)
    if isinstance(last, AssignedValue):
        cut = try_shape(last.shape) is None
    elif isinstance(last, PeakRow) and last.cumulative is None:  # older rows are shorter
        head = file.records.head_of(last)
        rows = [] if head is None else file.records.members(head)
        cut = any(isinstance(row, PeakRow) and row.cumulative is not None for row in rows)
    return "the rest of this line" if cut else None


def _entry_end(last: Record, in_line: bool) -> str | None:
    if not isinstance(last, UsedValue):
        return None
    text = last.lines[-1]
    if text.startswith(_FROM):
        read = parse_instruction(text, instruction_column(text)) if text != _FROM else None
        cut = text == _FROM or (in_line and (read is None or not read.is_closed))
        return "the rest of this instruction" if cut else None
    of = "" if last.id is None else f" of value {last.id}"
    return f"the rest of the entry{of}"


def _report_end(last: Record) -> str | None:
    rule = last.name if isinstance(last, Label) else last.rule
    if rule in _GOES_ON or rule in {"space_line", "total_line"}:
        return "the rest of the report"
    return None


def _section_end(file: DumpFile, last: Record) -> str | None:
    if isinstance(last, BrokenRecord):
        return None  # it ends with its line, and nobody knows what it was
    head = file.records.head_of(last)
    if isinstance(last, AllocationLine):
        # Space may be kept for nobody, but nothing else is without a value.
        return None if last.preallocated_temp else f"the values in allocation {last.number}"
    section = row_section(last) or (None if head is None else section_of(head))
    if section is Section.PEAK:
        return _peak_end(file, last)
    if section is Section.SEQUENCE:
        return _sequence_end(file)
    if section is Section.LIVE_RANGE and isinstance(head, Label):
        return None  # the line that says why there are no live ranges
    if isinstance(last, BreakdownRow):
        return _stacks_end(file, last)
    if section is Section.STACKS:
        weighs = any(row.bytes for row in file.memory.peak_names.records())
        return "the stack traces" if weighs else None
    always = {
        Section.TOTAL: f"`{Section.ENTRIES.title}`",
        Section.LIVE_RANGE: "the schedule",
        Section.RANGES: "the peak",
    }
    empty = {
        Section.ALLOCATIONS: "the allocations",
        Section.ENTRIES: "the values",
    }
    if section is None:
        return None
    return always.get(section) or (empty.get(section) if last is head else None)


def _sequence_end(file: DumpFile) -> str:
    label = file.memory.label(LiveRangeLabel)
    count = len(file.memory.steps)
    if label is not None and count < label.max:
        return f"{label.max - count:,} of {label.max:,} steps, and the live ranges"
    return "the live ranges"


def _peak_end(file: DumpFile, last: Record) -> str | None:
    """Since dumps are split, stack traces follow the rows of the peak."""
    split = not len(file.memory.assigned) and not len(file.memory.entries)
    if isinstance(last, PeakRow):
        return f"`{Section.STACKS.title}`" if split and last.cumulative is not None else None
    if not isinstance(last, PeakLabel):
        return None
    ranges = file.memory.ranges.records()
    lives = any(row.start_step <= last.moment <= row.end_step for row in ranges)
    return "the values at the peak" if lives else None


def _stacks_end(file: DumpFile, last: BreakdownRow) -> str | None:
    """Each row says what remains behind it: 0 B at the end.

    If that is not what the row above leaves, a row is damaged or out of place instead.
    """
    head = file.records.head_of(last)
    rows = [] if head is None else file.records.members(head)
    stacks = [row for row in rows if isinstance(row, BreakdownRow)]
    adds_up = all(above.remaining - row.current == row.remaining for above, row in pairwise(stacks))
    return f"stack traces of {last.remaining:,} B" if last.remaining > 0 and adds_up else None


def _module_end(file: DumpFile, last: Record, in_line: bool) -> str | None:
    if in_line and (
        isinstance(last, BrokenRecord)
        or (isinstance(last, InstructionLine) and not is_balanced(last.text, last.column))
        or (isinstance(last, ModuleHeader) and not is_balanced(last.text, 0))
    ):
        return "the rest of this line"
    head = file.records.head_of(last)
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
