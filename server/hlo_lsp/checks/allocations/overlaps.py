"""Values that use the same bytes at the same time."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.place import LocatedRecord, field_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.syntax.memory_records import AssignedValue, RangeRow
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_OVERLAPS = 200  # of one allocation: more of them are one mistake
_END, _MOMENT, _START = range(3)  # in this order at one step: what ends makes room
_ASYNCHRONOUS = frozenset({"async-start", "async-update"})
_Slot = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class LiveValue:
    """A value with bytes of its own and its live range."""

    value: AssignedValue
    live: LocatedRecord[RangeRow]

    @property
    def slot(self) -> _Slot:
        """Return the first byte and the one after the last."""
        return self.value.offset, self.value.offset + self.value.size

    @property
    def steps(self) -> tuple[int, int]:
        """Return the definition step and the end step."""
        return self.live.record.start_step, self.live.record.end_step


def overlap(context: CompileContext) -> Iterator[Finding]:
    """Report values that share bytes with another one for more than one step."""
    dump = context.dump
    assignment = buffer_assignment(dump)
    for block in assignment.blocks:
        if block.allocation.thread_local or not block.is_whole:
            continue
        reported: set[LiveValue] = set()
        for pair in _overlapping_pairs(block, dump):
            if reported.isdisjoint(pair) and not _may_share(dump, *pair):
                reported |= {*pair}
                yield _finding(context, assignment.file, block, *pair)


@query
def _overlapping_pairs(
    block: AllocationBlock, dump: DumpSet
) -> tuple[tuple[LiveValue, LiveValue], ...]:
    """Return the first pairs; the sweep takes 0.1 s for a large allocation."""
    return tuple(islice(overlaps(_live_values(dump, block)), _MAX_OVERLAPS))


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


def _live_values(dump: DumpSet, block: AllocationBlock) -> list[LiveValue]:
    files = [file for file in dump.files if len(file.memory.ranges)]
    last_step = dump.last_step or 0
    found: list[LiveValue] = []
    for value in block.values:
        checkpoint()
        if not value.size or value.offset + value.size > block.allocation.size:
            continue
        rows = [(file, row) for file in files for row in file.memory.ranges.all(value.key)]
        if len(rows) == 1 and rows[0][1].start_step <= rows[0][1].end_step <= last_step:
            found.append(LiveValue(value, LocatedRecord(*rows[0])))
    return found


def _may_share(dump: DumpSet, one: LiveValue, other: LiveValue) -> bool:
    if _is_context(dump, one) and _is_context(dump, other):
        return True
    return _is_in_branch(dump, one, other) or _is_in_branch(dump, other, one)


def _is_in_branch(dump: DumpSet, inner: LiveValue, earlier: LiveValue) -> bool:
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
def _last_conditional_step(dump: DumpSet) -> int:
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


def _is_context(dump: DumpSet, live: LiveValue) -> bool:
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
            field_place(live.live.file, live.live.record),
            f"`{live.value.key}` lives from step {live.steps[0]} to {live.steps[1]}",
        )
        for live in (second, first)
    ]
    return context.report(
        field_place(file, second.value, "OFFSET"),
        f"{keys[1]} overlaps {keys[0]}: both use bytes {start:,} to {end:,} of allocation "
        f"{block.allocation.number} from step {since} to {until}.",
        Related(field_place(file, first.value, "OFFSET"), keys[0]),
        *lives,
    )


RULES: tuple[AnyRule, ...] = (WholeRule("overlap", Severity.ERROR, overlap),)
