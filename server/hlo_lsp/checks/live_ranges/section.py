"""The section of live ranges: the rows of its parts, and whether each part is complete.

``HloLiveRange::ToString`` (hlo_live_range.cc) prints the schedule, the live ranges, the list at the
peak and, in newer releases, the stack traces at the peak.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, field_place
from hlo_lsp.model.query_cache import query
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
from hlo_lsp.text.document import common_prefix_length

MAX_FINDINGS = 5  # of one rule
_MAX_COMPARED_ROWS = 2000  # from the first difference on; about 10 ms

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
def live_range_section(dump: Compile) -> LiveRangeSection | None:
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


class Difference(NamedTuple):
    """A row of a list that differs from the expected list.

    Attributes:
        row: The place of the row, or of the row that a missing one should precede.
        is_unexpected: Whether the row should not be there.
        place: The place in the expected list of what is missing before it or expected instead.
    """

    row: int
    is_unexpected: bool
    place: int | None


def differences(printed: Sequence[str], expected: Sequence[str]) -> list[Difference]:
    """Return the first differences of a list of names from the expected list, one for each row."""
    start = common_prefix_length(printed, expected, 64, 1)
    end = start + _MAX_COMPARED_ROWS
    matcher = SequenceMatcher(None, printed[start:end], expected[start:end], autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if max(len(printed), len(expected)) > end and len(changes) > 1:
        changes.pop()  # one list is ahead of the other where both are cut
    found: list[Difference] = []
    for _, row, row_end, place, place_end in changes:
        for at in range(max(row_end - row, 1)):
            other = start + place + at if place + at < place_end else None
            found.append(Difference(start + row + at, row < row_end, other))
    # A row in the wrong place is missing in the right one.
    unexpected = {printed[one.row] for one in found if one.is_unexpected}
    return [
        one
        for one in found
        if one.is_unexpected or one.place is None or expected[one.place] not in unexpected
    ]


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
def text_schedule(dump: Compile) -> TextSchedule | None:
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
