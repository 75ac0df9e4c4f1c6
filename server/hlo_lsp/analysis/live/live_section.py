"""The live-range part of a dump: its rows in order, by the label they stand under."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.line_fields import fields_of_line, rule_of
from hlo_lsp.syntax.memory_records import (
    BreakdownRow,
    LiveRangeLabel,
    PeakLabel,
    PeakRow,
    RangeRow,
    SequenceRow,
)
from hlo_lsp.syntax.records import BrokenRecord, Label, Record


class Part(Enum):
    """The parts in the order in which they are printed; values are the rules of their labels."""

    STEPS = "sequence_label"
    RANGES = "ranges_label"
    PEAK = "peak_label"
    STACKS = "breakdown_label"


_NAMES = {part.value: part for part in Part}
_ORDER = list(Part)


@dataclass(slots=True)
class LiveSection:
    """The rows of the schedule, of the live ranges, of the peak and of the stack traces.

    ``labels`` are the lines in front of each part. ``damaged`` are the parts in which a line cannot
    be read, or the file ends: a row may be missing there. ``holes`` are the numbers of rows of the
    schedule in front of each line that cannot be read.
    """

    file: DumpFile
    head: LiveRangeLabel | None = None
    labels: dict[Part, Record] = field(default_factory=dict)
    steps: list[SequenceRow] = field(default_factory=list)
    ranges: list[RangeRow] = field(default_factory=list)
    peak: list[PeakRow] = field(default_factory=list)
    stacks: list[BreakdownRow] = field(default_factory=list)
    damaged: set[Part] = field(default_factory=set)
    holes: list[int] = field(default_factory=list)
    has_no_peak: bool = False

    @property
    def moment(self) -> PeakLabel | None:
        """The line that names the peak."""
        label = self.labels.get(Part.PEAK)
        return label if isinstance(label, PeakLabel) else None

    @property
    def breakdown_total(self) -> int | None:
        """The bytes in the line in front of the stack traces; None where that is not there."""
        label = self.labels.get(Part.STACKS)
        if label is None:
            return None
        digits = self.text_of(label, "TOTAL")
        return None if digits is None else int(digits.replace(" ", ""))

    def text_of(self, record: Record, role: str) -> str | None:
        """A field of a row or label as it is printed, by its name in the grammar."""
        line = self.file.lines[record.line]
        rule = rule_of(record, line)
        found = () if rule is None else fields_of_line(rule, line)
        return next((field.text for field in found if field.role == role), None)

    def is_whole(self, part: Part) -> bool:
        """Whether a part has its label and only lines that can be read, and another one follows.

        Nothing need follow the rows of the peak and the stacks: old compilers print no stacks.
        """
        if part in self.damaged or part not in self.labels:
            return False
        following = set(_ORDER[_ORDER.index(part) + 1 :])
        ends_here = part in {Part.PEAK, Part.STACKS} or (part is Part.RANGES and self.has_no_peak)
        return ends_here or not following.isdisjoint(self.labels)


def live_section(dump: DumpSet) -> LiveSection | None:
    """The live ranges of a compile, or None where there are none, or more than one.

    Two heads or two labels of a part are the sign of two files in one: rows then say nothing.
    """
    files = [file for file in dump.files if len(file.memory.ranges) or len(file.memory.steps)]
    return dump.derived(_first, files) if files else None


def _first(dump: DumpSet) -> LiveSection | None:
    for file in dump.files:
        if len(file.memory.ranges) or len(file.memory.steps):
            return _read(file)
    return None


def _read(file: DumpFile) -> LiveSection | None:
    section = LiveSection(file)
    rows: dict[type[Record], tuple[Part, list[Any]]] = {
        SequenceRow: (Part.STEPS, section.steps),
        RangeRow: (Part.RANGES, section.ranges),
        PeakRow: (Part.PEAK, section.peak),
        BreakdownRow: (Part.STACKS, section.stacks),
    }
    current: Part | None = None
    for record in _records(file):
        place = rows.get(type(record))
        if place is not None:
            current = place[0]
            place[1].append(record)
        elif isinstance(record, BrokenRecord):
            if current is not None:
                section.damaged.add(current)
            if current is Part.STEPS:
                section.holes.append(len(section.steps))
        elif record.is_head:
            part = _part_of(record)
            if part in section.labels or (part is None and not _is_alone(section, record)):
                return None
            if part is not None:
                section.labels[part] = record
                current = part
    # Of the stack traces their own sums tell best what is missing.
    if current is not None and current is not Part.STACKS and ending(file) is not None:
        section.damaged.add(current)
    return section


def _is_alone(section: LiveSection, record: Record) -> bool:
    """Take note of a line that is no label of a part; False if it is a second head."""
    if isinstance(record, LiveRangeLabel):
        if section.head is not None:
            return False
        section.head = record
    elif isinstance(record, Label) and record.name == "peak_missing":
        section.has_no_peak = True
    return True


def _records(file: DumpFile) -> Iterator[Record]:
    """The records of the live ranges; without their head all records of the file."""
    head = file.memory.label(LiveRangeLabel)
    return iter(file.records) if head is None else _from(file, head)


def _from(file: DumpFile, head: LiveRangeLabel) -> Iterator[Record]:
    yield head
    yield from file.records.after(head)


def _part_of(record: Record) -> Part | None:
    if isinstance(record, PeakLabel):
        return Part.PEAK
    return _NAMES.get(record.name) if isinstance(record, Label) else None
