"""The buffers that the instructions of each computation define."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.text.steps import Steps, finish

ENTERING = frozenset({"while", "call", "conditional", "async-start"})
_STEP = 500  # values between two breaths
_KEY = "buffers inside"

Range = tuple[int, int]  # the first byte in an allocation, and the one behind the last


@dataclass(frozen=True, slots=True)
class Inside:
    """How many buffers a computation writes outside of thread-local memory, and their bytes.

    A buffer is a range of bytes of an allocation, however many values take it one after the other
    or hand it on; bytes of several buffers count once.
    """

    buffers: int
    bytes: int


def buffers_inside(dump: DumpSet, computation: ComputationLine) -> Inside | None:
    """Those of one computation, or None if it defines none that have memory."""
    return finish(all_inside(dump)).get(computation)


def all_inside(dump: DumpSet) -> Steps[dict[ComputationLine, Inside]]:
    """Those of all computations; remembered until a file of the compile changes."""
    state = dump.state(dump.files)
    known: dict[ComputationLine, Inside] | None = dump.remembered(_KEY, state)
    if known is not None:
        return known
    # By computation: the ranges in each of its allocations.
    ranges: dict[ComputationLine, dict[int, set[Range]]] = defaultdict(lambda: defaultdict(set))
    count = 0
    for allocation in dump.allocations():
        if allocation.record.thread_local:
            continue
        for value in dump.assigned_to(allocation):
            count += 1
            if count % _STEP == 0:
                yield
            line = dump.instruction(value.name)
            home = None if line is None else line.file.module.computation_of(line.record)
            if home is not None:
                taken = value.offset, value.offset + value.size
                ranges[home][allocation.record.number].add(taken)
    found: dict[ComputationLine, Inside] = {}
    for home, by_allocation in ranges.items():
        yield
        found[home] = Inside(
            sum(map(len, by_allocation.values())), sum(map(_bytes, by_allocation.values()))
        )
    dump.remember(_KEY, state, found)
    return found


def _bytes(ranges: Iterable[Range]) -> int:
    """The bytes that are in any of these ranges."""
    total = end = 0
    for first, behind in sorted(ranges):
        total += max(0, behind - max(first, end))
        end = max(end, behind)
    return total
