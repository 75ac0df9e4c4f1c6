"""Changes between the buffers of two compiles at the peaks of a memory space."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.memory.grouping import OwnedBuffer
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.buffer_assignment import buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.instruction_matching import Matching, Node, match_instructions
from hlo_lsp.program.stages import comparable_modules
from hlo_lsp.syntax.memory_records import AssignedValue

_NUMBERS = re.compile(r"\.\d+|(?<=constant)(?:_\d+)+")  # in fusions for GPUs: `constant_5_0`

BufferKey = tuple[object, ...]
"""What two corresponding buffers of two compiles have in common."""


class BufferChange(Enum):
    """The kind of change of a buffer between two compiles."""

    NEW = "new"
    GONE = "gone"
    LARGER = "larger"
    SMALLER = "smaller"
    LIVE_AT_PEAK = "live_at_peak"
    NOT_LIVE_AT_PEAK = "not_live_at_peak"
    MOVED_IN = "moved_in"
    MOVED_OUT = "moved_out"
    OWN_BYTES = "own_bytes"
    SHARED_BYTES = "shared_bytes"


@dataclass(frozen=True, slots=True)
class ChangedBuffer:
    """A buffer that occupies other bytes at the peak of the second compile than at the first's.

    Attributes:
        before: The buffer at the peak of the first compile, None if it has no bytes there.
        after: The same for the second compile.
        other_space: The memory space that a moved buffer comes from, or is in now.
    """

    change: BufferChange
    before: OwnedBuffer | None
    after: OwnedBuffer | None
    bytes: int
    other_space: str | None = None

    @property
    def buffer(self) -> OwnedBuffer:
        """The buffer of the second compile, or of the first if it has no bytes in the second."""
        found = self.after or self.before
        assert found is not None
        return found


class BufferMatching:
    """The values of two compiles that correspond.

    Values correspond if their instructions do. Without a module text on both sides they correspond
    by name without numbers, shape, and order; ``instructions`` is None then.
    """

    def __init__(self, before: Compile, after: Compile) -> None:
        files = comparable_modules(before, after)
        self.instructions: Matching | None = None
        if files is not None:
            self.instructions = match_instructions(files[0].module, files[1].module)
        instructions = self.instructions or Matching({}, {})
        self._before = _Values(before, instructions.before, is_before=True)
        self._after = _Values(after, instructions.after, is_before=False)

    def pairs(self) -> Iterator[tuple[AssignedValue, AssignedValue]]:
        """Yield the values of the first compile with those of the second that correspond."""
        for key, value in self._before.by_key.items():
            other = self._after.by_key.get(key)
            if other is not None:
                yield value, other

    def changes(
        self, before: Iterable[OwnedBuffer], after: Iterable[OwnedBuffer]
    ) -> list[ChangedBuffer]:
        """Return the changes between the buffers at two peaks, the largest first.

        The sum of their bytes is the sum of the bytes after minus that before.
        """
        first = _by_key(before, self._before)
        second = _by_key(after, self._after)
        found: list[ChangedBuffer] = []
        for key in dict.fromkeys((*first, *second)):
            one, other = first.get(key, []), second.get(key, [])
            change = _bytes(other) - _bytes(one)
            if change:
                kind = self._kind(key, one, other, change)
                sides = next(iter(one), None), next(iter(other), None)
                found.append(ChangedBuffer(kind, *sides, change, self._other_space(kind, key)))
        return sorted(found, key=lambda each: (-abs(each.bytes), _name(each.buffer)))

    def _other_space(self, kind: BufferChange, key: BufferKey) -> str | None:
        if kind not in {BufferChange.MOVED_IN, BufferChange.MOVED_OUT}:
            return None
        return (self._before if kind is BufferChange.MOVED_IN else self._after).space_of(key)

    def _kind(
        self, key: BufferKey, before: list[OwnedBuffer], after: list[OwnedBuffer], change: int
    ) -> BufferChange:
        if before and after:
            return BufferChange.LARGER if change > 0 else BufferChange.SMALLER
        known = (self._before if after else self._after).by_key.get(key)
        one = (after or before)[0]
        if known is None:
            return BufferChange.NEW if after else BufferChange.GONE
        if known.color != one.buffer.allocation.record.color:
            return BufferChange.MOVED_IN if after else BufferChange.MOVED_OUT
        if (self._before if after else self._after).occupies_at_peak(known):
            return BufferChange.OWN_BYTES if after else BufferChange.SHARED_BYTES
        return BufferChange.LIVE_AT_PEAK if after else BufferChange.NOT_LIVE_AT_PEAK


class _Values:
    """The values of one compile by what the corresponding values of the other have in common."""

    def __init__(self, dump: Compile, nodes: Mapping[str, Node], *, is_before: bool) -> None:
        self._dump = dump
        self._peaks = {each.space: each.peak_step for each in memory_space_occupancies(dump)}
        self.by_key: dict[BufferKey, AssignedValue] = {}
        self._keys: dict[int, BufferKey] = {}
        self._fixed: set[int] = set()
        counts: Counter[BufferKey] = Counter()
        for block in buffer_assignment(dump).blocks:
            if not block.allocation.preallocated_temp:
                self._fixed.update(value.id for value in block.values)
            for value in block.values:
                node = nodes.get(value.name)
                if node is None:
                    key: BufferKey = (_NUMBERS.sub("", value.name), value.index, value.shape)
                    counts[key] += 1
                    key = (*key, counts[key])
                elif node.match is None:
                    key = (is_before, value.name, value.index)
                else:
                    first = node if is_before else node.match
                    key = (first.record.name, value.index)
                self._keys[value.id] = key
                self.by_key.setdefault(key, value)

    def key_of(self, owned: OwnedBuffer) -> BufferKey:
        """Return the key of a buffer; bytes that no value covers have one for each argument."""
        value = owned.buffer.value
        if value is None:
            return ("no value", owned.buffer.allocation.record.parameter)
        return self._keys[value.record.id]

    def space_of(self, key: BufferKey) -> str | None:
        """Return the name of the memory space of a value."""
        color = self.by_key[key].color
        return None if color is None else space_title(color, self._dump.backend)

    def occupies_at_peak(self, value: AssignedValue) -> bool:
        """Return whether a value occupies bytes at the peak of its memory space.

        Values outside of temp allocations do so at every step.
        """
        if value.id in self._fixed:
            return True
        live = self._dump.live(value.key)
        peak = None if value.color is None else self._peaks.get(value.color)
        if live is None or peak is None:
            return False
        return live.record.start_step <= peak <= live.record.end_step


def _by_key(buffers: Iterable[OwnedBuffer], values: _Values) -> dict[BufferKey, list[OwnedBuffer]]:
    found: dict[BufferKey, list[OwnedBuffer]] = {}
    for owned in buffers:
        found.setdefault(values.key_of(owned), []).append(owned)
    return found


def _bytes(buffers: Iterable[OwnedBuffer]) -> int:
    return sum(owned.buffer.bytes for owned in buffers)


def _name(owned: OwnedBuffer) -> str:
    value = owned.buffer.value
    return "" if value is None else value.record.key
