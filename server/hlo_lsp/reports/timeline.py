"""Occupied bytes over the schedule, as a chart for terminals and as JSON; buffers at a step."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import Table, text_lines
from hlo_lsp.memory.grouping import OwnedBuffer, owned_buffers
from hlo_lsp.memory.live_set import LiveBuffer, live_buffers
from hlo_lsp.memory.missing_facts import missing_facts
from hlo_lsp.memory.occupancy_and_peaks import SpaceOccupancy, local_peaks, memory_space_occupancies
from hlo_lsp.memory.savings import large_spaces
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.instruction_owners import owner_of
from hlo_lsp.reports.summary_text import buffer_json, buffer_name, origin_text
from hlo_lsp.syntax.memory_records import RangeRow
from hlo_lsp.text.amounts import format_short_bytes as _size
from hlo_lsp.text.inert import Json

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

    @property
    def peak_bytes(self) -> int:
        """The largest peak of a memory space, 0 without one."""
        return max((one.occupancy.peak_bytes for one in self.spaces), default=0)


def timeline_of(dump: Compile, space: int | None = None, step: int | None = None) -> Timeline:
    """Return the timeline of a compile.

    Args:
        dump: The compile.
        space: The only memory space to include; None for all.
        step: The step whose buffers are listed, if any.
    """
    occupancies = memory_space_occupancies(dump)
    return Timeline(
        dump.module_name,
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


def _space_timeline(dump: Compile, occupancy: SpaceOccupancy, step: int | None) -> SpaceTimeline:
    found = [_peak(dump, at, count) for at, count in peaks_of(occupancy)]
    buffers = () if step is None else live_buffers(dump, occupancy.space, step)
    return SpaceTimeline(
        space_title(occupancy.space, dump.backend),
        occupancy,
        tuple(sorted(found, key=lambda peak: (-peak.bytes, peak.step))),
        tuple(owned_buffers(dump, buffers)),
        tuple(_live_range(dump, buffer) for buffer in buffers),
    )


def peaks_of(occupancy: SpaceOccupancy) -> Iterator[tuple[int, int]]:
    """Yield the steps and the occupied bytes of local peaks."""
    rise = max(1, occupancy.peak_bytes // _MIN_PEAK_RISE)
    curve = zip(occupancy.change_steps, occupancy.temp_bytes, strict=True)
    return ((step, occupancy.fixed_bytes + temp) for step, temp in local_peaks(curve, rise))


def _live_range(dump: Compile, buffer: LiveBuffer) -> RangeRow | None:
    live = None if buffer.value is None else dump.live(buffer.value.record.key)
    return None if live is None else live.record


def _peak(dump: Compile, step: int, count: int) -> TimelinePeak:
    row = dump.at_step(step)
    if row is None:
        return TimelinePeak(step, count, None, None)
    owner = owner_of(dump, row.record.name)
    return TimelinePeak(step, count, row.record.name, None if owner is None else owner.source)


_HEIGHT = 10  # lines of a chart
_MIN_COLUMNS = 20
_BLOCKS = " ▁▂▃▄▅▆▇█"
_FIXED = "░"
_ASCII_BLOCKS = "    #####"
_ASCII_FIXED = "."
_MAX_PEAKS = 5


def timeline_json(timeline: Timeline) -> Json:
    """Return a timeline as JSON; see docs/json_schema.md."""
    return {
        "name": timeline.name,
        "path": timeline.path,
        "backend": timeline.backend,
        "last_step": timeline.last_step,
        "spaces": [_space_json(timeline, space) for space in timeline.spaces],
        "missing": list(timeline.missing),
    }


def _space_json(timeline: Timeline, space: SpaceTimeline) -> Json:
    occupancy = space.occupancy
    found: Json = {
        "space": occupancy.space,
        "name": space.title,
        "allocated_bytes": occupancy.total_bytes,
        "fixed_bytes": occupancy.fixed_bytes,
        "peak_bytes": occupancy.peak_bytes,
        "peak_step": occupancy.peak_step,
        "steps": list(occupancy.change_steps),
        "bytes": [occupancy.fixed_bytes + temp for temp in occupancy.temp_bytes],
        "peaks": [
            {"step": peak.step, "bytes": peak.bytes, "instruction": peak.instruction}
            for peak in space.peaks
        ],
    }
    if timeline.step is not None:
        found["at"] = {
            "step": timeline.step,
            "bytes": occupancy.bytes_at(timeline.step),
            "buffers": [
                {
                    **buffer_json(buffer),
                    "live_range": None if live is None else [live.start_step, live.end_step],
                    "whole_program": _is_outside(live, timeline.step),
                }
                for buffer, live in zip(space.buffers, space.ranges, strict=True)
            ],
        }
    return found


def timeline_lines(
    timeline: Timeline, columns: int, count: int, *, ascii_only: bool = False
) -> Iterator[str]:
    """Yield the lines of the text form.

    Args:
        timeline: The timeline.
        columns: Width of the terminal.
        count: Maximum number of buffers to list.
        ascii_only: Whether to use only ASCII characters.
    """
    steps = "" if timeline.last_step is None else count_noun(timeline.last_step, "step")
    dot = " | " if ascii_only else " · "
    yield dot.join(filter(None, [timeline.name, timeline.backend, steps]))
    for space in large_spaces(timeline.spaces, lambda one: one.occupancy.total_bytes):
        yield ""
        if timeline.step is None:
            yield from _chart(timeline, space, columns, ascii_only=ascii_only)
        else:
            yield from _live_set(space, timeline.step, count)
    yield from timeline.missing


def _chart(
    timeline: Timeline, space: SpaceTimeline, columns: int, *, ascii_only: bool
) -> Iterator[str]:
    occupancy = space.occupancy
    fixed = occupancy.fixed_bytes
    shade = _ASCII_FIXED if ascii_only else _FIXED
    yield (
        f"{space.title}: peak {_size(occupancy.peak_bytes)} at step {occupancy.peak_step:,}, "
        f"{_size(occupancy.total_bytes)} allocated"
        + (f" ({shade} arguments, constants, and outputs: {_size(fixed)})" if fixed else "")
    )
    margin = 2 + max(len(_size(occupancy.peak_bytes)), len(_size(occupancy.fixed_bytes)))
    width = max(_MIN_COLUMNS, columns - margin - 1)
    last = max(timeline.last_step or 0, *occupancy.change_steps, 1)
    width = min(width, last + 1)
    bounds = [(last + 1) * column // width for column in range(width + 1)]
    curve = list(column_maxima(occupancy, bounds))
    axis = "|" if ascii_only else "│"
    peaks = space.peaks[:_MAX_PEAKS]
    marks = [" "] * width
    for number, peak in reversed(list(enumerate(peaks, 1))):
        marks[bisect_right(bounds, peak.step) - 1] = str(number)
    if peaks:
        yield f"{' ' * margin} {''.join(marks).rstrip()}"
    fixed_row = fixed * _HEIGHT // max(1, occupancy.peak_bytes)
    for row in range(_HEIGHT - 1, -1, -1):
        label = _size(occupancy.peak_bytes) if row == _HEIGHT - 1 else ""
        if row == fixed_row - 1 < _HEIGHT - 1 and _size(fixed) != _size(occupancy.peak_bytes):
            label = _size(fixed)
        cells = "".join(
            _cell(count, occupancy, row, ascii_only=ascii_only) for count in curve
        ).rstrip()
        yield f"{label:>{margin - 1}} {axis}{cells}"
    corner, line = ("+", "-") if ascii_only else ("└", "─")
    yield f"{'0':>{margin - 1}} {corner}{line * width}"
    end = f"step {last:,}"
    yield f"{' ' * (margin + 1)}0{end:>{max(width - 1, len(end) + 1)}}"
    for number, peak in enumerate(peaks, 1):
        source = "" if peak.source is None else f" ({peak.source})"
        runs = "" if peak.instruction is None else f": {peak.instruction}{source}"
        yield f"{number}  {_size(peak.bytes)} at step {peak.step:,}{runs}"
    if len(space.peaks) > len(peaks):
        yield f"   and {count_noun(len(space.peaks) - len(peaks), 'lower local peak')}"


def column_maxima(occupancy: SpaceOccupancy, bounds: list[int]) -> Iterator[int]:
    """Yield the largest occupied bytes between consecutive steps, so that no peak is lost."""
    steps, temp = occupancy.change_steps, occupancy.temp_bytes
    place, current = 0, 0
    for start, end in pairwise(bounds):
        while place < len(steps) and steps[place] <= start:
            current = temp[place]
            place += 1
        highest = current
        while place < len(steps) and steps[place] < end:
            current = temp[place]
            highest = max(highest, current)
            place += 1
        yield occupancy.fixed_bytes + highest


def _cell(count: int, occupancy: SpaceOccupancy, row: int, *, ascii_only: bool) -> str:
    """Return the character of a bar in a line; lines count from the bottom."""
    scale = max(1, occupancy.peak_bytes)
    eighths = min(8, max(0, -(-8 * _HEIGHT * count // scale) - 8 * row))
    if eighths == 8 and (row + 1) * scale <= occupancy.fixed_bytes * _HEIGHT:
        return _ASCII_FIXED if ascii_only else _FIXED
    return (_ASCII_BLOCKS if ascii_only else _BLOCKS)[eighths]


def _live_set(space: SpaceTimeline, step: int, count: int) -> Iterator[str]:
    total = space.occupancy.bytes_at(step)
    buffers = count_noun(len(space.buffers), "buffer")
    yield f"{space.title}: {_size(total)} at step {step:,} in {buffers}"
    rows = [
        (_size(owned.buffer.bytes), buffer_name(owned), _steps(live, step), origin_text(owned))
        for owned, live in zip(space.buffers[:count], space.ranges, strict=False)
    ]
    rest = space.buffers[count:]
    if rest:
        size = _size(sum(owned.buffer.bytes for owned in rest))
        rows.append((size, f"in {count_noun(len(rest), 'smaller buffer')}", "", ""))
    titles = (">bytes", "buffer", "live range", "origin")
    yield from text_lines([Table(titles, rows, has_titles=False)])


def _steps(live: RangeRow | None, step: int) -> str:
    if live is None:
        return ""
    text = f"steps {live.start_step:,}-{live.end_step:,}"
    return f"{text}, whole program" if _is_outside(live, step) else text


def _is_outside(live: RangeRow | None, step: int) -> bool:
    """Return whether a buffer is listed at a step outside of its live range.

    Such a buffer keeps its bytes the whole time, because only temp allocations are free outside of
    the live ranges of their values.
    """
    return live is not None and not live.start_step <= step <= live.end_step
