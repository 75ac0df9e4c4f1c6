"""Samples with Python call stacks for profilers, such as the buffers at a step."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, group_name, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import SourceLine, file_name
from hlo_lsp.text.inert import printable

_ARGUMENTS = "arguments"
_COPIES = "copies of arguments"


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a call stack, or a kind of buffer; ``file`` is empty if there is none."""

    name: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        file = file_name(self.file)
        return f"{self.name} ({file}:{self.line})" if file else self.name


class SampleType(NamedTuple):
    """The kind of the values of samples and their unit, such as ``HBM`` in ``bytes``."""

    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class StackSample:
    """Values with a call stack, the outermost frame first, and the first frames of its flame.

    ``comment`` says what the values of all samples with it are, such as those of a step.
    """

    roots: tuple[str, ...]
    frames: tuple[Frame, ...]
    values: Mapping[SampleType, int]
    labels: Mapping[str, str]
    comment: str = ""


def buffer_samples(
    dump: Compile, space: int | None = None, step: int | None = None
) -> Iterator[StackSample]:
    """Yield the buffers of the memory spaces.

    The bytes of a memory space add up to its occupied bytes at the step.

    Args:
        dump: The compile.
        space: The only memory space to include; None for all.
        step: The step; None for the peak of each memory space.
    """
    module = dump.module_name
    for occupancy in memory_space_occupancies(dump):
        if space not in {None, occupancy.space}:
            continue
        at = occupancy.peak_step if step is None else step
        title = space_title(occupancy.space, dump.backend)
        comment = f"{module}: {title} at step {at:,}"
        for owned in owned_buffers(dump, live_buffers(dump, occupancy.space, at)):
            labels = {"module": module, "role": group_name(dump, owned, GroupKey.ROLE)}
            value, origin = owned.buffer.value, owned.origin
            if value is not None:
                labels |= {"value": value.record.key, "shape": value.record.shape}
            if origin is not None and origin.op_name is not None:
                labels["op_name"] = origin.op_name
            values = {SampleType(title, "bytes"): owned.buffer.bytes}
            yield StackSample((module, title), _frames(dump, owned), values, labels, comment)


def _frames(dump: Compile, owned: OwnedBuffer) -> tuple[Frame, ...]:
    origin = owned.origin
    if origin is not None and origin.argument is not None:
        kind = _ARGUMENTS if owned.is_argument else _COPIES
        return Frame(kind), Frame(origin.argument)
    if origin is not None and origin.stack and not owned.is_argument:
        return frames_of(origin.stack)
    return (Frame(group_name(dump, owned, GroupKey.LINE)),)


def frames_of(stack: Sequence[SourceLine]) -> tuple[Frame, ...]:
    """Return the frames of a Python stack whose innermost line is the first."""
    return tuple(
        Frame(line.function or file_name(line.file), line.file, line.line)
        for line in reversed(stack)
    )


def folded_stacks(samples: Iterable[StackSample]) -> Iterator[str]:
    """Yield folded stacks, the format of flamegraph.pl: frames, a blank, and the first value.

    The first frames are the roots, such as the module and the memory space.
    """
    found: Counter[str] = Counter()
    for sample in samples:
        frames = map(printable, [*sample.roots, *map(str, sample.frames)])
        value = next(iter(sample.values.values()))
        found[";".join(frame.replace(";", ":") for frame in frames)] += value
    yield from (f"{frames} {count}" for frames, count in sorted(found.items()))
