"""The sections of a memory file: what begins where, and what is not where XLA prints it.

The order is that of ``BufferAssignment::ToString`` (buffer_assignment.cc) and
``HloLiveRange::ToString`` (hlo_live_range.cc). In split dumps a file holds a part of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from weakref import WeakKeyDictionary

from hlo_lsp.model.dump_file import DumpFile
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


class Section(IntEnum):
    """The sections in the order in which they are printed."""

    ALLOCATIONS = 0
    TOTAL = 1
    ENTRIES = 2
    LIVE_RANGE = 3
    SEQUENCE = 4
    RANGES = 5
    PEAK = 6
    STACKS = 7
    MODULE = 8  # a text of its own

    @property
    def title(self) -> str:
        """The line that opens it, as far as it is always the same."""
        return _TITLES[self]


_TITLES = {
    Section.ALLOCATIONS: "BufferAssignment:",
    Section.TOTAL: "Total bytes used",
    Section.ENTRIES: "Used values:",
    Section.LIVE_RANGE: "HloLiveRange",
    Section.SEQUENCE: "InstructionSequence:",
    Section.RANGES: "BufferLiveRange:",
    Section.PEAK: "Live ranges at ... (peak):",
    Section.STACKS: "Stack trace breakdown for peak usage",
    Section.MODULE: "HloModule",
}
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
# What must stand in front of a section in the same file.
_NEEDS = {
    Section.ENTRIES: Section.TOTAL,
    Section.SEQUENCE: Section.LIVE_RANGE,
    Section.RANGES: Section.SEQUENCE,
    Section.PEAK: Section.RANGES,
    Section.STACKS: Section.PEAK,
}


@dataclass(frozen=True, slots=True)
class Run:
    """A line that opens a section, or neighbouring rows of one, from the first on."""

    section: Section
    first: Record
    opens: bool
    # Whether a line in front of it cannot be read, which may have opened a section.
    after_broken: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """A section that begins a second time; ``first`` is where it did before."""

    section: Section
    head: Record
    first: Record


@dataclass(frozen=True, slots=True)
class Late:
    """A section that stands behind one that XLA prints after it."""

    section: Section
    head: Record
    behind: Section


@dataclass(frozen=True, slots=True)
class Missing:
    """A section, or the line that opens it, that should stand in front of a record."""

    section: Section
    before: Record


@dataclass(frozen=True, slots=True)
class Astray:
    """Rows of one section among those of another; ``first`` is the first of them."""

    section: Section
    first: Record
    among: Section


Disorder = Repeated | Late | Missing | Astray
_KNOWN: "WeakKeyDictionary[DumpFile, tuple[int, tuple[Disorder, ...]]]" = WeakKeyDictionary()


def section_of(head: Record) -> Section | None:
    """The section that a line opens; None for any other line."""
    if isinstance(head, Label):
        return _LABELS.get(head.name)
    return _HEADS.get(type(head))


def row_section(row: Record) -> Section | None:
    """The section that a row belongs to wherever it stands; None for any other line."""
    return _ROWS.get(type(row))


def disorder(file: DumpFile) -> tuple[Disorder, ...]:
    """What is not in order in a buffer assignment, values or live-range file, or a module text.

    Remembered until the file changes. Reports have an order of their own.
    """
    if file.kind is FileKind.MODULE:
        return _further_modules(file)
    if not file.kind.is_memory or file.kind is FileKind.REPORT:
        return ()
    known = _KNOWN.get(file)
    if known is None or known[0] != file.version:
        known = _KNOWN[file] = file.version, tuple(_disorder(list(_runs(file))))
    return known[1]


def _further_modules(file: DumpFile) -> tuple[Disorder, ...]:
    """The heads of modules behind the first one."""
    heads = sorted(file.module.headers.records(), key=lambda head: head.line)
    return tuple(Repeated(Section.MODULE, head, heads[0]) for head in heads[1:])


def is_joined(file: DumpFile) -> bool:
    """Whether a file holds a section twice: then it is two dumps, of which rows say nothing."""
    return any(isinstance(fault, Repeated) for fault in disorder(file))


def _runs(file: DumpFile) -> Iterator[Run]:
    last: Section | None = None
    broken = False
    for record in file.records:
        kind = type(record)
        section = _ROWS.get(kind)
        if isinstance(record, UsedValue) and record.id is None:
            broken = True  # the rest of an entry, or of anything else that was cut
            continue
        if section is not None:
            if section is not last:
                yield Run(section, record, False, broken)
                last, broken = section, False
            continue
        section = section_of(record)
        if section is not None:
            yield Run(section, record, True, broken)
            last, broken = None, False
        elif kind is BrokenRecord:
            broken = True


def _disorder(runs: list[Run]) -> Iterator[Disorder]:
    current: Section | None = None
    opened: dict[Section, Record] = {}
    for place, run in enumerate(runs):
        section = run.section
        if run.opens:
            yield from _at_head(run, current, opened)
            opened.setdefault(section, run.first)
            current = section
        elif section is not current:
            if run.after_broken:  # what opens it may be what cannot be read
                current = section
                continue
            if current is not None and _returns(runs[place + 1 : place + 2], current):
                yield Astray(section, run.first, current)
                continue
            if current is None or section > current:
                yield Missing(section, run.first)
                opened.setdefault(section, run.first)
                current = section
            else:
                yield Astray(section, run.first, current)


def _returns(behind: list[Run], section: Section) -> bool:
    """Whether the section goes on behind rows of another one."""
    return bool(behind) and not behind[0].opens and behind[0].section is section


def _at_head(
    run: Run, current: Section | None, opened: dict[Section, Record]
) -> Iterator[Disorder]:
    section = run.section
    if current is not None and section <= current:
        if section in opened:
            yield Repeated(section, run.first, opened[section])
        else:
            yield Late(section, run.first, current)
        return
    if run.after_broken:
        return
    needed = _NEEDS.get(section)
    if needed is not None and current is not needed:
        yield Missing(needed, run.first)
    elif section is Section.LIVE_RANGE and current in {Section.ALLOCATIONS, Section.TOTAL}:
        yield Missing(Section.ENTRIES, run.first)
