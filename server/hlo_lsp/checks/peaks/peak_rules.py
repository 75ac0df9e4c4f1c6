"""The peak: the step that XLA declares, the values listed there, and the true maximum."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, Reads, WholeRule
from hlo_lsp.checks.live_ranges.live_range_rules import has_all_values
from hlo_lsp.checks.live_ranges.section import (
    MAX_FINDINGS,
    Difference,
    LiveRangeSection,
    differences,
    live_range_section,
    report_few,
)
from hlo_lsp.memory.logical_sizes import live_bytes
from hlo_lsp.memory.occupancy_and_peaks import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import target_of
from hlo_lsp.model.sections import Section
from hlo_lsp.syntax.memory_records import PeakLabel, PeakRow, RangeRow
from hlo_lsp.text.amounts import format_bytes

SizedRanges = Sequence[tuple[int, int, int]]  # start step, end step, bytes
_MIN_EXCESS_BYTES = 1 << 20  # of the occupied peak over the declared step
_MIN_EXCESS_RATIO = 0.05


def compute_peak_step(ranges: SizedRanges) -> int:
    """Return the step that XLA declares the peak: the first with most bytes, 0 without any.

    A value counts until one step after its end (``ComputePeakMemoryMoment``).
    """
    changes: defaultdict[int, int] = defaultdict(int)
    for start, end, size in ranges:
        checkpoint()
        changes[start] += size
        changes[end + 2] -= size
    starts = {start for start, _, _ in ranges}
    peak = most = live = 0
    for step in sorted(changes):
        live += changes[step]
        if live > most and step in starts:
            most, peak = live, step
    return peak


def counted_bytes(ranges: SizedRanges, step: int) -> int:
    """Return the bytes that XLA counts at a step when it looks for the peak."""
    return sum(size for start, end, size in ranges if start <= step <= end + 1)


def peak_moment(context: CompileContext) -> Iterator[Finding]:
    """Report that XLA counts more bytes at another step, or the same number at an earlier one."""
    section, label = _section_with_peak(context.dump)
    if section is None or label is None or not section.is_complete(Section.RANGES):
        return
    sized: list[tuple[int, int, int]] = []
    # The bytes of the whole instruction: those of a tuple are its pointers.
    sizes = live_bytes(context.dump, [row.name + "{}" for row in section.ranges])
    for row, size in zip(section.ranges, sizes, strict=True):
        checkpoint()
        if size is None:
            return
        sized.append((row.start_step, row.end_step, size))
    right, printed = compute_peak_step(sized), label.moment
    checkpoint()
    if right != printed:
        most, here = counted_bytes(sized, right), counted_bytes(sized, printed)
        message = f"the peak is declared at step {printed}, where XLA counts {here:,} B: expected "
        message += f"step {right}, the first with the maximum of {most:,} B"
        yield context.report(section.place(label, "MOMENT"), message).put(str(right))


def peak_list(context: CompileContext) -> Iterator[Finding]:
    """Report differences between the list at the peak and the values that are live then.

    The list is sorted by size, name, and index. Up to jaxlib 0.6.0 and libtpu 0.0.15, it has the
    order of the value ids.
    """
    dump = context.dump
    section, label = _section_with_peak(dump)
    if section is None or label is None or Section.PEAK in section.damaged:
        return
    if not (dump.assigned_values_file or dump.used_values_file):
        return
    if len({(row.index is None, row.cumulative is None) for row in section.peak}) > 1:
        return  # rows of several releases
    rows, expected = section.peak, _expected_rows(dump, section, label.moment)
    if any(row.index is not None for row in rows):
        has_all, ranges = has_all_values(dump), section.file.memory.ranges
        rows = [
            row
            for row in rows
            if (key := _label(row)) in ranges or (has_all and dump.value_header(key) is None)
        ]
        due = expected
    elif section.is_complete(Section.RANGES):
        due = [key.partition("{")[0] for key in expected]
    else:
        return
    wrong = differences([_label(row) for row in rows], due)
    at_peak = section.related(label, f"the peak, step {label.moment}")

    def report(found: Difference) -> Finding:
        record = (*rows, *rows[-1:], label)[found.row]
        related = [at_peak]
        if found.place is not None and not found.is_unexpected:
            key = expected[found.place]
            message = f"`{due[found.place]}` is live at the declared peak, but missing here"
        else:
            key = _label(rows[found.row])
            message = f"`{key}` is not live at the declared peak"
            if key in due:  # the order depends on the shape of the value
                message = f"`{key}` is repeated or out of order"
                related += _value(dump, rows[found.row])
        live = dump.live(key)
        if live is not None:
            related.insert(0, Related(live.place(), "the live range"))
        return context.report(section.place(record), message, *related)

    message = f"{len(wrong):,} rows differ from the values that are live at step {label.moment}"
    summary = context.report(section.place(label), message)
    yield from report_few(wrong, report, len(section.peak), summary)


def _label(row: PeakRow) -> str:
    """Return the name of a row as printed; old rows have no index."""
    return row.key or row.name


def _expected_rows(dump: Compile, section: LiveRangeSection, step: int) -> list[str]:
    live = [row for row in section.ranges if row.start_step <= step <= row.end_step]
    if section.peak and section.peak[0].cumulative is None:
        return [row.key for row in live]  # by value ids, as live ranges are
    printed = {row.key: row.bytes for row in section.peak}

    keys = [row.key for row in live]
    sizes = dict(zip(keys, live_bytes(dump, keys), strict=True))

    def order(row: RangeRow) -> tuple[int, bytes, tuple[int, ...]]:
        size, digits = sizes[row.key], row.index[1:-1]
        known = printed.get(row.key, 0) if size is None else size
        return -known, row.name.encode(), tuple(map(int, digits.split(","))) if digits else ()

    return [row.key for row in sorted(live, key=order)]


def peak_bytes(context: CompileContext) -> Iterator[Finding]:
    """Report rows with other bytes than the shape of the value has without padding.

    Up to jax 0.5.3, they are those of the whole instruction: a tuple's table of pointers.
    """
    section, _ = _section_with_peak(context.dump)
    count = 0
    if section is None:
        return
    sizes = live_bytes(context.dump, [row.key or row.name + "{}" for row in section.peak])
    for row, size in zip(section.peak, sizes, strict=True):
        if size not in {None, row.bytes} and count < MAX_FINDINGS:
            count += 1
            message = f"`{_label(row)}` has {row.bytes:,} B, but its shape has {size:,} B"
            place = section.place(row, "BYTES")
            yield context.report(place, message, *_value(context.dump, row)).put(str(size))


def peak_cumulative(context: CompileContext) -> Iterator[Finding]:
    """Report cumulative bytes that are not those of the previous row plus the row's own bytes."""
    section, _ = _section_with_peak(context.dump)
    if section is None or Section.PEAK in section.damaged:
        return
    total = count = 0
    for place, row in enumerate(section.peak):
        total += row.bytes
        if row.cumulative is None or row.cumulative == total or count == MAX_FINDINGS:
            continue
        count += 1
        message = f"cumulative {row.cumulative:,} B is not the sum so far: expected {total:,} B"
        before, after = section.peak[max(place - 1, 0) : place], section.peak[place + 1 : place + 2]
        related = [section.related(other, "previous row") for other in before]
        finding = context.report(section.place(row, "CUMULATIVE"), message, *related)
        follows = all(other.cumulative == total + other.bytes for other in after)
        yield finding.put(str(total)) if follows else finding
        if any(other.cumulative == row.cumulative + other.bytes for other in after):
            total = row.cumulative  # as after a missing row


def peak_understated(context: CompileContext) -> Iterator[Finding]:
    """Report that more bytes are occupied at another step than at the declared peak."""
    section, label = _section_with_peak(context.dump)
    if section is None or label is None or not section.is_complete(Section.RANGES):
        return
    backend = target_of(context.dump).backend
    occupancy = largest_off_chip_space(memory_space_occupancies(context.dump), backend)
    if occupancy is None:
        return
    most, here = occupancy.peak_bytes, occupancy.bytes_at(label.moment)
    if most - here < max(_MIN_EXCESS_BYTES, _MIN_EXCESS_RATIO * here):
        return
    step = context.dump.at_step(occupancy.peak_step)
    related = [] if step is None else [step.place()]
    yield context.report(
        section.place(label, "MOMENT"),
        f"{format_bytes(most)} are occupied in {space_title(occupancy.space, backend)} at step "
        f"{occupancy.peak_step:,}, but only {format_bytes(here)} at step {label.moment:,}, the "
        f"declared peak. XLA's list of that peak adds up to "
        f"{format_bytes(sum(row.bytes for row in section.peak))}",
        *(Related(place, "the step with the most occupied bytes") for place in related),
    )


def _value(dump: Compile, row: PeakRow) -> list[Related]:
    found = dump.value_header(row.key or row.name + "{}")
    return [] if found is None else [Related(found.place(), _label(row))]


def _section_with_peak(dump: Compile) -> tuple[LiveRangeSection | None, PeakLabel | None]:
    """Return the live ranges and the line that names the step of the peak, both or none."""
    section = live_range_section(dump)
    label = None if section is None else section.labels.get(Section.PEAK)
    return (section, label) if isinstance(label, PeakLabel) else (None, None)


RULES: tuple[AnyRule, ...] = (
    WholeRule("peak-moment", Severity.ERROR, peak_moment, reads=Reads.STRUCTURE),
    WholeRule("peak-list", Severity.ERROR, peak_list, reads=Reads.STRUCTURE),
    WholeRule("peak-bytes", Severity.ERROR, peak_bytes, reads=Reads.STRUCTURE),
    WholeRule("peak-cumulative", Severity.ERROR, peak_cumulative),
    WholeRule("peak-understated", Severity.INFORMATION, peak_understated),
)
