"""The sections of a memory file, and records that are not where XLA prints them.

The order is that of ``BufferAssignment::ToString`` (buffer_assignment.cc) and
``HloLiveRange::ToString`` (hlo_live_range.cc). In split dumps a file holds a part of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query_cache import query
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
    RangeRow,
    SequenceRow,
    TotalLine,
)
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Label, Record, UnknownSection
from hlo_lsp.syntax.statements import is_balanced
from hlo_lsp.syntax.used_value import UsedValue, instruction_column


class Section(Enum):
    """The sections in the order in which they are printed; the value is the line that opens one."""

    ALLOCATIONS = "BufferAssignment:"
    TOTAL = "Total bytes used"
    ENTRIES = "Used values:"
    LIVE_RANGE = "HloLiveRange"
    SEQUENCE = "InstructionSequence:"
    RANGES = "BufferLiveRange:"
    PEAK = "Live ranges at ... (peak):"
    STACKS = "Stack trace breakdown for peak usage"


_LABELS = {
    "assignment_label": Section.ALLOCATIONS,
    "used_values_label": Section.ENTRIES,
    "live_range_missing": Section.LIVE_RANGE,
    "sequence_label": Section.SEQUENCE,
    "ranges_label": Section.RANGES,
    "peak_missing": Section.PEAK,
    "breakdown_label": Section.STACKS,
}
_HEADS: dict[type[Record], Section] = {
    TotalLine: Section.TOTAL,
    LiveRangeLabel: Section.LIVE_RANGE,
    PeakLabel: Section.PEAK,
}
_ROWS: dict[type[Record], Section] = {
    AllocationLine: Section.ALLOCATIONS,
    AssignedValue: Section.ALLOCATIONS,
    UsedValue: Section.ENTRIES,
    SequenceRow: Section.SEQUENCE,
    RangeRow: Section.RANGES,
    PeakRow: Section.PEAK,
    BreakdownRow: Section.STACKS,
}
# What must be before a section in the same file.
_NEEDS = {
    Section.ENTRIES: Section.TOTAL,
    Section.SEQUENCE: Section.LIVE_RANGE,
    Section.RANGES: Section.SEQUENCE,
    Section.PEAK: Section.RANGES,
    Section.STACKS: Section.PEAK,
}


# Of rows of one section next to each other the first, or a line that opens a section: the section,
# the record, whether it opens the section, and whether a line before it cannot be read.
_Run = tuple[Section, Record, bool, bool]


@dataclass(frozen=True, slots=True)
class Disorder:
    """A record that is not where XLA prints it; ``first`` opened the same section before it."""

    record: Record
    message: str
    first: Record | None = None


def section_of(head: Record) -> Section | None:
    """Return the section that a line opens; None for any other line."""
    return _LABELS.get(head.name) if isinstance(head, Label) else _HEADS.get(type(head))


@query
def disorder(file: DumpFile) -> tuple[Disorder, ...]:
    """Return the misplaced records of a memory file, or the second header of a module text.

    Reports have an order of their own.
    """
    return tuple(_disorder(file))


@query
def is_joined(file: DumpFile) -> bool:
    """Return whether a file has a section twice: it consists of two dumps, and no rule applies."""
    return any(misplaced.first is not None for misplaced in disorder(file))


def _disorder(file: DumpFile) -> Iterator[Disorder]:
    if file.kind is FileKind.MODULE:
        heads = sorted(file.module.headers.records(), key=lambda head: head.line)
        yield from (_repeated(file, "HloModule", head, heads[0]) for head in heads[1:])
    elif file.kind.is_memory and file.kind is not FileKind.REPORT:
        yield from _memory_disorder(file, list(_runs(file)))


def _repeated(file: DumpFile, title: str, head: Record, first: Record) -> Disorder:
    line = file.first_line + first.line + 1
    message = f"`{title}` is repeated, first on line {line:,}: this text has more than one dump"
    return Disorder(head, message, first)


def _runs(file: DumpFile) -> Iterator[_Run]:
    last: Section | None = None
    broken = False
    for record in file.records:
        kind = type(record)
        section = _ROWS.get(kind)
        if kind in {BrokenRecord, UnknownSection} or (
            isinstance(record, UsedValue) and record.id is None
        ):
            broken = True
        elif section is not None:
            if section is not last:
                yield section, record, False, broken
                last, broken = section, False
        else:
            section = section_of(record)
            if section is not None:
                yield section, record, True, broken
                last, broken = None, False


def _memory_disorder(file: DumpFile, runs: Sequence[_Run]) -> Iterator[Disorder]:
    order = list(Section)
    current: Section | None = None
    opened: dict[Section, Record] = {}
    has_head = {section for section, _, opens, _ in runs if opens}
    for section, record, opens, after_broken in runs:
        title = f"`{section.value}`"
        if opens:
            needed = _NEEDS.get(section)
            if section is Section.LIVE_RANGE and current is not Section.ENTRIES:
                needed = None if current is None else Section.ENTRIES
            is_late = current is not None and order.index(section) <= order.index(current)
            if is_late and section in opened:
                yield _repeated(file, section.value, record, opened[section])
            elif is_late and current is not None:
                yield Disorder(record, f"{title} must be before `{current.value}`")
            elif needed is not None and needed not in {current, *has_head} and not after_broken:
                yield Disorder(record, f"`{needed.value}` is missing before this line")
            opened.setdefault(section, record)
        elif section is current:
            continue
        elif section in has_head and not after_broken:
            message = "" if current is None else f", not below `{current.value}`"
            yield Disorder(record, f"this line belongs below {title}{message}")
            continue
        elif not after_broken:  # else what opens the section may be what cannot be read
            yield Disorder(record, f"{title} is missing before this line")
            has_head.add(section)
            opened[section] = record
        current = section


# Lines after which a report goes on.
_IN_REPORTS = frozenset(
    {
        *("by_size_header", "by_size_label", "space_line", "space_total_line", "table_header"),
        *("total_line", "with_values_label"),
    }
)
# What follows a section wherever it ends, and what is in one that is not empty.
_NEXT = {
    Section.TOTAL: f"`{Section.ENTRIES.value}`",
    Section.LIVE_RANGE: "the schedule",
    Section.SEQUENCE: "the live ranges",
    Section.RANGES: "the peak",
}
_TRUNCATION_ROWS = {Section.ALLOCATIONS: "the allocations", Section.ENTRIES: "the values"}
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

    @property
    def is_inside_line(self) -> bool:
        """True if the last line is cut off."""
        return self.missing == _LINE


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


@query
def missing_part(file: DumpFile) -> str | None:
    """Return why a module text is only a part of its program, for the user; None if it is whole.

    Sums over a part are lower bounds, and without an entry computation they are unknown.
    """
    found = ending(file)
    if found is not None:
        return f"{file.title} is cut off at line {found.line + 1:,}, expected {found.missing}"
    if file.kind is FileKind.MODULE and file.module.entry is None:
        return f"{file.title} has no `ENTRY` computation"
    return None


def last_record(file: DumpFile) -> tuple[int, Record] | None:
    """Return the last line (from 0) that is not blank, and its record."""
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
    section = _ROWS.get(type(last)) or (None if head is None else section_of(head))
    if section is None or isinstance(last, BrokenRecord | UnknownSection):
        return None
    if section is Section.PEAK:
        return _peak_end(file, last)
    if section is Section.LIVE_RANGE and isinstance(head, Label):
        return None  # the line that gives the reason for missing live ranges
    if section is Section.STACKS:
        has_bytes = any(row.bytes for row in file.memory.peak_names.records())
        return "the stack traces" if has_bytes else None
    return _NEXT.get(section) or (_TRUNCATION_ROWS.get(section) if last is head else None)


def _entry_end(last: UsedValue, in_line: bool) -> str | None:
    text = last.lines[-1]
    column = instruction_column(text)
    if not column:
        return "the rest of the entry" + ("" if last.id is None else f" of value {last.id}")
    if column < len(text) and not in_line:
        return None
    read = parse_instruction(text, column) if column < len(text) else None
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
    """Return the bytes that remain after a row of stack traces, if the rows above agree."""
    adds_up = all(above.remaining - row.current == row.remaining for above, row in pairwise(rows))
    return f"stack traces of {last.remaining:,} B" if last.remaining > 0 and adds_up else None


def _module_end(file: DumpFile, last: Record, head: Record | None, in_line: bool) -> str | None:
    scope = file.module.computation(head) if isinstance(head, ComputationLine) else None
    if in_line and (
        (isinstance(last, BrokenRecord) and not _is_section(last.text))
        or (
            isinstance(last, InstructionLine)
            and not is_balanced(last.text, last.column)
            and not (scope is not None and scope.closing_member is last)
        )
        or (isinstance(last, ModuleHeader) and not is_balanced(last.text, 0))
    ):
        return _LINE
    if scope is not None and not scope.is_closed:
        return f"the end of `{scope.head.name}`"
    header = file.module.header
    # XLA prints both; in other texts the last computation can be the entry.
    printed = (
        header is not None and header.is_scheduled and "entry_computation_layout=" in header.text
    )
    entry = any(record.is_entry for record in file.module.computations.records())
    if printed and not entry and not file.module.damaged and not isinstance(last, BlankLine):
        return "the `ENTRY` computation"
    return None


def _is_section(line: str) -> bool:
    """Return whether a line of a module text may be a whole section, such as ``{"a": [1, 2]}``."""
    begins = not line[:1].isspace() and not line.startswith(("%", "ROOT"))
    return begins and line.rstrip().endswith((")", "]", "}")) and is_balanced(line, 0)


def peak_row_key(file: DumpFile, row: PeakRow) -> str | None:
    """Return the key of the value of a row without an index, or None if rows are damaged.

    The rows have the order of ``BufferLiveRange``, restricted to values that are live at the peak.
    """
    label = file.records.head_of(row)
    if not isinstance(label, PeakLabel):
        return None
    rows = [record for record in file.records.members(label) if isinstance(record, PeakRow)]
    ranges = sorted(file.memory.ranges.records(), key=lambda live: live.line)
    live = [live for live in ranges if live.start_step <= label.moment <= live.end_step]
    if [peak.name for peak in rows] != [live.name for live in live]:
        return None
    return live[rows.index(row)].key
