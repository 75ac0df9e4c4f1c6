"""The differences between two compiles: peaks, buffers, instructions, and flags."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from hlo_lsp.memory.buffer_changes import BufferMatching, ChangedBuffer
from hlo_lsp.memory.grouping import BufferGroup, GroupKey, OwnedBuffer, group_buffers
from hlo_lsp.memory.savings import is_negligible
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.file_names import DumpName
from hlo_lsp.model.flags import flags_of
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.sections import missing_part
from hlo_lsp.model.source import file_name
from hlo_lsp.program.instruction_matching import Matching, MatchReason, Node, match_called
from hlo_lsp.program.moved_lines import moved_lines, paired_groups
from hlo_lsp.program.stages import comparable_modules, module_at_buffer_assignment
from hlo_lsp.reports.cost_comparison import CostDiff, compare_costs
from hlo_lsp.reports.summary import ModuleSummary, SpaceSummary, summarize
from hlo_lsp.text.amounts import parse_size

_MIN_BYTES_OF_SHARE = 1024
GROUP_KEYS = (GroupKey.LINE, GroupKey.SCOPE, GroupKey.SHAPE, GroupKey.OPCODE)


@dataclass(frozen=True, slots=True)
class GroupChange:
    """Bytes of the buffers of a group at the peaks before and after."""

    name: str
    label: str
    before: int
    after: int

    @property
    def bytes(self) -> int:
        """The change."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class SpaceDiff:
    """The changes of one memory space.

    ``before`` or ``after`` is None if the compile does not use the memory space, or if its memory
    is unknown: the element of ``is_known`` is false then, and there are no changes. The bytes of
    ``buffers``, and those of the groups of each key, add up to ``peak_change``. If only one of two
    platforms has the memory space, ``only_on`` is this platform, and there are no changes.
    """

    title: str
    before: SpaceSummary | None
    after: SpaceSummary | None
    buffers: tuple[ChangedBuffer, ...]
    groups: Mapping[GroupKey, tuple[GroupChange, ...]]
    only_on: Backend | None = None
    is_known: tuple[bool, bool] = (True, True)

    @property
    def allocated(self) -> tuple[int, int] | None:
        """The allocated bytes before and after, None if one is unknown."""
        first, second = self.allocated_sides
        return None if first is None or second is None else (first, second)

    @property
    def allocated_sides(self) -> tuple[int | None, int | None]:
        """The allocated bytes of each side, None for one whose memory is unknown."""
        first, second = self._of_sides(lambda one: one.allocated_bytes)
        return first, second

    @property
    def peaks(self) -> tuple[int, int] | None:
        """The occupied bytes at the peaks before and after, None if one is unknown."""
        first, second = self.peak_sides
        return None if first is None or second is None else (first, second)

    @property
    def peak_sides(self) -> tuple[int | None, int | None]:
        """The occupied bytes at the peak of each side, None for one that is unknown."""
        first, second = self._of_sides(lambda one: one.bytes)
        return first, second

    def _of_sides(self, size: Callable[[SpaceSummary], int | None]) -> Iterator[int | None]:
        for one, is_known in zip(self._sides, self.is_known, strict=True):
            yield size(one) if one is not None else 0 if is_known else None

    @property
    def peak_change(self) -> int:
        """The change of the peak in bytes, 0 if one is unknown."""
        return 0 if self.peaks is None else self.peaks[1] - self.peaks[0]

    @property
    def allocated_change(self) -> int:
        """The change of the allocated bytes, 0 if one is unknown."""
        return 0 if self.allocated is None else self.allocated[1] - self.allocated[0]

    @property
    def _sides(self) -> tuple[SpaceSummary | None, SpaceSummary | None]:
        return self.before, self.after


@dataclass(frozen=True, slots=True)
class InstructionDiff:
    """Instructions that only one module has, and those whose operation changed.

    ``matched_by`` counts the pairs of corresponding instructions of each reason.
    """

    modules: tuple[ModuleIndex, ModuleIndex]
    matched_by: Mapping[MatchReason, int]
    share: float
    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    changed: tuple[Node, ...]

    @property
    def matched(self) -> int:
        """The number of pairs."""
        return sum(self.matched_by.values())

    @property
    def is_equal(self) -> bool:
        """True without changes."""
        return not (self.added or self.removed or self.changed)

    def inside(self, changed: Node) -> "InstructionDiff | None":
        """Return the differences inside of an instruction, such as a fusion.

        None unless they are the only ones.
        """
        if not changed.calls_other_computation:
            return None
        return _compare_instructions(match_called(*self.modules, changed), self.modules)


@dataclass(frozen=True, slots=True)
class FlagChange:
    """A flag with other values; None for a flag that is not in the file of flags."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ModuleDiff:
    """The differences between two compiles of a module.

    ``instructions`` and ``cost`` are None without both module texts; buffers are matched by name
    then. ``flags`` is None if the flags of one compile are unknown; those of two platforms are the
    flags that both have. ``is_memory_known`` is false for a side without allocations, and
    ``missing_parts`` are the reasons why a text is only a part of its program. ``compilers`` are
    the changes of libtpu that the names of files state.
    """

    before: ModuleSummary
    after: ModuleSummary
    spaces: tuple[SpaceDiff, ...]
    instructions: InstructionDiff | None
    flags: tuple[FlagChange, ...] | None
    cost: CostDiff | None = None
    is_memory_known: tuple[bool, bool] = (True, True)
    missing_parts: tuple[str, ...] = ()
    compilers: tuple[str | None, str | None] = (None, None)

    @property
    def problems(self) -> tuple[str, ...]:
        """The reasons why the programs cannot be compared as wholes, for the user."""
        if self.missing_parts:
            return self.missing_parts
        is_compared = self.instructions is not None or all(self.is_memory_known)
        return () if is_compared else ("no module text, and no buffer assignment, on both sides",)

    @property
    def is_same_platform(self) -> bool:
        """True if both compiles are for the same platform."""
        return self.after.backend is self.before.backend

    @property
    def main(self) -> SpaceDiff | None:
        """The memory space that matters most.

        It is the largest one off the chip if its peak changed by at least 1%: that memory runs out.
        Otherwise it is the one whose peak or, if no peak changed, allocated bytes changed most.
        """
        spaces = [one for one in self.spaces if one.only_on is None and all(one.is_known)]
        for space in spaces:
            largest = max(space.peaks or (0,))
            is_main = space.after is self.after.main is not None
            if is_main and largest and not is_negligible(abs(space.peak_change), largest, 1):
                return space
        return max(
            spaces,
            key=lambda one: (abs(one.peak_change), abs(one.allocated_change)),
            default=None,
        )

    @property
    def is_equal(self) -> bool:
        """True if the platform, memory, instructions, and flags are the same.

        What is unknown on one side is not the same.
        """
        is_comparable = not self.problems and len(set(self.is_memory_known)) == 1
        return (
            self.is_same_platform
            and is_comparable
            and not (
                self.flags
                or (self.instructions is not None and not self.instructions.is_equal)
                or any(
                    one.peak_change or one.allocated_change or one.buffers for one in self.spaces
                )
            )
        )


@dataclass(frozen=True, slots=True)
class Growth:
    """A limit for the growth of a memory space: in bytes, or as a share of the bytes before.

    A share allows at least 1 KiB: a memory space of semaphores grows by a few bytes.
    """

    bytes: int = 0
    share: float = 0.0

    @classmethod
    def of(cls, text: str) -> "Growth":
        """Read a size such as ``64 MiB``, or a share such as ``2%``.

        Raises:
            ValueError: The text is neither.
        """
        if text.endswith("%"):
            try:
                return cls(_MIN_BYTES_OF_SHARE, float(text[:-1]) / 100)
            except ValueError:
                pass
        elif (size := parse_size(text)) is not None:
            return cls(bytes=size)
        raise ValueError(f"{text!r} is neither a size such as `64 MiB` nor a share such as `2%`")

    def is_exceeded_by(self, diff: ModuleDiff) -> bool:
        """Return whether the peak or the allocated bytes of a memory space grow by more."""
        sizes = [
            size
            for space in diff.spaces
            if space.only_on is None
            for size in (space.allocated, space.peaks)
            if size is not None
        ]
        return any(after - before > max(self.bytes, self.share * before) for before, after in sizes)


def compare(before: Compile, after: Compile, chip: str | None = None) -> ModuleDiff:
    """Return the differences between two compiles, with times of a chip, or of that of both."""
    first, second = summarize(before), summarize(after)
    matching = BufferMatching(before, after)
    lines = moved_lines(before, after)
    known = _has_memory(before), _has_memory(after)
    spaces = []
    for one, other in _space_pairs(first, second):
        title = " -> ".join(dict.fromkeys(side.title for side in (one, other) if side is not None))
        if first.backend is not second.backend and None in (one, other):
            platform = (first if other is None else second).backend
            spaces.append(SpaceDiff(title, one, other, (), dict.fromkeys(GROUP_KEYS, ()), platform))
            continue
        buffers = matching.changes(_buffers(one), _buffers(other))
        groups = {
            key: _group_changes(
                group_buffers(before, _buffers(one), key),
                group_buffers(after, _buffers(other), key),
                lines,
            )
            for key in GROUP_KEYS
        }
        if not all(known):
            buffers, groups = [], dict.fromkeys(GROUP_KEYS, ())
        spaces.append(SpaceDiff(title, one, other, tuple(buffers), groups, is_known=known))
    instructions = None
    files = comparable_modules(before, after)
    if matching.instructions is not None and files is not None:
        modules = files[0].module, files[1].module
        instructions = _compare_instructions(matching.instructions, modules)
    return ModuleDiff(
        first,
        second,
        tuple(spaces),
        instructions,
        _compare_flags(before, after, only_common=first.backend is not second.backend),
        compare_costs(before, after, chip),
        known,
        tuple(dict.fromkeys(filter(None, map(_missing_part, (before, after))))),
        (_compiler(before), _compiler(after)),
    )


def _compiler(dump: Compile) -> str | None:
    """Return the change of libtpu in the names of files, such as ``cl/1014260217``."""
    names = map(DumpName.of, (file.title for file in dump.files))
    return next((f"cl/{name.cl}" for name in names if name is not None and name.cl), None)


def _has_memory(dump: Compile) -> bool:
    """Return whether the allocations of a compile are known: a memory space can be unused then."""
    return next(iter(dump.allocations()), None) is not None


def _missing_part(dump: Compile) -> str | None:
    file = module_at_buffer_assignment(dump) or dump.module_file
    return None if file is None else missing_part(file)


def pair_modules(
    before: Sequence[Compile], after: Sequence[Compile]
) -> tuple[list[tuple[Compile, Compile]], list[Compile], list[Compile]]:
    """Pair compiles by module name and entry layout, then by name, then what remains in order.

    Returns:
        The pairs, and the compiles of each side without a counterpart.
    """
    paired: dict[Compile, Compile] = {}
    rest, others = list(before), list(after)
    for key in (_name_and_layout, attrgetter("module_name")):
        by_key: dict[object, deque[Compile]] = {}
        for other in others:
            by_key.setdefault(key(other), deque()).append(other)
        for one in rest:
            same = by_key.get(key(one))
            if same:
                paired[one] = same.popleft()
        rest = [one for one in rest if one not in paired]
        taken = set(paired.values())
        others = [other for other in others if other not in taken]
    if len(rest) == len(others) == 1:
        paired[rest.pop()] = others.pop()
    return [(one, paired[one]) for one in before if one in paired], rest, others


def _name_and_layout(dump: Compile) -> tuple[str, str]:
    header = dump.module_header
    layout = "" if header is None else header.text.partition("entry_computation_layout=")[2]
    return dump.module_name, layout


_Spaces = tuple[SpaceSummary | None, SpaceSummary | None]


def _space_pairs(first: ModuleSummary, second: ModuleSummary) -> Iterator[_Spaces]:
    """Yield the memory spaces that correspond, None for a side without it.

    The main memory of a platform corresponds to that of another one, whatever the names.
    """
    mains: _Spaces = None, None
    if first.backend is not second.backend and first.main is not None and second.main is not None:
        mains = first.main, second.main
        yield mains
    sides = [
        {space.title: space for space in side.spaces if space is not main}
        for side, main in zip((first, second), mains, strict=True)
    ]
    for title in dict.fromkeys(itertools.chain(*sides)):
        one, other = (side.get(title) for side in sides)
        yield one, other


def _buffers(space: SpaceSummary | None) -> tuple[OwnedBuffer, ...]:
    return () if space is None else space.buffers


def _group_changes(
    before: Iterable[BufferGroup],
    after: Iterable[BufferGroup],
    lines: Mapping[str, str | None],
) -> tuple[GroupChange, ...]:
    found = []
    for name, *groups in paired_groups(before, after, lines):
        group = next(one for one in reversed(groups) if one is not None)
        label = group.label if group.source is None else file_name(name)
        sizes = (0 if one is None else one.bytes for one in groups)
        found.append(GroupChange(name, label, *sizes))
    changed = (one for one in found if one.bytes)
    return tuple(sorted(changed, key=lambda one: (-abs(one.bytes), one.name)))


def _compare_instructions(
    matching: Matching, modules: tuple[ModuleIndex, ModuleIndex]
) -> InstructionDiff:
    reasons = Counter(node.reason for node, _ in matching.pairs)
    return InstructionDiff(
        modules,
        {reason: reasons[reason] for reason in MatchReason},
        matching.share,
        tuple(node for node in matching.after.values() if node.match is None),
        tuple(node for node in matching.before.values() if node.match is None),
        tuple(node for node in matching.before.values() if node.is_changed),
    )


def _compare_flags(
    before: Compile, after: Compile, *, only_common: bool
) -> tuple[FlagChange, ...] | None:
    """Return the flags with other values in the files of flags that both compiles have."""
    first, second = flags_of(before), flags_of(after)
    kinds = [kind for kind in first if kind in second]
    if not kinds:
        return None
    changes: dict[str, FlagChange] = {}  # an option of libtpu can have the name of its flag
    for kind in kinds:
        for name in sorted({*first[kind], *second[kind]}):
            values = first[kind].get(name), second[kind].get(name)
            if values[0] != values[1] and not (only_common and None in values):
                changes.setdefault(name, FlagChange(name, *values))
    return tuple(sorted(changes.values(), key=partial(_flag_rank, before.backend)))


def _flag_rank(backend: Backend, change: FlagChange) -> tuple[bool, bool]:
    """Return the order of changes: those of other platforms and of new flags are last."""
    prefixes = {f"xla_{one.value.lower()}_" for one in Backend} - {f"xla_{backend.value.lower()}_"}
    return change.name.startswith(tuple(prefixes)), None in (change.before, change.after)
