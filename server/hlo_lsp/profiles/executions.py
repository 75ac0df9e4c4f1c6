"""The executions of a program: which events belong to the same run on the same device."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, ProgramEvents

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
