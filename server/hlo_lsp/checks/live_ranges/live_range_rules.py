"""Live ranges: their values, their order, their steps."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, Reads, WholeRule
from hlo_lsp.checks.live_ranges.section import (
    MAX_FINDINGS,
    LiveRangeSection,
    TextSchedule,
    live_range_section,
    once,
    report_few,
    text_schedule,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import Section
from hlo_lsp.syntax.memory_records import RangeRow, SequenceRow

T = TypeVar("T")


def has_all_values(dump: Compile) -> bool:
    """Return whether every line that may name a value is readable in one of the files."""
    if dump.assigned_values_file is not None and not dump.has_broken_assigned_values:
        return True
    return dump.used_values_file is not None and not dump.has_broken_used_values


def _value_ids(dump: Compile) -> dict[int, str]:
    ids: dict[int, str] = {}
    for file in dump.files:
        checkpoint()
        for entry in file.memory.entries.firsts():
            if entry.id is not None and entry.key is not None:
                ids.setdefault(entry.id, entry.key)
        ids.update((value.id, value.key) for value in file.memory.assigned.firsts())
    return ids


def live_range_unknown(context: CompileContext) -> list[Finding]:
    """Report ranges that name no value, or a thread-local one: those are in no schedule."""
    dump, section = context.dump, live_range_section(context.dump)
    if section is None or not (dump.assigned_values_file or dump.used_values_file):
        return []
    has_all, scheduled = has_all_values(dump), _scheduled(dump, section)
    unknown: list[tuple[RangeRow, str]] = []
    headers = dump.headers_of([row.key for row in section.ranges])
    for row, header in zip(section.ranges, headers, strict=True):
        if header is None:
            if has_all:
                unknown.append((row, f"no allocation or used value has a value `{row.key}`"))
        elif row.name not in scheduled:
            value = dump.value_of_key(row.key)
            if value is not None and value.allocation and value.allocation.record.thread_local:
                message = f"thread-local value `{row.key}` has a live range: expected none"
                unknown.append((row, message))

    def report(found: tuple[RangeRow, str]) -> Finding:
        return context.report(section.place(found[0], "NAME"), found[1])

    message = f"{len(unknown):,} of {len(section.ranges):,} live ranges have no known value"
    return _few(context, section, unknown, report, message)


def live_range_missing(context: CompileContext) -> list[Finding]:
    """Report values of scheduled instructions without a live range."""
    dump, section = context.dump, live_range_section(context.dump)
    if section is None or not section.is_complete(Section.RANGES):
        return []
    scheduled = _scheduled(dump, section)
    indexes = [file.memory for file in dump.files]
    keys = set[str]().union(*(index.assigned_keys.keys for index in indexes))
    keys.update(*(index.entry_keys.keys for index in indexes))
    keys.difference_update(section.file.memory.ranges.keys)
    if not any(key.partition("{")[0] in scheduled for key in keys):
        return []
    places = {row.key: place for place, row in enumerate(section.ranges)}
    checkpoint()
    missing: dict[int, list[str]] = {}  # by the row that should be after them
    place = 0
    ids = sorted(_value_ids(dump).items())
    for _, key in ids:
        checkpoint()
        if key in places:
            place = places[key] + 1
        elif key.partition("{")[0] in scheduled:
            missing.setdefault(place, []).append(key)

    def report(found: tuple[int, list[str]]) -> Finding:
        (place, keys), ranges = found, section.ranges
        more = f" and {len(keys) - 1:,} more values have" if len(keys) > 1 else " has"
        where = f"before `{ranges[place].key}`" if place < len(ranges) else "at the end of the list"
        message = f"`{keys[0]}`{more} no live range: expected {where}"
        label, value = section.label_place(Section.RANGES), dump.value_header(keys[0])
        at = section.place((*ranges, ranges[-1])[place]) if ranges else label
        related = [] if value is None else [value.place()]
        return context.report(at, message, *(Related(place, "the value") for place in related))

    count, known = sum(map(len, missing.values())), len(section.ranges)
    message = f"{count:,} values have no live range, but only {known:,} values have one"
    return _few(context, section, sorted(missing.items()), report, message)


def live_range_order(context: CompileContext) -> list[Finding]:
    """Report ranges that are not in the order of their value ids, or repeated."""
    dump, section = context.dump, live_range_section(context.dump)
    if section is None:
        return []
    seen: dict[str, RangeRow] = {}
    previous: tuple[int, RangeRow] | None = None
    wrong: list[tuple[RangeRow, RangeRow, str]] = []
    keys = [row.key for row in section.ranges]
    for row, key, header in zip(section.ranges, keys, dump.headers_of(keys), strict=True):
        first = seen.setdefault(key, row)
        if first is not row:
            wrong.append((row, first, f"`{row.key}` has two live ranges: expected one"))
            continue
        id_ = None if header is None else header.id
        if id_ is None:
            continue
        if previous is not None and id_ < previous[0]:
            before, other = previous
            message = f"value {id_} `{row.key}` is listed after value {before} `{other.key}`: "
            wrong.append((row, other, message + "expected the order of value ids"))
        previous = id_, row

    def report(found: tuple[RangeRow, RangeRow, str]) -> Finding:
        row, other, message = found
        return context.report(section.place(row), message, section.related(other, other.key))

    message = f"{len(wrong):,} of {len(section.ranges):,} live ranges are not in order"
    return _few(context, section, wrong, report, message)


def live_range_bounds(context: CompileContext) -> list[Finding]:
    """Report ranges that end before they start, or after the schedule."""
    section = live_range_section(context.dump)
    if section is None:
        return []
    last = max(section.lengths, default=None)
    wrong = [
        row
        for row in section.ranges
        if row.start_step > row.end_step or (last is not None and row.end_step > last)
    ]

    def report(row: RangeRow) -> Finding:
        message = f"the range ends at step {row.end_step}, "
        if last is None or row.end_step <= last:
            message += f"before its start at step {row.start_step}"
            return context.report(section.place(row, "END"), message)
        message += f"but the schedule ends at step {last}"
        head = section.head or section.steps[-1]
        related = section.related(head, f"the schedule ends at step {last}")
        return context.report(section.place(row, "END"), message, related)

    message = f"{len(wrong):,} live ranges are outside the schedule, which ends at step {last}"
    return _few(context, section, wrong, report, message)


def live_range_start(context: CompileContext) -> list[Finding]:
    """Report ranges that do not start at the step of the instruction that defines the value."""
    return _starts(context, of_parameters=False)


def live_range_parameter(context: CompileContext) -> Iterator[Finding]:
    """Report parameters whose range does not start with their computation, or ends early."""
    yield from _starts(context, of_parameters=True)
    section = live_range_section(context.dump)
    if section is None or len(section.lengths) != 1:
        return
    (last,) = section.lengths
    count = 0
    for allocation in context.dump.allocations():
        if allocation.record.parameter is None or allocation.record.maybe_live_out:
            continue
        values = list(context.dump.assigned_to(allocation))
        row = section.file.memory.ranges.first(values[0].key) if len(values) == 1 else None
        if row is not None and row.end_step < last and count < MAX_FINDINGS:
            count += 1
            message = f"the range of a parameter ends at step {row.end_step}: expected {last}, "
            place = allocation.place()
            related = Related(place, "no output uses this allocation")
            message += "the end of the program"
            yield context.report(section.place(row, "END"), message, related).put(str(last))


def _starts(context: CompileContext, *, of_parameters: bool) -> list[Finding]:
    """Report ranges that start at another step than expected by the schedule and the module text.

    A range starts at the step of the instruction that defines the value; that of a parameter at the
    first step of its computation; on TPU, that of a value in an async computation may start at the
    step after the computation (hlo_live_range.cc, ``CalculateBufferStartEndMap``; held on 29,000
    ranges of real dumps).
    """
    section = live_range_section(context.dump)
    if section is None:
        return []
    wrong = [one for one in _wrong_starts(context.dump) if one.is_parameter is of_parameters]

    def report(found: WrongStart) -> Finding:
        step = found.step
        reason = f"`{step.name}` runs at step {step.step}"
        if found.computation:
            reason = f"computation `{found.computation}` begins at step {step.step}"
        message = f"the range starts at step {found.row.start_step}, but {reason}"
        related = section.related(step, "in the schedule")
        finding = context.report(section.place(found.row, "START"), message, related)
        return finding.put(str(step.step)) if found.is_certain else finding

    message = f"{len(wrong):,} of {len(section.ranges):,} live ranges start at a wrong step"
    return _few(context, section, wrong, report, message)


@query
def _wrong_starts(dump: Compile) -> "list[WrongStart]":
    section, text = live_range_section(dump), text_schedule(dump)
    if section is None:
        return []
    places = once(row.name for row in section.steps)
    wrong: list[WrongStart] = []
    for row in section.ranges:
        checkpoint()
        if row.name in places:
            is_in_text = text is not None and row.name in text.steps
            found = (
                _start_by_text(text, section, places, row)
                if text is not None and is_in_text
                else _start_without_text(dump, section.steps[places[row.name]], row)
            )
            if found is not None:
                wrong.append(found)
    return wrong


@dataclass(frozen=True, slots=True)
class WrongStart:
    """A range that starts at another step than expected.

    Attributes:
        step: The row of the schedule at which it should start.
        computation: For a parameter the name of its computation, if known.
        is_certain: Whether no step but that one is possible.
    """

    row: RangeRow
    step: SequenceRow
    is_parameter: bool = False
    computation: str = ""
    is_certain: bool = True


def _start_by_text(
    text: TextSchedule, section: LiveRangeSection, places: Mapping[str, int], row: RangeRow
) -> WrongStart | None:
    schedule, rows = text.schedule, section.steps
    at = text.steps[row.name]
    step, is_parameter = rows[places[row.name]], schedule.instructions[at].opcode == "parameter"
    if row.start_step == step.step and not is_parameter:
        return None
    computation = schedule.computations[at]
    span = schedule.spans[computation]
    if is_parameter:
        first = places.get(schedule.instructions[span.start].name)
        if first is None or row.start_step == rows[first].step:
            return None
        return WrongStart(row, rows[first], is_parameter, computation.name)
    last = places.get(schedule.instructions[span.end - 1].name)
    if span.is_async and (last is None or row.start_step == rows[last].step + 1):
        return None
    return WrongStart(row, step)


def _start_without_text(dump: Compile, step: SequenceRow, row: RangeRow) -> WrongStart | None:
    text = dump.text_of(row.name)
    if text is None or row.start_step == step.step:
        return None
    if text.opcode.text == "parameter":
        # A parameter starts at the first step of its computation, which only the module text has.
        return None if row.start_step < step.step else WrongStart(row, step, True, is_certain=False)
    # A value of an async computation may start at the step after it.
    return None if row.start_step == step.step + 1 else WrongStart(row, step)


def _few(
    context: CompileContext,
    section: LiveRangeSection,
    items: Sequence[T],
    report: Callable[[T], Finding],
    message: str,
) -> list[Finding]:
    summary = context.report(section.label_place(Section.RANGES), message)
    return report_few(items, report, len(section.ranges), summary)


def _scheduled(dump: Compile, section: LiveRangeSection) -> Container[str]:
    """Return the names of the scheduled instructions: only their values have live ranges."""
    text = text_schedule(dump)
    return {row.name for row in section.steps} if text is None else text.steps


RULES: tuple[AnyRule, ...] = (
    WholeRule("live-range-unknown", Severity.ERROR, live_range_unknown, reads=Reads.STRUCTURE),
    WholeRule("live-range-missing", Severity.ERROR, live_range_missing, reads=Reads.STRUCTURE),
    WholeRule("live-range-order", Severity.ERROR, live_range_order, reads=Reads.STRUCTURE),
    WholeRule("live-range-bounds", Severity.ERROR, live_range_bounds, reads=Reads.STRUCTURE),
    WholeRule("live-range-start", Severity.ERROR, live_range_start, reads=Reads.STRUCTURE),
    WholeRule("live-range-parameter", Severity.ERROR, live_range_parameter, reads=Reads.STRUCTURE),
)
