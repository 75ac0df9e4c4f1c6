"""The memory usage report as XLA makes it from the buffer assignment, line by line.

There are two generations of it: a section for each memory space (jaxlib from 0.9, libtpu from
0.0.5), and before that a list of all allocations followed by the table of each
(``BufferAssignment::MemoryUsageReport`` and ``BufferAllocation::MemoryUsageReport`` in
buffer_assignment.cc).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from typing import NamedTuple

from hlo_lsp.analysis.assignment.lists import Listed, listed_under
from hlo_lsp.model.backend import report_space_name
from hlo_lsp.model.bytesize import format_bytes_as_xla
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.model.weak_cache import WeakCache
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.text.checkpoint import checkpoint

_TABLE = "cumulative_size;       size;       offset; used_by_n_values; shapes_list"
_LIST = "cumulative_size; total_size - cumulative_size; allocation"
_LAYOUT = re.compile(r"\{[^{}]*\}")
_SHOWN = 50  # after more rows than these the rest is left out once it is small
_STEP = 1000  # values between two breaths: about 2 ms


@dataclass(frozen=True, slots=True)
class Slot:
    """What lies at one offset of an allocation, by id; ``size`` is that of the largest value."""

    offset: int
    size: int
    values: tuple[AssignedValue, ...]

    @property
    def terms(self) -> list[str]:
        """The shapes without layouts, each once with its number, as the row lists them."""
        counts = Counter(without_layout(value.shape) for value in self.values)
        ordered = sorted(counts.items(), key=lambda item: (item[1], item[0]))
        return [shape if count == 1 else f"{count}×{shape}" for shape, count in ordered]


class Table(NamedTuple):
    """The rows of a table, those that are left out at its end, too, and its lines."""

    slots: tuple[Slot, ...]
    lines: tuple[str, ...]


_TABLES: "WeakCache[Listed, Table]" = WeakCache()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a report that belong together, blank ones among them, and how many of those follow.

    ``allocation`` is what a table is about; ``slots`` are its rows in order, those that are left
    out at its end, too.
    """

    lines: tuple[str, ...]
    gap: int
    allocation: LocatedRecord[AllocationLine] | None = None
    slots: tuple[Slot, ...] = ()

    @property
    def shown(self) -> tuple[Slot, ...]:
        """The rows that are printed."""
        return self.slots[: _shown(list(accumulate(slot.size for slot in self.slots)))]


def text_of(report: Iterable[Block]) -> str:
    """The whole text of a report."""
    return "".join("\n".join(block.lines) + "\n" * (block.gap + 1) for block in report)


def report_by_space(dump: DumpSet) -> list[Block]:
    """The report with a section for each memory space: one table for each allocation.

    The largest allocation comes first, then by number.
    """
    allocations = sorted(dump.allocations(), key=lambda found: found.record.color)
    blocks: list[Block] = []
    for color, group in groupby(allocations, key=lambda found: found.record.color):
        largest_first = sorted(group, key=_largest_first)
        sums = list(accumulate(found.record.size for found in largest_first))
        total = sums[-1]
        name = f"Memory Space: {report_space_name(color)} (color={color})"
        blocks.append(Block((name, f"Total bytes: {total} ({format_bytes_as_xla(total)})"), 0))
        count = _shown(sums)
        for place, found in enumerate(largest_first[:count], 1):
            table = table_of(found)
            lines = tuple("  " + line for line in table.lines)
            blocks.append(Block(lines, 1 if place < count else 2, found, table.slots))
            checkpoint()
    return blocks


def report_by_size(dump: DumpSet) -> list[Block]:
    """The older report: all allocations by size, then each of them with its table.

    An allocation with a single value has no table.
    """
    allocations = sorted(dump.allocations(), key=_largest_first)
    sums = list(accumulate(found.record.size for found in allocations))
    if not sums:
        return []
    total, count = sums[-1], _shown(sums)
    rows = [
        f"{format_bytes_as_xla(part):>10}({_percent(part, total)}%); {format_bytes_as_xla(total - part):>10}; "
        f"{_head(found)}"
        for found, part in zip(allocations[:count], sums, strict=False)
    ]
    blocks = [
        Block((f"Total bytes used: {total} ({format_bytes_as_xla(total)})",), 1),
        Block(("Allocations sorted by size:",), 1),
        Block((_LIST, "-" * 78, *rows, *_rest(sums, count, "allocations")), 2),
        Block(("Allocations sorted by size with their values:",), 0),
    ]
    for found in allocations:
        table = table_of(found)
        checkpoint()
        if sum(len(slot.values) for slot in table.slots) == 1:
            blocks.append(Block((_head(found),), 0, found))
        else:
            lines = (_head(found), "", *("\t" + line for line in table.lines))
            blocks.append(Block(lines, 1, found, table.slots))
    return blocks


def table_of(allocation: LocatedRecord[AllocationLine]) -> Table:
    """The table of an allocation: the largest row first, of two alike by their last values' ids."""
    listed = listed_under(allocation)
    known = _TABLES.get(listed)
    if known is None:
        slots = _slots(listed)
        known = Table(slots, tuple(table_lines(slots)))
        _TABLES.put(listed, known)
    return known


def _slots(listed: Listed) -> tuple[Slot, ...]:
    at: defaultdict[int, list[AssignedValue]] = defaultdict(list)
    for count, value in enumerate(listed.values, 1):
        at[value.offset].append(value)
        if count % _STEP == 0:
            checkpoint()
    slots = []
    for count, (offset, values) in enumerate(at.items(), 1):
        slots.append(Slot(offset, max(value.size for value in values), tuple(values)))
        if count % _STEP == 0:
            checkpoint()
    return tuple(sorted(slots, key=lambda slot: (-slot.size, slot.values[-1].id)))


def table_lines(slots: Sequence[Slot]) -> list[str]:
    """The lines of a table whose rows come in this order, without what stands in front of them.

    Percentages are of the sum of all rows, which may overlap, and not of the allocation.
    """
    sums = list(accumulate(slot.size for slot in slots))
    count = _shown(sums)
    rows = [
        f"{format_bytes_as_xla(part):>9}({_percent(part, sums[-1])}%); {format_bytes_as_xla(slot.size):>10}; "
        f"{slot.offset:12}; {len(slot.values):16}; {', '.join(slot.terms)}"
        for slot, part in zip(slots[:count], sums, strict=False)
    ]
    return [_TABLE, "-" * 60, *rows, *_rest(sums, count, "values")]


def _shown(sums: Sequence[int]) -> int:
    """How many rows with these running sums are printed.

    The rest is left out behind the first row after the 50th where it is less than 5 % of all.
    """
    for count in range(_SHOWN + 1, len(sums)):
        if sums[-1] - sums[count - 1] < 0.05 * sums[-1]:
            return count
    return len(sums)


def _rest(sums: Sequence[int], count: int, what: str) -> list[str]:
    """The line behind more than 50 rows; behind the last one the rest is 0, and printed, too."""
    rest = f"The rest {len(sums) - count} {what} are less than 5% of the total size and not shown."
    return [rest] if count > _SHOWN and sums[-1] else []


def _percent(part: int, total: int) -> str:
    """As printf does it with ``%3.0f``; nothing of nothing is ``-nan``."""
    return f"{100 * part / total:3.0f}" if total else "-nan"


def _head(allocation: LocatedRecord[AllocationLine]) -> str:
    """The line of an allocation with the size for people."""
    line = allocation.file.lines[allocation.line]
    size = allocation.record.size
    return line.replace(f": size {size}", f": size {format_bytes_as_xla(size)}", 1)


def _largest_first(allocation: LocatedRecord[AllocationLine]) -> tuple[int, int]:
    return -allocation.record.size, allocation.record.number


@lru_cache(maxsize=1 << 13)
def without_layout(shape: str) -> str:
    """A shape as reports list it: comments stay."""
    return _LAYOUT.sub("", shape)
