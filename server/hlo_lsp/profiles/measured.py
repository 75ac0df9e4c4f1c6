"""The time of a program: of each execution, and of each instruction in all executions."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.profiles.events import InstructionEvent, Program, ProgramEvents
from hlo_lsp.profiles.executions import Execution, executions_of
from hlo_lsp.profiles.intervals import common_length, length, median, own_lengths, union

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
