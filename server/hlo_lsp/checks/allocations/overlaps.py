"""Values that use the same bytes at the same time."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.memory.byte_ranges import LiveByteRange, changed_ranges
from hlo_lsp.memory.occupancy_and_peaks import live_byte_ranges
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.place import field_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_COMPARED_VALUES = 20  # with all others: more take longer than a sweep
_MAX_OVERLAPS = 200  # of one allocation: more of them are one mistake
_END, _MOMENT, _START = range(3)  # in this order at one step: what ends makes room
_ASYNCHRONOUS = frozenset({"async-start", "async-update"})
_Slot = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class LiveValue:
    """A value with bytes of its own and its live range."""

    value: AssignedValue
    live: LiveByteRange

    @property
    def slot(self) -> _Slot:
        """Return the first byte and the one after the last."""
        return self.live.offset, self.live.offset + self.live.size

    @property
    def steps(self) -> tuple[int, int]:
        """Return the definition step and the end step."""
        return self.live.start_step, self.live.end_step


def overlap(context: CompileContext) -> Iterator[Finding]:
    """Report values that share bytes with another one for more than one step."""
    dump = context.dump
    assignment = buffer_assignment(dump)
    for block in assignment.blocks:
        if block.allocation.thread_local or not block.is_whole:
            continue
        reported: set[LiveValue] = set()
        for pair in _overlapping_pairs(block, dump).pairs if len(block.values) > 1 else ():
            if reported.isdisjoint(pair) and not _may_share(dump, *pair):
                reported |= {*pair}
                yield _finding(context, assignment.file, block, *pair)


@dataclass(frozen=True, slots=True, eq=False)
class _Overlaps:
    """The first overlapping pairs of some values."""

    ranges: list[LiveByteRange]
    pairs: tuple[tuple[LiveValue, LiveValue], ...]


@query
def _overlapping_pairs(block: AllocationBlock, dump: Compile) -> _Overlaps:
    """Return the first pairs; the sweep takes 0.1 s for a large allocation.

    If there was none before an edit, only values that it changed can overlap another one.
    """
    last, found = _overlapping_pairs.last(block), _live_ranges(block, dump)
    ranges = [live for _, live in found]
    checkpoint()
    if last is not None and not last.pairs:
        _, added = changed_ranges(last.ranges, ranges)
        if len(added) <= _MAX_COMPARED_VALUES and not _is_any_overlapped(added, ranges):
            return _Overlaps(ranges, ())
    values = [LiveValue(value, live) for value, live in found]
    checkpoint()
    return _Overlaps(ranges, tuple(islice(overlaps(values), _MAX_OVERLAPS)))


def _is_any_overlapped(added: Sequence[LiveByteRange], ranges: Sequence[LiveByteRange]) -> bool:
    for one in added:
        checkpoint()
        end = one.offset + one.size
        for offset, size, start_step, end_step in ranges:
            if (
                offset < end
                and one.offset < offset + size
                and start_step < one.end_step
                and one.start_step < end_step
                and (offset, size) != one[:2]
            ):
                return True
    return False


def overlaps(values: Sequence[LiveValue]) -> Iterator[tuple[LiveValue, LiveValue]]:
    """Yield pairs of values of one allocation that overlap in bytes and in steps.

    Two values overlap if their byte ranges overlap but are not equal, and their live ranges share
    more than the step at which one ends and the other begins. In real dumps, only the pairs of
    ``_may_share`` do. Not all pairs are yielded, but at least one value of each pair is in a pair
    that is. One sweep over the steps with the live slots in order takes O(n log n).
    """
    events = sorted(event for number, each in enumerate(values) for event in _events(number, each))
    holders: dict[_Slot, dict[int, LiveValue]] = {}
    slots: list[_Slot] = []  # the keys of `holders` in order; none overlaps another
    for _, what, number in events:
        checkpoint()
        slot = values[number].slot
        if what == _END:
            held = holders.get(slot)
            if held is not None and held.pop(number, None) is not None and not held:
                del holders[slot]
                del slots[bisect_left(slots, slot)]
            continue
        met = [other for other in _overlapping(slots, slot) if other != slot]
        for other in met:
            yield next(iter(holders[other].values())), values[number]
        if what == _START and not met:
            if slot not in holders:
                holders[slot] = {}
                insort(slots, slot)
            holders[slot][number] = values[number]


def _events(number: int, value: LiveValue) -> Iterator[tuple[int, int, int]]:
    start, end = value.steps
    if start == end:
        yield start, _MOMENT, number
    else:
        yield start, _START, number
        yield end, _END, number


def _overlapping(slots: list[_Slot], slot: _Slot) -> list[_Slot]:
    first = last = bisect_left(slots, slot)
    while first > 0 and slots[first - 1][1] > slot[0]:
        first -= 1
    while last < len(slots) and slots[last][0] < slot[1]:
        last += 1
    return slots[first:last]


def _live_ranges(
    block: AllocationBlock, dump: Compile
) -> list[tuple[AssignedValue, LiveByteRange]]:
    """Return the values whose bytes are in the allocation, and whose steps are certain."""
    size, last_step, repeated = block.allocation.size, dump.last_step or 0, _repeated_ranges(dump)
    return [
        (value, live)
        for value, live in zip(block.values, live_byte_ranges(block, dump), strict=True)
        if live is not None and value.size and value.offset + value.size <= size
        if live.end_step <= last_step and (not repeated or value.key not in repeated)
    ]


@query
def _repeated_ranges(dump: Compile) -> frozenset[str]:
    """Return the values with several live ranges."""
    ranges = [file.memory.ranges for file in dump.files]
    shared = (one.keys & other.keys for one, other in combinations(ranges, 2))
    return frozenset().union(*(one.repeated for one in ranges), *shared)


def _may_share(dump: Compile, one: LiveValue, other: LiveValue) -> bool:
    if _is_context(dump, one) and _is_context(dump, other):
        return True
    return _is_in_branch(dump, one, other) or _is_in_branch(dump, other, one)


def _is_in_branch(dump: Compile, inner: LiveValue, earlier: LiveValue) -> bool:
    """Return whether a branch of a conditional computes a value, and does not need the earlier one.

    A branch can overwrite an operand after its last use there: memory space assignment ends the use
    at the parameter of the branch (``MsaAlgorithm::GetCorrectedUseTime`` in
    memory_space_assignment/algorithm.cc). The live range of the operand ends at the conditional.
    If a branch returns the operand, they and the results of all branches are aliases: each ends
    where the next one starts, in whichever branch that is
    (``HloLiveRange::NormalizeAliasedBuffers``).
    """
    if inner.steps[0] <= earlier.steps[0]:
        return False
    member = dump.instruction(inner.value.name)
    if member is None:
        return earlier.steps[1] <= _last_conditional_step(dump)
    module = member.file.module
    other = module.instructions.first(earlier.value.name)
    others = set() if other is None else set(_calls_of(module, other))
    for caller, computation in _calls_of(module, member.record):
        if caller.opcode == "conditional" and (caller, computation) not in others:
            step = dump.step(caller.name)
            if step is not None and earlier.steps[1] <= step.record.step:
                return True
    return False


@query
def _last_conditional_step(dump: Compile) -> int:
    """Return the last step of an instruction that is named as a conditional, or -1."""
    rows = (row for file in dump.files for row in file.memory.steps.firsts())
    return max((row.step for row in rows if row.name.startswith("cond")), default=-1)


def _calls_of(
    module: ModuleIndex, member: InstructionLine
) -> Iterator[tuple[InstructionLine, ComputationLine]]:
    """Yield the computation of an instruction with its caller, and so on up to the entry."""
    homes = [module.computation_of(member)]
    seen: set[ComputationLine] = set()
    while homes:
        home = homes.pop()
        if home is None or home in seen:
            continue
        seen.add(home)
        for caller in module.callers(home):
            yield caller, home
            homes.append(module.computation_of(caller))


def _is_context(dump: Compile, live: LiveValue) -> bool:
    """Return whether a value is the context of an asynchronous call.

    The context comes after operands and results. Calls that wait for each other share it: those on
    the SparseCore of a TPU run one at a time, but live ranges are those of the core that starts
    them.
    """
    if not (live.value.index or "").startswith("{2"):
        return False
    text = dump.text_of(live.value.name)
    return text is None or text.opcode.text in _ASYNCHRONOUS


def _finding(
    context: CompileContext,
    file: DumpFile,
    block: AllocationBlock,
    one: LiveValue,
    other: LiveValue,
) -> Finding:
    first, second = sorted((one, other), key=lambda live: live.value.line)
    keys = [f"`{live.value.key}`" for live in (first, second)]
    start = max(first.value.offset, second.value.offset)
    end = min(first.slot[1], second.slot[1]) - 1
    since, until = max(first.steps[0], second.steps[0]), min(first.steps[1], second.steps[1])
    lives = [
        Related(
            field_place(row.file, row.record),
            f"`{live.value.key}` lives from step {live.steps[0]} to {live.steps[1]}",
        )
        for live in (second, first)
        if (row := context.dump.live(live.value.key)) is not None
    ]
    return context.report(
        field_place(file, second.value, "OFFSET"),
        f"{keys[1]} overlaps {keys[0]}: both use bytes {start:,} to {end:,} of allocation "
        f"{block.allocation.number} from step {since} to {until}",
        Related(field_place(file, first.value, "OFFSET"), keys[0]),
        *lives,
    )


RULES: tuple[AnyRule, ...] = (WholeRule("overlap", Severity.ERROR, overlap),)
