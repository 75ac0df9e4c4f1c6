"""The memory of Python lines at the peak of a compile, as an editor shows it beside the code."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.memory.live_set import LiveBuffer
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import Place
from hlo_lsp.model.source import SourceLine
from hlo_lsp.reports.summary import SpaceSummary, summarize
from hlo_lsp.text.amounts import format_short_bytes

_LARGE_SHARE = 100  # a line is large if it owns at least 1/100 of the peak


@dataclass(frozen=True, slots=True)
class LineBuffer:
    """A buffer that a Python line owns at the peak; ``text`` has its size and its shape."""

    name: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class LineMemory:
    """The memory that a Python line owns at the peak.

    Attributes:
        source: The line.
        bytes: Its bytes, as in the memory summary.
        padding: How many of them are padding.
        is_large: True if they are at least 1% of the peak.
        buffers: The buffers, the largest first.
    """

    source: SourceLine
    bytes: int
    padding: int
    is_large: bool
    buffers: tuple[LineBuffer, ...]

    def __str__(self) -> str:
        parts = [f"{format_short_bytes(self.bytes)} at the peak"]
        if self.padding:
            parts.append(f"{format_short_bytes(self.padding)} padding")
        return " · ".join([*parts, count_noun(len(self.buffers), "buffer")])


@dataclass(frozen=True, slots=True)
class ModuleMemory:
    """The Python lines that own memory at the peak of a module; ``peak`` describes the peak."""

    name: str
    peak: str
    peak_bytes: int
    lines: tuple[LineMemory, ...]


def module_memory(dump: Compile) -> ModuleMemory | None:
    """Return the memory of Python lines, with the numbers of the memory summary.

    The memory space is the first one of the summary. Returns None if the peak is unknown.
    """
    summary = summarize(dump)
    space = summary.main
    if space is None or space.step is None or space.bytes is None:
        return None
    size = format_short_bytes(space.bytes)
    return ModuleMemory(
        dump.module_name,
        f"peak of {space.title}: {size} at step {space.step:,}",
        space.bytes,
        tuple(_lines(dump, space)),
    )


def _lines(dump: Compile, space: SpaceSummary) -> Iterator[LineMemory]:
    for group in space.groups:
        if group.source is not None:
            yield LineMemory(
                group.source,
                group.bytes,
                sum(owned.buffer.padding for owned in group.buffers),
                group.bytes * _LARGE_SHARE >= (space.bytes or 0),
                tuple(named_buffer(dump, owned.buffer) for owned in group.buffers),
            )


def named_buffer(dump: Compile, buffer: LiveBuffer) -> LineBuffer:
    """Return the name, the size, and the place of a buffer."""
    checkpoint()
    size, value = format_short_bytes(buffer.bytes), buffer.value
    if value is None:
        return LineBuffer("unused bytes", size, buffer.allocation.name_place)
    place = (dump.instruction(value.record.name) or value).name_place
    return LineBuffer(value.record.key, f"{size} · {value.record.shape}", place)
