"""The section of live ranges: the rows of its parts, and whether each part is complete.

``HloLiveRange::ToString`` (hlo_live_range.cc) prints the schedule, the live ranges, the list at the
peak and, in newer releases, the stack traces at the peak.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from hlo_lsp.checks.case import field_place
from hlo_lsp.checks.finding import Finding
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.program.schedule import Schedule, schedule_of
from hlo_lsp.syntax.memory_records import (
    BreakdownRow,
    LiveRangeLabel,
    PeakLabel,
    PeakRow,
    RangeRow,
    SequenceRow,
)
from hlo_lsp.syntax.records import BrokenRecord, Label, Record

MAX_FINDINGS = 5  # of one rule

T = TypeVar("T")


class LiveRangePart(Enum):
    """The parts in the order in which they are printed; values are the rules of their labels."""

    STEPS = "sequence_label"
    RANGES = "ranges_label"
    PEAK = "peak_label"
    STACKS = "breakdown_label"


_PARTS = {part.value: part for part in LiveRangePart}
_ORDER = list(LiveRangePart)


@dataclass(slots=True)
class LiveRangeSection:
    """The rows of the schedule, of the live ranges, of the peak and of the stack traces.

    Attributes:
        labels: The line before the rows of each part.
        damaged: Parts with an unreadable line: a row may be missing there.
        has_no_peak: Whether a line states that XLA could not determine the peak.
    """

    file: DumpFile
    head: LiveRangeLabel | None = None
    labels: dict[LiveRangePart, Record] = field(default_factory=dict)
    steps: list[SequenceRow] = field(default_factory=list)
    ranges: list[RangeRow] = field(default_factory=list)
    peak: list[PeakRow] = field(default_factory=list)
    stacks: list[BreakdownRow] = field(default_factory=list)
    damaged: set[LiveRangePart] = field(default_factory=set)
    has_no_peak: bool = False

    @property
    def peak_label(self) -> PeakLabel | None:
        """The line that names the step of the peak."""
        label = self.labels.get(LiveRangePart.PEAK)
        return label if isinstance(label, PeakLabel) else None

    @property
    def lengths(self) -> set[int]:
        """The length of the schedule by its head and by its last row; one number if both agree."""
        found = set() if self.head is None else {self.head.max}
        return found | {row.step + 1 for row in self.steps[-1:]}

    def is_complete(self, part: LiveRangePart) -> bool:
        """Return whether a part has its label and only readable lines, and another part follows.

        Nothing need follow the rows of the peak and the stacks: old compilers print no stacks.
        """
        if part in self.damaged or part not in self.labels:
            return False
        if part in {LiveRangePart.PEAK, LiveRangePart.STACKS}:
            return True
        following = _ORDER[_ORDER.index(part) + 1 :]
        is_last = part is LiveRangePart.RANGES and self.has_no_peak
        return is_last or any(other in self.labels for other in following)

    def place(self, record: Record, role: str | None = None) -> Place:
        """Return the place of a field of a record, by default of its whole line."""
        return field_place(self.file, record, role)

    def label_place(self, part: LiveRangePart) -> Place:
        """Return the place of the label of a part, or of the first line without one."""
        return self.place(self.labels.get(part) or self.head or (self.steps or self.ranges)[0])


def live_range_section(dump: DumpSet) -> LiveRangeSection | None:
    """Return the live ranges of a compile, or None without any, or with several sections."""
    files = [file for file in dump.files if len(file.memory.ranges) or len(file.memory.steps)]
    return dump.derived(_first_section, files) if files else None


def report_few(
    items: Sequence[T], report: Callable[[T], Finding], rows: int, summary: Finding
) -> Iterator[Finding]:
    """Yield the findings of the first few items, or a summary if most of the rows are wrong."""
    if len(items) > max(MAX_FINDINGS, rows // 2):
        yield summary
    else:
        yield from map(report, items[:MAX_FINDINGS])


def _first_section(dump: DumpSet) -> LiveRangeSection | None:
    for file in dump.files:
        if len(file.memory.ranges) or len(file.memory.steps):
            return _read(file)
    return None


def _read(file: DumpFile) -> LiveRangeSection | None:
    section = LiveRangeSection(file, file.memory.label(LiveRangeLabel))
    rows: dict[type[Record], tuple[LiveRangePart, list[Any]]] = {
        SequenceRow: (LiveRangePart.STEPS, section.steps),
        RangeRow: (LiveRangePart.RANGES, section.ranges),
        PeakRow: (LiveRangePart.PEAK, section.peak),
        BreakdownRow: (LiveRangePart.STACKS, section.stacks),
    }
    current: LiveRangePart | None = None
    records = iter(file.records) if section.head is None else file.records.after(section.head)
    for record in records:
        known = rows.get(type(record))
        if known is not None:
            current = known[0]
            known[1].append(record)
        elif isinstance(record, BrokenRecord):
            if current is not None:
                section.damaged.add(current)
        elif isinstance(record, LiveRangeLabel):
            return None
        elif isinstance(record, PeakLabel | Label):
            name = record.name if isinstance(record, Label) else record.rule
            section.has_no_peak |= name == "peak_missing"
            part = _PARTS.get(name)
            if part in section.labels:
                return None
            if part is not None:
                section.labels[part] = record
                current = part
    return section


@dataclass(frozen=True, slots=True)
class TextSchedule:
    """The schedule of a module text, and the steps of the names that it has once."""

    file: DumpFile
    schedule: Schedule
    steps: dict[str, int]


def text_schedule(dump: DumpSet) -> TextSchedule | None:
    """Return the schedule of the module text; None without a complete, scheduled one."""
    file = module_at_buffer_assignment(dump)
    return None if file is None else dump.derived(_compute, [file])


def once(names: Iterable[str]) -> dict[str, int]:
    """Return the places of the names that are there once."""
    listed = list(names)
    count = Counter(listed)
    return {name: place for place, name in enumerate(listed) if count[name] == 1}


def _compute(dump: DumpSet) -> TextSchedule | None:
    file = module_at_buffer_assignment(dump)
    schedule = schedule_of(file.module) if file is not None and is_complete_module(file) else None
    if file is None or schedule is None:
        return None
    return TextSchedule(file, schedule, once(line.name for line in schedule.instructions))
