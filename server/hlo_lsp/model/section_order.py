"""The sections of a memory file, and what is not where XLA prints it.

The order is that of ``BufferAssignment::ToString`` (buffer_assignment.cc) and
``HloLiveRange::ToString`` (hlo_live_range.cc). In split dumps a file holds a part of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query import query
from hlo_lsp.syntax.file_kinds import FileKind
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
from hlo_lsp.syntax.records import BrokenRecord, Label, Record
from hlo_lsp.syntax.used_value import UsedValue


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
    """A record that is not where XLA prints it; ``twin`` opened the same section before."""

    record: Record
    message: str
    twin: Record | None = None


def section_of(head: Record) -> Section | None:
    """Return the section that a line opens; None for any other line."""
    return _LABELS.get(head.name) if isinstance(head, Label) else _HEADS.get(type(head))


def row_section(row: Record) -> Section | None:
    """Return the section that a row is of wherever it is; None for any other line."""
    return _ROWS.get(type(row))


@query
def disorder(file: DumpFile) -> tuple[Disorder, ...]:
    """Return the misplaced records of a memory file, or the second header of a module text.

    Reports have an order of their own.
    """
    return tuple(_disorder(file))


@query
def is_joined(file: DumpFile) -> bool:
    """Return whether a file has a section twice: it is two dumps, of which no rule holds."""
    return any(fault.twin is not None for fault in disorder(file))


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
        if kind is BrokenRecord or (isinstance(record, UsedValue) and record.id is None):
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
