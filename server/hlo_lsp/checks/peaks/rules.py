"""The declared peak, computed again from live ranges and shapes (hlo_live_range.cc)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.checks.case import CompileCheck, field_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.live_ranges.rules import has_all_values, value_line
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.checks.schedule.section import (
    MAX_FINDINGS,
    LiveRangePart,
    LiveRangeSection,
    live_range_section,
    report_few,
)
from hlo_lsp.memory.memory_spaces import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.display import format_bytes
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.shape import leaf_text, try_shape
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.syntax.memory_records import AssignedValue, PeakLabel, PeakRow, RangeRow
from hlo_lsp.text.checkpoint import checkpoint

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


_MIN_EXCESS_BYTES = 1 << 20  # of the occupied peak over the declared step
_MIN_EXCESS_RATIO = 0.05


def peak_moment(survey: CompileCheck) -> Iterator[Finding]:
    """Report that XLA counts more bytes at another step than the declared one, or earlier as many.

    XLA weighs each value by the shape of its whole instruction, and counts it until one step after
    its end (hlo_live_range.cc, ``ComputePeakMemoryMoment``).
    """
    found = _section_with_peak(survey.dump)
    if found is None or not found[0].is_complete(LiveRangePart.RANGES):
        return
    section, label = found
    sizes = ValueBytes(survey.dump)
    weighed: list[tuple[int, int, int]] = []
    for row in section.ranges:
        checkpoint()
        weight = sizes(row.name + "{}")  # of the whole instruction: a tuple's are its pointers
        if weight is None:
            return
        weighed.append((row.start_step, row.end_step, weight))
    right, printed = compute_peak_step(weighed), label.moment
    if right == printed:
        return
    most, here = counted_bytes(weighed, right), counted_bytes(weighed, printed)
    message = f"the peak is declared at step {printed}, where XLA counts {here:,} B: expected step "
    message += f"{right}, the first with the maximum of {most:,} B"
    yield survey.report(section.place(label, "MOMENT"), message).put(str(right))


def peak_list(survey: CompileCheck) -> Iterator[Finding]:
    """Report differences between the list at the peak and the values that are live then.

    The list is sorted by size, name, and index. Up to jaxlib 0.6.0 and libtpu 0.0.15, it has the
    order of the value ids.
    """
    dump, found = survey.dump, _section_with_peak(survey.dump)
    knows_values = survey.context.knows_assignment or survey.context.knows_entries
    if found is None or not knows_values or LiveRangePart.PEAK in found[0].damaged:
        return
    section, label = found
    has_index = any(row.index is not None for row in section.peak)
    if len({(row.index is None, row.cumulative is None) for row in section.peak}) > 1:
        return  # rows of several releases
    rows = section.peak
    if has_index:
        rows = [row for row in rows if _is_comparable(survey, section, row_label(row))]
    elif not section.is_complete(LiveRangePart.RANGES):
        return
    wrong = differences(rows, expected_rows(dump, section, label.moment))
    at_peak = Related(section.place(label), f"the peak, step {label.moment}")

    def report(difference: Difference) -> Finding:
        record = (*rows, *rows[-1:], label)[difference.row]
        related = [at_peak]
        live = None if difference.key is None else dump.live(difference.key)
        if live is not None:
            related.insert(0, Related(field_place(live.file, live.record), "the live range"))
        if difference.other is not None:
            other = rows[difference.other]
            related = [Related(section.place(other), "the other row"), *related]
            related += [*_value(dump, rows[difference.row]), *_value(dump, other)]
        return survey.report(section.place(record), difference.message, *related)

    message = f"{len(wrong):,} rows differ from the values that are live at step {label.moment}"
    summary = survey.report(section.place(label), message)
    yield from report_few(wrong, report, len(section.peak), summary)


def _is_comparable(survey: CompileCheck, section: LiveRangeSection, key: str) -> bool:
    """Return whether a value has a live range, or is certain to be unknown."""
    has_range = key in section.file.memory.ranges
    return has_range or (has_all_values(survey.context) and value_line(survey.dump, key) is None)


def peak_bytes(survey: CompileCheck) -> Iterator[Finding]:
    """Report rows with other bytes than the shape of the value has without padding.

    Up to jax 0.5.3, they are those of the whole instruction: a tuple's table of pointers.
    """
    found = _section_with_peak(survey.dump)
    if found is None:
        return
    section, sizes = found[0], ValueBytes(survey.dump)
    expected = [sizes(row.key or row.name + "{}") for row in section.peak]
    wrong = [
        (row, size)
        for row, size in zip(section.peak, expected, strict=True)
        if size is not None and row.bytes != size
    ]
    for row, size in wrong[:MAX_FINDINGS]:
        message = f"`{row_label(row)}` has {row.bytes:,} B, but its shape has {size:,} B"
        place = section.place(row, "BYTES")
        yield survey.report(place, message, *_value(survey.dump, row)).put(str(size))


def peak_cumulative(survey: CompileCheck) -> Iterator[Finding]:
    """Report cumulative bytes that are not those of the previous row plus the row's own bytes."""
    found = _section_with_peak(survey.dump)
    if found is None or LiveRangePart.PEAK in found[0].damaged:
        return
    section, total = found[0], 0
    wrong: list[tuple[int, int]] = []
    for place, row in enumerate(section.peak):
        total += row.bytes
        if row.cumulative is not None and row.cumulative != total:
            wrong.append((place, total))
            following = section.peak[place + 1 : place + 2]
            if following and following[0].cumulative == row.cumulative + following[0].bytes:
                total = row.cumulative  # as after a missing row
    for place, right in wrong[:MAX_FINDINGS]:
        row, following = section.peak[place], section.peak[place + 1 : place + 2]
        message = f"cumulative {row.cumulative:,} B is not the sum so far: expected {right:,} B"
        near = [section.peak[place - 1]] if place else []
        related = [Related(section.place(other), "previous row") for other in near]
        finding = survey.report(section.place(row, "CUMULATIVE"), message, *related)
        follows = all(other.cumulative == right + other.bytes for other in following)
        yield finding.put(str(right)) if follows else finding


def peak_understated(survey: CompileCheck) -> Iterator[Finding]:
    """Report that more bytes are occupied at another step than at the declared peak.

    XLA weighs values by the shapes of whole instructions when it looks for the peak, and counts
    shared bytes once for each value (hlo_live_range.cc, ``ComputePeakMemoryMoment``).
    """
    found = _section_with_peak(survey.dump)
    if found is None or not found[0].is_complete(LiveRangePart.RANGES):
        return
    section, label = found
    backend = survey.context.target.backend
    occupancy = largest_off_chip_space(memory_space_occupancies(survey.dump), backend)
    if occupancy is None:
        return
    most, here = occupancy.peak_bytes, occupancy.bytes_at(label.moment)
    if most - here < max(_MIN_EXCESS_BYTES, _MIN_EXCESS_RATIO * here):
        return
    listed = sum(row.bytes for row in section.peak)
    step = survey.dump.at_step(occupancy.peak_step)
    most_occupied = "the step with most occupied bytes"
    yield survey.report(
        section.place(label, "MOMENT"),
        f"{format_bytes(most)} are occupied in {space_title(occupancy.space, backend)} at step "
        f"{occupancy.peak_step:,}, but only {format_bytes(here)} at step {label.moment:,}, "
        f"the declared peak. XLA's list of that peak adds up to {format_bytes(listed)}.",
        *([] if step is None else [Related(field_place(step.file, step.record), most_occupied)]),
    )


def _value(dump: DumpSet, row: PeakRow) -> list[Related]:
    found = value_line(dump, row.key or row.name + "{}")
    return [] if found is None else [Related(field_place(found.file, found.record), row_label(row))]


def _section_with_peak(dump: DumpSet) -> tuple[LiveRangeSection, PeakLabel] | None:
    section = live_range_section(dump)
    label = None if section is None else section.peak_label
    return None if section is None or label is None else (section, label)


_FILES = frozenset({Part.RANGES, Part.VALUES, Part.ENTRIES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule("peak-moment", Severity.ERROR, peak_moment, _FILES),
    WholeRule("peak-list", Severity.ERROR, peak_list, _FILES),
    WholeRule("peak-bytes", Severity.ERROR, peak_bytes, _FILES),
    WholeRule("peak-cumulative", Severity.ERROR, peak_cumulative, frozenset({Part.RANGES})),
    WholeRule(
        "peak-understated",
        Severity.INFORMATION,
        peak_understated,
        _FILES | {Part.ALLOCATIONS},
    ),
)
