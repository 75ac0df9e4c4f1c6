"""The time of a program: of each execution, and of each instruction in all executions."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, Program, ProgramEvents

Interval = tuple[int, int]  # start and end


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Return disjoint intervals with the same points in ascending order."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def length(disjoint: Iterable[Interval]) -> int:
    """Return the sum of the lengths of disjoint intervals."""
    return sum(end - start for start, end in disjoint)


def common_length(one: Sequence[Interval], other: Sequence[Interval]) -> int:
    """Return the length of what two lists of ascending disjoint intervals have in common."""
    found, place = 0, 0
    for start, end in one:
        while place < len(other) and other[place][1] <= start:
            place += 1
        for other_start, other_end in _until(other, place, end):
            found += min(end, other_end) - max(start, other_start)
    return found


def _until(intervals: Sequence[Interval], place: int, end: int) -> Iterator[Interval]:
    while place < len(intervals) and intervals[place][0] < end:
        yield intervals[place]
        place += 1


def own_lengths(ordered: Sequence[Interval]) -> list[int]:
    """Return for each interval of one thread the time in which no later one runs inside of it.

    The sum of the result is the length of the union.

    Args:
        ordered: The intervals by start; of two with the same start, the longer one precedes.
    """
    own = [0] * len(ordered)
    open_ones: list[int] = []  # the innermost last
    now, last = 0, max((end for _, end in ordered), default=0)
    for number, (start, _) in enumerate([*ordered, (last, last)]):
        while open_ones and ordered[open_ones[-1]][1] <= start:
            closed = open_ones.pop()
            end = ordered[closed][1]
            if end > now:
                own[closed] += end - now
                now = end
        if start > now:
            if open_ones:
                own[open_ones[-1]] += start - now
            now = start
        open_ones.append(number)
    return own


def median(numbers: Iterable[int]) -> int:
    """Return the lower median of at least one number."""
    ordered = sorted(numbers)
    return ordered[(len(ordered) - 1) // 2]


_START, _DURATION = attrgetter("start_ps"), attrgetter("duration_ps")


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a program on one device; events are in order of their starts.

    ``span`` is the whole execution if the profile states it.
    """

    device: str
    events: Sequence[InstructionEvent]
    span: ModuleSpan | None = None

    @property
    def start_ps(self) -> int:
        """The start of the first event."""
        return self.span.start_ps if self.span else self.events[0].start_ps

    @property
    def duration_ps(self) -> int:
        """The time from the start to the end of the last event."""
        if self.span is not None:
            return self.span.duration_ps
        ends = [one.start_ps + one.duration_ps for one in self.events if not one.is_async]
        return max(ends, default=self.start_ps) - self.start_ps


def executions_of(
    device: str, found: ProgramEvents, entry_names: Collection[str]
) -> list[Execution]:
    """Return the executions of a program on a device in order of their starts.

    A profile states them by ids of runs or by events that span them. GPU profiles do neither: there
    an execution begins with each occurrence of a kernel that runs once in an execution.

    Args:
        device: The name of the device.
        found: The events of the program.
        entry_names: The instructions of the entry computation, empty if they are unknown.
    """
    # By start; of two events with the same start, the longer one encloses the other.
    ordered = sorted(found.events, key=_DURATION, reverse=True)
    ordered.sort(key=_START)
    if found.spans:
        return _by_span(device, ordered, sorted(found.spans, key=lambda span: span.start_ps))
    if ordered and all(event.run_id is not None for event in ordered):
        runs: dict[int | None, list[InstructionEvent]] = {}
        for event in ordered:
            runs.setdefault(event.run_id, []).append(event)
        return [Execution(device, events) for events in runs.values()]
    return _by_recurrence(device, ordered, entry_names)


def _by_span(
    device: str, events: Iterable[InstructionEvent], spans: Sequence[ModuleSpan]
) -> list[Execution]:
    """Assign each event to the last span that begins before it."""
    parts: list[list[InstructionEvent]] = [[] for _ in spans]
    starts = [span.start_ps for span in spans]
    for event in events:
        parts[max(0, bisect_right(starts, event.start_ps) - 1)].append(event)
    return [Execution(device, *part) for part in zip(parts, spans, strict=True)]


def _by_recurrence(
    device: str, events: Sequence[InstructionEvent], entry_names: Collection[str]
) -> list[Execution]:
    """Start an execution with each occurrence of the first kernel that runs once in each of them.

    In the entry computation, most kernels do, and some of their events can be missing. Without its
    text, loops are not known, and the rarest kernel is that kernel.
    """
    kernels = [(event.instruction, event.kernel) for event in events]
    counts = Counter(kernel for kernel in kernels if kernel[0] in entry_names)
    if counts:
        frequencies = Counter(counts.values())
        runs = max(frequencies, key=lambda count: (frequencies[count], -count))
    else:
        counts = Counter(kernels)
        runs = min(counts.values(), default=0)
    first = next((kernel for kernel in kernels if counts.get(kernel) == runs), None)
    parts: list[list[InstructionEvent]] = [[]]
    has_begun = False
    for event, kernel in zip(events, kernels, strict=True):
        if kernel == first:
            if has_begun:
                parts.append([])
            has_begun = True
        parts[-1].append(event)
    return [Execution(device, part) for part in parts if part]


_OUTLIER_FACTOR = 1.5  # a first run that takes longer than this multiple of the median warms up


@dataclass(frozen=True, slots=True)
class InstructionTime:
    """The time of an instruction in all executions, in picoseconds.

    Attributes:
        name: The name of the instruction.
        occurrences: How often it ran; in a loop, once for each iteration.
        events: The number of events, such as kernels.
        total_ps: The sum of the durations of its events.
        own_ps: The part of ``total_ps`` in which no other instruction ran inside of it: the body of
            a loop is not part of the loop.
        async_ps: The duration of its asynchronous transfers, during which the device computes.
    """

    name: str
    occurrences: int
    events: int
    total_ps: int
    own_ps: int
    async_ps: int = 0


@dataclass(frozen=True, slots=True)
class ExecutionTime:
    """The time of one run on one device, in picoseconds.

    Attributes:
        device: The device, such as ``GPU 0``.
        start_ps: The start, since the beginning of the profile.
        duration_ps: The time from the first to the last instruction.
        busy_ps: The time in which at least one instruction ran.
        communication_ps: The time in which at least one collective ran.
        exposed_ps: The part of ``communication_ps`` in which nothing else ran.
    """

    device: str
    start_ps: int
    duration_ps: int
    busy_ps: int
    communication_ps: int
    exposed_ps: int

    @property
    def idle_ps(self) -> int:
        """The time in which no instruction ran."""
        return max(0, self.duration_ps - self.busy_ps)


@dataclass(frozen=True, slots=True)
class ProgramTime:
    """The time of a program in a profile.

    Attributes:
        program: The program.
        executions: The runs on all devices, by start.
        instructions: The instructions, the one with most own time first.
    """

    program: Program
    executions: tuple[ExecutionTime, ...]
    instructions: tuple[InstructionTime, ...]

    @property
    def devices(self) -> list[str]:
        """The devices that ran the program."""
        return sorted({one.device for one in self.executions}, key=_natural)

    @property
    def runs(self) -> int:
        """The number of runs on the device with most of them."""
        return max(Counter(one.device for one in self.executions).values(), default=0)

    @property
    def duration_ps(self) -> int:
        """The sum of the durations of all executions."""
        return sum(one.duration_ps for one in self.executions)

    @property
    def busy_ps(self) -> int:
        """The sum of the busy times of all executions."""
        return sum(one.busy_ps for one in self.executions)

    @property
    def idle_ps(self) -> int:
        """The sum of the idle times of all executions."""
        return sum(one.idle_ps for one in self.executions)

    @property
    def own_ps(self) -> int:
        """The sum of the own times of all instructions, more than busy on several threads."""
        return sum(one.own_ps for one in self.instructions)

    @property
    def exposed_ps(self) -> int:
        """The sum of the exposed communication of all executions."""
        return sum(one.exposed_ps for one in self.executions)

    @property
    def median_ps(self) -> int:
        """The median duration of an execution."""
        return median(one.duration_ps for one in self.executions)

    @property
    def has_warm_up(self) -> bool:
        """True if the first run on a device takes much longer than the median of the others."""
        first = {one.device: one for one in reversed(self.executions)}
        others = [one.duration_ps for one in self.executions if first[one.device] is not one]
        return bool(others) and any(
            one.duration_ps > _OUTLIER_FACTOR * median(others) for one in first.values()
        )


def _natural(device: str) -> tuple[int, str]:
    return len(device), device


def program_time(
    program: Program,
    devices: Mapping[str, ProgramEvents],
    entry_names: Collection[str],
    is_communication: Callable[[str], bool],
) -> ProgramTime:
    """Return the time of a program.

    Args:
        program: The program.
        devices: Its events by device.
        entry_names: The instructions of the entry computation, empty if they are unknown.
        is_communication: Whether the instruction of a name communicates with other devices.
    """
    sums: dict[str, _Sum] = {}
    executions = []
    for device, found in devices.items():
        for execution in executions_of(device, found, entry_names):
            checkpoint()
            _add_times(execution, sums)
            executions.append(_execution_time(execution, is_communication))
    instructions = (one.time(name) for name, one in sums.items())
    return ProgramTime(
        program,
        tuple(sorted(executions, key=lambda one: (one.start_ps, one.device))),
        tuple(sorted(instructions, key=lambda one: (-one.own_ps, one.name))),
    )


@dataclass(slots=True)
class _Sum:
    occurrences: int = 0
    events: int = 0
    total: int = 0
    own: int = 0
    asynchronous: int = 0

    def time(self, name: str) -> InstructionTime:
        return InstructionTime(
            name, self.occurrences, self.events, self.total, self.own, self.asynchronous
        )


def _add_times(execution: Execution, sums: dict[str, _Sum]) -> None:
    lines: dict[int, list[InstructionEvent]] = {}
    kernels: dict[str, Counter[str]] = {}
    for event in execution.events:
        found = sums.get(event.instruction)
        if found is None:
            found = sums[event.instruction] = _Sum()
        found.events += 1
        if event.is_async:
            found.asynchronous += event.duration_ps
            continue
        found.total += event.duration_ps
        lines.setdefault(event.line, []).append(event)
        counts = kernels.get(event.instruction)
        if counts is None:
            counts = kernels[event.instruction] = Counter()
        counts[event.kernel] += event.occurrences
    for events in lines.values():
        own = own_lengths([(event.start_ps, event.end_ps) for event in events])
        for event, part in zip(events, own, strict=True):
            sums[event.instruction].own += part
    for name, counts in kernels.items():
        # An execution of an instruction has each of its kernels at least once.
        sums[name].occurrences += min(counts.values())


def _execution_time(execution: Execution, is_communication: Callable[[str], bool]) -> ExecutionTime:
    events = [event for event in execution.events if not event.is_async]
    names = {event.instruction for event in events}
    communicating = {name for name in names if is_communication(name)}
    busy = _union(events)
    communication = _union(event for event in events if event.instruction in communicating)
    # An enclosing loop is not computation that hides what runs inside of it.
    other = _union(_innermost(events, communicating))
    total = length(communication)
    return ExecutionTime(
        execution.device,
        execution.start_ps,
        execution.duration_ps,
        length(busy),
        total,
        total - common_length(communication, other),
    )


def _union(events: Iterable[InstructionEvent]) -> list[tuple[int, int]]:
    return union((event.start_ps, event.end_ps) for event in events)


def _innermost(
    events: Sequence[InstructionEvent], communicating: Collection[str]
) -> list[InstructionEvent]:
    """Return the events that compute and enclose no event of their line."""
    if not communicating:
        return []
    last: dict[int, InstructionEvent] = {}
    enclosing = set()
    for event in events:  # by start, so that the next one of a line shows whether one encloses
        before = last.get(event.line)
        if before is not None and event.end_ps <= before.end_ps and event.start_ps < before.end_ps:
            enclosing.add(before)
        last[event.line] = event
    return [
        event
        for event in events
        if event.instruction not in communicating and event not in enclosing
    ]
