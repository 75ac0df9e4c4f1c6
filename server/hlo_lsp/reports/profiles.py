"""The buffers at a step with the Python call stacks of their data, for profilers."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer, group_name, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.source import file_name
from hlo_lsp.reports.summary import module_name

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


@dataclass(frozen=True, slots=True)
class BufferStack:
    """The bytes of a buffer with a call stack, the outermost frame first."""

    module: str
    space: str
    step: int
    bytes: int
    frames: tuple[Frame, ...]
    role: str
    owned: OwnedBuffer


def buffer_stacks(
    dump: Compile, space: int | None = None, step: int | None = None
) -> Iterator[BufferStack]:
    """Yield the buffers of the memory spaces.

    The bytes of a memory space add up to its occupied bytes at the step.

    Args:
        dump: The compile.
        space: The only memory space to include; None for all.
        step: The step; None for the peak of each memory space.
    """
    module = module_name(dump)
    for occupancy in memory_space_occupancies(dump):
        if space not in {None, occupancy.space}:
            continue
        at = occupancy.peak_step if step is None else step
        title = space_title(occupancy.space, dump.backend)
        for owned in owned_buffers(dump, live_buffers(dump, occupancy.space, at)):
            role = group_name(dump, owned, GroupKey.ROLE)
            count = owned.buffer.bytes
            yield BufferStack(module, title, at, count, _frames(dump, owned), role, owned)


def _frames(dump: Compile, owned: OwnedBuffer) -> tuple[Frame, ...]:
    origin = owned.origin
    if origin is not None and origin.argument is not None:
        kind = _ARGUMENTS if owned.is_argument else _COPIES
        return Frame(kind), Frame(origin.argument)
    if origin is not None and origin.stack and not owned.is_argument:
        return tuple(
            Frame(line.function or file_name(line.file), line.file, line.line)
            for line in reversed(origin.stack)
        )
    return (Frame(group_name(dump, owned, GroupKey.LINE)),)


def folded_stacks(stacks: Iterable[BufferStack]) -> Iterator[str]:
    """Yield folded stacks, the format of flamegraph.pl: frames, a blank, and the bytes.

    The first frames are the module and the memory space.
    """
    found: Counter[str] = Counter()
    for stack in stacks:
        frames = [stack.module, stack.space, *map(str, stack.frames)]
        found[";".join(frame.replace(";", ":") for frame in frames)] += stack.bytes
    yield from (f"{frames} {count}" for frames, count in sorted(found.items()))
