"""The values of a compile, by the names that live ranges print."""

from collections.abc import Container, Iterator
from dataclasses import dataclass

from hlo_lsp.checks.case import CompileCheck, field_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.checks.schedule.section import (
    MAX_FINDINGS,
    LiveRangePart,
    LiveRangeSection,
    live_range_section,
    once,
    report_few,
    text_schedule,
)
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.program.schedule import is_async_call
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, RangeRow, SequenceRow
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint


def value_line(
    dump: DumpSet, key: str
) -> "LocatedRecord[AssignedValue] | LocatedRecord[UsedValue] | None":
    """Return the line of a value in its allocation, else its entry under ``Used values``."""
    assigned = dump.find(lambda index: index.assigned_keys, key)
    return assigned or dump.find(lambda index: index.entry_keys, key)


def has_all_values(dump: DumpSet) -> bool:
    """Return whether every line that may name a value is readable in one of the files."""
    assigned = dump.has_assigned_values and not dump.has_broken_assigned_values
    return assigned or (dump.has_used_values and not dump.has_broken_used_values)


def value_ids(dump: DumpSet) -> dict[int, str]:
    """Return the keys of all values by their ids."""
    ids: dict[int, str] = {}
    for file in dump.files:
        for entry in file.memory.entries.firsts():
            if entry.id is not None and entry.key is not None:
                ids.setdefault(entry.id, entry.key)
        for value in file.memory.assigned.firsts():
            ids[value.id] = value.key
    return ids


def is_certain(dump: DumpSet, id_: int, key: str) -> bool:
    """Return whether no other line has this key, or gives the value another one."""
    for file in dump.files:
        index = file.memory
        values = [*index.assigned_keys.all(key), *index.assigned.all(id_)]
        entries = [*index.entry_keys.all(key), *index.entries.all(id_)]
        if any((value.id, value.key) != (id_, key) for value in values) or any(
            (entry.id, entry.key) != (id_, key) for entry in entries
        ):
            return False
    return True


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
    is_parameter: bool
    computation: str = ""
    is_certain: bool = True


class ExpectedStarts:
    """The steps at which live ranges start, by the printed schedule and the module text.

    A range starts at the step of the instruction that defines the value; that of a parameter at the
    first step of its computation; on TPU, that of a value in an async computation may start at the
    step after the computation (hlo_live_range.cc, ``CalculateBufferStartEndMap``; held on 29,000
    ranges of real dumps).
    """

    def __init__(self, dump: DumpSet, section: LiveRangeSection) -> None:
        self._dump = dump
        self._text = text_schedule(dump)
        self._rows = section.steps
        self._places = once(row.name for row in section.steps)

    def wrong_start(self, row: RangeRow) -> WrongStart | None:
        """Return the expected start of a range that starts elsewhere; None if it may be right."""
        place = self._places.get(row.name)
        if place is None:
            return None
        step = self._rows[place]
        if self._text is None or row.name not in self._text.steps:
            return None if row.start_step == step.step else self._without_text(row, place)
        schedule = self._text.schedule
        instruction = schedule.instructions[self._text.steps[row.name]]
        is_parameter = instruction.opcode == "parameter"
        if row.start_step == step.step and not is_parameter:
            return None
        computation = self._text.file.module.computation_of(instruction)
        span = None if computation is None else schedule.spans.get(computation)
        if span is None or computation is None:
            return None
        if is_parameter:
            first = self._places.get(schedule.instructions[span.start].name)
            if first is None or row.start_step == self._rows[first].step:
                return None
            return WrongStart(row, self._rows[first], is_parameter, computation.name)
        last = self._places.get(schedule.instructions[span.end - 1].name)
        if span.is_async and (last is None or row.start_step == self._rows[last].step + 1):
            return None
        return WrongStart(row, step, is_parameter)

    def _without_text(self, row: RangeRow, place: int) -> WrongStart | None:
        step = self._rows[place]
        text = self._dump.text_of(row.name)
        if text is None:
            return None
        if text.opcode.text == "parameter":
            if row.start_step < step.step:
                return None  # the first step of the computation, which only the module text has
            return WrongStart(row, step, is_parameter=True, is_certain=False)
        following = self._rows[place + 1] if place + 1 < len(self._rows) else None
        if following is not None and row.start_step == step.step + 1:
            next_text = self._dump.text_of(following.name)
            if next_text is None or is_async_call(next_text.opcode.text):
                return None
        return WrongStart(row, step, is_parameter=False)


def live_range_unknown(survey: CompileCheck) -> Iterator[Finding]:
    """Report ranges that name no value, or a thread-local one: those are in no schedule."""
    dump, section = survey.dump, live_range_section(survey.dump)
    if section is None or not (survey.dump.has_assigned_values or survey.dump.has_used_values):
        return
    has_all, scheduled = has_all_values(dump), _scheduled(dump, section)
    unknown: list[tuple[RangeRow, str]] = []
    for row in section.ranges:
        checkpoint()
        value = value_line(dump, row.key)
        if value is None and has_all:
            unknown.append((row, f"no allocation or used value has a value `{row.key}`"))
        elif value is not None and row.name not in scheduled and _is_thread_local(dump, row.key):
            unknown.append((row, f"thread-local value `{row.key}` has a live range: expected none"))

    def report(found: tuple[RangeRow, str]) -> Finding:
        return survey.report(section.place(found[0], "NAME"), found[1])

    message = f"{len(unknown):,} of {len(section.ranges):,} live ranges have no known value"
    summary = survey.report(section.label_place(LiveRangePart.RANGES), message)
    yield from report_few(unknown, report, len(section.ranges), summary)


def live_range_missing(survey: CompileCheck) -> Iterator[Finding]:
    """Report values of scheduled instructions without a live range."""
    dump, section = survey.dump, live_range_section(survey.dump)
    if section is None or not section.is_complete(LiveRangePart.RANGES):
        return
    places = {row.key: place for place, row in enumerate(section.ranges)}
    scheduled = _scheduled(dump, section)
    missing: dict[int, list[str]] = {}  # by the row that should be after them
    place = 0
    for id_, key in sorted(value_ids(dump).items()):
        checkpoint()
        if key in places:
            place = places[key] + 1
        elif key.partition("{")[0] in scheduled and is_certain(dump, id_, key):
            missing.setdefault(place, []).append(key)

    def report(found: tuple[int, list[str]]) -> Finding:
        place, keys = found
        after = section.ranges[place] if place < len(section.ranges) else None
        more = f" and {len(keys) - 1:,} more values have" if len(keys) > 1 else " has"
        where = "at the end of the list" if after is None else f"before `{after.key}`"
        message = f"`{keys[0]}`{more} no live range: expected {where}"
        related = _value(dump, keys[0])
        if not section.ranges:
            return survey.report(section.label_place(LiveRangePart.RANGES), message, *related)
        return survey.report(section.place(after or section.ranges[-1]), message, *related)

    count, known = sum(map(len, missing.values())), len(section.ranges)
    message = f"{count:,} values have no live range, but only {known:,} values have one"
    summary = survey.report(section.label_place(LiveRangePart.RANGES), message)
    yield from report_few(sorted(missing.items()), report, len(section.ranges), summary)


def live_range_order(survey: CompileCheck) -> Iterator[Finding]:
    """Report ranges that are not in the order of their value ids, or repeated."""
    dump, section = survey.dump, live_range_section(survey.dump)
    if section is None:
        return
    seen: dict[str, RangeRow] = {}
    previous: tuple[int, RangeRow] | None = None
    wrong: list[tuple[RangeRow, RangeRow, str]] = []
    for row in section.ranges:
        checkpoint()
        first = seen.setdefault(row.key, row)
        if first is not row:
            wrong.append((row, first, f"`{row.key}` has two live ranges: expected one"))
            continue
        value = value_line(dump, row.key)
        id_ = None if value is None else value.record.id
        if id_ is None:
            continue
        certain = previous is not None and id_ < previous[0] and is_certain(dump, id_, row.key)
        if previous is not None and certain and is_certain(dump, previous[0], previous[1].key):
            message = f"value {id_} `{row.key}` is listed after value {previous[0]} "
            message += f"`{previous[1].key}`: expected the order of value ids"
            wrong.append((row, previous[1], message))
        previous = id_, row

    def report(found: tuple[RangeRow, RangeRow, str]) -> Finding:
        row, other, message = found
        return survey.report(section.place(row), message, Related(section.place(other), other.key))

    message = f"{len(wrong):,} of {len(section.ranges):,} live ranges are not in order"
    summary = survey.report(section.label_place(LiveRangePart.RANGES), message)
    yield from report_few(wrong, report, len(section.ranges), summary)


def live_range_bounds(survey: CompileCheck) -> Iterator[Finding]:
    """Report ranges that end before they start, or after the schedule.

    Both ends are inclusive; an end equal to ``max`` means the end of the program.
    """
    section = live_range_section(survey.dump)
    if section is None:
        return
    last = max(section.lengths, default=None)
    wrong = [
        row
        for row in section.ranges
        if row.start_step > row.end_step or (last is not None and row.end_step > last)
    ]

    def report(row: RangeRow) -> Finding:
        place = section.place(row, "END")
        if last is None or row.end_step <= last:
            message = f"the range ends at step {row.end_step}, before its start at step"
            return survey.report(place, f"{message} {row.start_step}")
        head = section.head or section.steps[-1]
        related = Related(section.place(head), f"the schedule ends at step {last}")
        message = f"the range ends at step {row.end_step}, but the schedule ends at step {last}"
        return survey.report(place, message, related)

    message = f"{len(wrong):,} live ranges are outside the schedule, which ends at step {last}"
    summary = survey.report(section.label_place(LiveRangePart.RANGES), message)
    yield from report_few(wrong, report, len(section.ranges), summary)


def live_range_start(survey: CompileCheck) -> Iterator[Finding]:
    """Report ranges that do not start at the step of the instruction that defines the value."""
    yield from _starts(survey, of_parameters=False)


def live_range_parameter(survey: CompileCheck) -> Iterator[Finding]:
    """Report parameters whose range does not start with their computation, or ends early.

    A parameter of the program lives to the end, unless an output takes its buffer over.
    """
    yield from _starts(survey, of_parameters=True)
    section = live_range_section(survey.dump)
    if section is None or len(section.lengths) != 1:
        return
    (last,) = section.lengths
    wrong: list[tuple[RangeRow, LocatedRecord[AllocationLine]]] = []
    for allocation in survey.dump.allocations():
        if allocation.record.parameter is None or allocation.record.maybe_live_out:
            continue
        values = list(survey.dump.assigned_to(allocation))
        row = section.file.memory.ranges.first(values[0].key) if len(values) == 1 else None
        if row is not None and row.end_step < last:
            wrong.append((row, allocation))

    def report(found: tuple[RangeRow, LocatedRecord[AllocationLine]]) -> Finding:
        row, allocation = found
        related = Related(
            field_place(allocation.file, allocation.record), "no output uses this allocation"
        )
        message = f"the range of a parameter ends at step {row.end_step}: expected {last}, the end"
        message += " of the program"
        return survey.report(section.place(row, "END"), message, related).put(str(last))

    yield from map(report, wrong[:MAX_FINDINGS])


def _starts(survey: CompileCheck, *, of_parameters: bool) -> Iterator[Finding]:
    section = live_range_section(survey.dump)
    if section is None:
        return
    starts = ExpectedStarts(survey.dump, section)
    wrong = []
    for row in section.ranges:
        checkpoint()
        found = starts.wrong_start(row)
        if found is not None and found.is_parameter is of_parameters:
            wrong.append(found)

    def report(found: WrongStart) -> Finding:
        step = found.step
        reason = f"`{step.name}` runs at step {step.step}"
        if found.computation:
            reason = f"computation `{found.computation}` begins at step {step.step}"
        message = f"the range starts at step {found.row.start_step}, but {reason}"
        place = section.place(found.row, "START")
        finding = survey.report(place, message, Related(section.place(step), "in the schedule"))
        return finding.put(str(step.step)) if found.is_certain else finding

    message = f"{len(wrong):,} of {len(section.ranges):,} live ranges start at a wrong step"
    summary = survey.report(section.label_place(LiveRangePart.RANGES), message)
    yield from report_few(wrong, report, len(section.ranges), summary)


def _scheduled(dump: DumpSet, section: LiveRangeSection) -> Container[str]:
    """Return the names of the scheduled instructions: only their values have live ranges."""
    text = text_schedule(dump)
    return {row.name for row in section.steps} if text is None else text.steps


def _is_thread_local(dump: DumpSet, key: str) -> bool:
    value = dump.value_of_key(key)
    allocation = None if value is None else value.allocation
    return allocation is not None and allocation.record.thread_local


def _value(dump: DumpSet, key: str) -> list[Related]:
    found = value_line(dump, key)
    return [] if found is None else [Related(field_place(found.file, found.record), "the value")]


RULES: tuple[AnyRule, ...] = tuple(
    WholeRule(code, Severity.ERROR, check, ignores_sizes=True)
    for code, check in (
        ("live-range-unknown", live_range_unknown),
        ("live-range-missing", live_range_missing),
        ("live-range-order", live_range_order),
        ("live-range-bounds", live_range_bounds),
        ("live-range-start", live_range_start),
        ("live-range-parameter", live_range_parameter),
    )
)
