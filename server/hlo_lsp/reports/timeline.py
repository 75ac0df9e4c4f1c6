"""Occupied bytes over the schedule: the curve of each memory space, and the buffers at a step."""

from dataclasses import dataclass

from hlo_lsp.memory.grouping import OwnedBuffer, owned_buffers
from hlo_lsp.memory.live_set import LiveBuffer, live_buffers
from hlo_lsp.memory.local_peaks import local_peaks
from hlo_lsp.memory.missing_facts import missing_facts
from hlo_lsp.memory.space_occupancy import SpaceOccupancy, memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.source import SourceLine
from hlo_lsp.reports.summary import module_name
from hlo_lsp.syntax.memory_records import RangeRow

_MIN_PEAK_RISE = 50  # a local peak rises at least one fiftieth of the peak


@dataclass(frozen=True, slots=True)
class TimelinePeak:
    """A local peak with the instruction that runs at its step, None if it is unknown."""

    step: int
    bytes: int
    instruction: str | None
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class SpaceTimeline:
    """The curve of a memory space.

    Attributes:
        title: Name of the memory space.
        occupancy: The occupied bytes by step.
        peaks: The local peaks, the largest first.
        buffers: The buffers at the step of the timeline, the largest first.
        ranges: The live range of each of them, None if it has none.
    """

    title: str
    occupancy: SpaceOccupancy
    peaks: tuple[TimelinePeak, ...]
    buffers: tuple[OwnedBuffer, ...]
    ranges: tuple[RangeRow | None, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The curves of a compile; ``missing`` lists what its files do not contain.

    ``step`` is the step whose buffers are listed, None if none are.
    """

    name: str
    path: str
    backend: str
    last_step: int | None
    step: int | None
    spaces: tuple[SpaceTimeline, ...]
    missing: tuple[str, ...]


def timeline_of(dump: DumpSet, space: int | None = None, step: int | None = None) -> Timeline:
    """Return the timeline of a compile.

    Args:
        dump: The compile.
        space: The only memory space to include; None for all.
        step: The step whose buffers are listed, if any.
    """
    occupancies = memory_space_occupancies(dump)
    return Timeline(
        module_name(dump),
        dump.files[0].label,
        dump.backend.value,
        dump.last_step,
        step,
        tuple(
            _space_timeline(dump, occupancy, step)
            for occupancy in occupancies
            if space in {None, occupancy.space}
        ),
        missing_facts(dump),
    )


def _space_timeline(dump: DumpSet, occupancy: SpaceOccupancy, step: int | None) -> SpaceTimeline:
    rise = max(1, occupancy.peak_bytes // _MIN_PEAK_RISE)
    curve = zip(occupancy.change_steps, occupancy.temp_bytes, strict=True)
    found = [_peak(dump, at, occupancy.fixed_bytes + temp) for at, temp in local_peaks(curve, rise)]
    buffers = () if step is None else live_buffers(dump, occupancy.space, step)
    return SpaceTimeline(
        space_title(occupancy.space, dump.backend),
        occupancy,
        tuple(sorted(found, key=lambda peak: (-peak.bytes, peak.step))),
        tuple(owned_buffers(dump, buffers)),
        tuple(_live_range(dump, buffer) for buffer in buffers),
    )


def _live_range(dump: DumpSet, buffer: LiveBuffer) -> RangeRow | None:
    live = None if buffer.value is None else dump.live(buffer.value.record.key)
    return None if live is None else live.record


def _peak(dump: DumpSet, step: int, count: int) -> TimelinePeak:
    row = dump.at_step(step)
    if row is None:
        return TimelinePeak(step, count, None, None)
    text = dump.text_of(row.record.name)
    stack = [] if text is None else dump.stack(text)
    return TimelinePeak(step, count, row.record.name, dump.frames.line_of(stack))
