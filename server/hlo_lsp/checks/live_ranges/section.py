"""The section of live ranges: the rows of its parts, and whether each part is complete.

``HloLiveRange::ToString`` (hlo_live_range.cc) prints the schedule, the live ranges, the list at the
peak and, in newer releases, the stack traces at the peak.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place, field_place
from hlo_lsp.model.query import query
from hlo_lsp.model.sections import Section, section_of
from hlo_lsp.program.schedule import ComputationSteps, Schedule, schedule_of
from hlo_lsp.program.stages import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.memory_records import (
    BreakdownRow,
    LiveRangeLabel,
    PeakRow,
    RangeRow,
    SequenceRow,
)
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.text.checkpoint import checkpoint

MAX_FINDINGS = 5  # of one rule

T = TypeVar("T")


_PARTS = (Section.SEQUENCE, Section.RANGES, Section.PEAK, Section.STACKS)


@dataclass(slots=True)
class LiveRangeSection:
    """The rows of the schedule, of the live ranges, of the peak and of the stack traces.

    Attributes:
        labels: The line before the rows of each part.
        damaged: Parts with an unreadable line: a row may be missing there.
    """

    file: DumpFile
    head: LiveRangeLabel | None
    steps: list[SequenceRow] = field(default_factory=list)
    ranges: list[RangeRow] = field(default_factory=list)
    peak: list[PeakRow] = field(default_factory=list)
    stacks: list[BreakdownRow] = field(default_factory=list)
    labels: dict[Section, Record] = field(default_factory=dict)
    damaged: set[Section] = field(default_factory=set)

    @property
    def lengths(self) -> set[int]:
        """The length of the schedule by its head and by its last row; one number if both agree."""
        found = set() if self.head is None else {self.head.max}
        return found | {row.step + 1 for row in self.steps[-1:]}

    def is_complete(self, part: Section) -> bool:
        """Return whether a part has its label and only readable lines, and another part follows.

        Nothing need follow the rows of the peak and the stacks: old compilers print no stacks.
        """
        if part in self.damaged or part not in self.labels:
            return False
        followers = _PARTS[_PARTS.index(part) + 1 :]
        return len(followers) < 2 or any(other in self.labels for other in followers)

    def place(self, record: Record, role: str | None = None) -> Place:
        """Return the place of a field of a record, by default of its whole line."""
        return field_place(self.file, record, role)

    def related(self, record: Record, message: str) -> Related:
        """Return the line of a record as the place of related information."""
        return Related(self.place(record), message)

    def label_place(self, part: Section) -> Place:
        """Return the place of the label of a part, or of the first line without one."""
        return self.place(self.labels.get(part) or self.head or (*self.steps, *self.ranges)[0])


@query
def live_range_section(dump: DumpSet) -> LiveRangeSection | None:
    """Return the live ranges of a compile, or None without any, or with several sections."""
    holders = (file for file in dump.files if len(file.memory.ranges) or len(file.memory.steps))
    file = next(holders, None)
    if file is None:
        return None
    section = LiveRangeSection(file, file.memory.label(LiveRangeLabel))
    rows: dict[type[Record], tuple[Section, list[Any]]] = {
        SequenceRow: (Section.SEQUENCE, section.steps),
        RangeRow: (Section.RANGES, section.ranges),
        PeakRow: (Section.PEAK, section.peak),
        BreakdownRow: (Section.STACKS, section.stacks),
    }
    current: Section | None = None
    for record in file.records if section.head is None else file.records.after(section.head):
        if type(record) in rows:
            current, found = rows[type(record)]
            found.append(record)
        elif isinstance(record, BrokenRecord):
            if current is not None:
                section.damaged.add(current)
        elif isinstance(record, LiveRangeLabel):
            return None
        elif (part := section_of(record)) in _PARTS and part is not None:
            if part in section.labels:
                return None
            section.labels[part] = record
            current = part
    return section


def report_few(
    items: Sequence[T], report: Callable[[T], Finding], row_count: int, summary: Finding
) -> list[Finding]:
    """Return the findings of the first few items, or a summary if most of the rows are wrong."""
    is_most = len(items) > max(MAX_FINDINGS, row_count // 2)
    return [summary] if is_most else [report(item) for item in items[:MAX_FINDINGS]]


class Kind(Enum):
    """A kind of difference between a row of a list and the expected list."""

    UNEXPECTED = "unexpected"
    REPEATED = "repeated"
    LATE = "late"  # after a row that it should precede
    MISSING = "missing"  # before the row


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs from the expected list; after the last row for missing ones.

    Attributes:
        other: The row that this one repeats or follows.
        place: The place of the row in the expected list, or of what is expected instead.
    """

    row: int
    kind: Kind
    other: int | None = None
    place: int | None = None


def differences(printed: Sequence[str], expected: Sequence[str]) -> list[Difference]:
    """Return the differences of a list of names from the expected list, at most one for a row."""
    if printed == expected:
        return []
    left: defaultdict[str, list[int]] = defaultdict(list)  # places that no row has taken
    for place in reversed(range(len(expected))):
        left[expected[place]].append(place)
    names, surplus = set(expected), Counter(printed) - Counter(expected)
    found: dict[int, Difference] = {}
    taken: dict[int, int] = {}  # rows by place
    firsts: dict[str, int] = {}
    previous = -1
    for row, name in enumerate(printed):
        places = left[name]
        if not places or (name in surplus and places[-1] != previous + 1):
            kind = Kind.REPEATED if name in names else Kind.UNEXPECTED
            found[row] = Difference(row, kind, firsts.get(name))
            continue
        firsts.setdefault(name, row)
        place = places.pop()
        taken[place] = row
        if place < previous:
            found[row] = Difference(row, Kind.LATE, taken[previous], place)
        previous = place
    after = 0
    for place in range(len(expected)):
        if place in taken:
            after = taken[place] + 1
        elif after not in found:
            found[after] = Difference(after, Kind.MISSING, place=place)
        elif found[after].place is None:
            found[after] = replace(found[after], place=place)
    return [found[row] for row in sorted(found)]


@dataclass(frozen=True, slots=True)
class TextSchedule:
    """The schedule of a module text, and the steps of the names that it has once.

    Two of them are equal if names, parameters, and steps of computations are, whatever else an edit
    changed in the instructions.
    """

    file: DumpFile
    schedule: Schedule = field(compare=False)
    steps: dict[str, int]
    instructions: list[tuple[str, bool]]
    spans: list[ComputationSteps]


@query
def text_schedule(dump: DumpSet) -> TextSchedule | None:
    """Return the schedule of the module text; None without a complete, scheduled one."""
    file = module_at_buffer_assignment(dump)
    schedule = schedule_of(file.module) if file is not None and is_complete_module(file) else None
    if file is None or schedule is None:
        return None
    lines = schedule.instructions
    checkpoint()
    named = [(line.name, line.opcode == "parameter") for line in lines]
    checkpoint()
    steps = once(line.name for line in lines)
    checkpoint()
    return TextSchedule(file, schedule, steps, named, list(schedule.spans.values()))


def once(names: Iterable[str]) -> dict[str, int]:
    """Return the places of the names that are there once."""
    listed = list(names)
    count = Counter(listed)
    return {name: place for place, name in enumerate(listed) if count[name] == 1}
