"""The declared peak, computed again from live ranges and shapes (hlo_live_range.cc)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hlo_lsp.checks.live_ranges.values import value_line
from hlo_lsp.checks.schedule.section import LiveRangeSection
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.shape import leaf_text, try_shape
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow

Weighed = Sequence[tuple[int, int, int]]  # start step, end step, bytes


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs from the expected list; after the last row for missing ones.

    Attributes:
        key: The value whose live range contradicts the list, if it has one.
        other: The row that this one repeats or follows.
    """

    row: int
    message: str
    key: str | None = None
    other: int | None = None


class ValueBytes:
    """The bytes of values without padding, by name and index."""

    def __init__(self, dump: DumpSet) -> None:
        self._dump = dump
        self._sizes: dict[str, int | None] = {}  # by the text of the shape

    def __call__(self, key: str) -> int | None:
        """Return the bytes of a value; None if its shape is not known."""
        found = value_line(self._dump, key)
        if found is None:
            return None
        if isinstance(found.record, AssignedValue):
            text: str | None = found.record.shape
        else:
            instruction = defining_text(found.record)
            shape_text = "" if instruction is None else instruction.shape.text
            text = leaf_text(shape_text, found.record.index)
        if text is None:
            return None
        if text not in self._sizes:
            shape = try_shape(text)
            self._sizes[text] = None if shape is None else logical_bytes(shape)
        return self._sizes[text]


def compute_peak_step(ranges: Weighed) -> int:
    """Return the step that XLA declares the peak: the first with most bytes, 0 without any.

    A value counts until one step after its end (``ComputePeakMemoryMoment``).
    """
    changes: Counter[int] = Counter()
    for start, end, weight in ranges:
        changes[start] += weight
        changes[end + 2] -= weight
    starts = {start for start, _, _ in ranges}
    peak = most = live = 0
    for step in sorted(changes):
        live += changes[step]
        if live > most and step in starts:
            most, peak = live, step
    return peak


def counted_bytes(ranges: Weighed, step: int) -> int:
    """Return the bytes that XLA counts at a step when it looks for the peak."""
    return sum(weight for start, end, weight in ranges if start <= step <= end + 1)


def row_label(row: PeakRow) -> str:
    """Return the name of a row as printed; old rows have no index."""
    return row.key or row.name


def expected_rows(dump: DumpSet, section: LiveRangeSection, step: int) -> list[str]:
    """Return the keys of the values that are live at a step, in the order of the list."""
    live = [row for row in section.ranges if row.start_step <= step <= row.end_step]
    if section.peak and section.peak[0].cumulative is None:
        return [row.key for row in live]  # by value ids, as live ranges are
    sizes, printed = ValueBytes(dump), {row.key: row.bytes for row in section.peak}

    def order(row: RangeRow) -> tuple[int, bytes, tuple[int, ...]]:
        size, digits = sizes(row.key), row.index[1:-1]
        known = printed.get(row.key, 0) if size is None else size
        return -known, row.name.encode(), tuple(map(int, digits.split(","))) if digits else ()

    return [row.key for row in sorted(live, key=order)]


def differences(rows: Sequence[PeakRow], expected: Sequence[str]) -> list[Difference]:
    """Return the differences between the printed rows and the keys of the expected ones."""
    has_index = any(row.index is not None for row in rows)
    due = [key if has_index else key.partition("{")[0] for key in expected]
    printed = [row_label(row) for row in rows]
    if printed == due:
        return []
    found: dict[int, Difference] = {}
    left: dict[str, list[int]] = {}  # the places in the expected list that no row has taken
    for place in reversed(range(len(due))):
        left.setdefault(due[place], []).append(place)
    taken: dict[int, int] = {}  # rows by those places
    firsts: dict[str, int] = {}
    previous = -1
    for row, name in enumerate(printed):
        if not left.get(name):
            what = "listed twice" if name in firsts else "not live at the peak"
            found[row] = Difference(row, f"`{name}` is {what}", name, firsts.get(name))
            continue
        firsts.setdefault(name, row)
        place = left[name].pop()
        taken[place] = row
        if place < previous:
            message = f"`{name}` is listed after `{due[previous]}`: expected before it"
            found[row] = Difference(row, message, other=taken[previous])
        previous = place
    after = 0
    for place, name in enumerate(due):
        if place in taken:
            after = taken[place] + 1
        elif after not in found:
            message = f"`{name}` is live at the peak, but missing here"
            found[after] = Difference(after, message, expected[place])
    return [found[row] for row in sorted(found)]
