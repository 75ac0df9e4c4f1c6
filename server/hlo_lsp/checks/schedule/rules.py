"""The schedule that the live ranges print: its numbers, and its names against the module text."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from hlo_lsp.checks.case import CompileCheck, name_place
from hlo_lsp.checks.finding import Edit, Finding, Fix, Related, Severity
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.checks.schedule.section import (
    MAX_FINDINGS,
    LiveRangePart,
    LiveRangeSection,
    TextSchedule,
    live_range_section,
    once,
    text_schedule,
)
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import LiveRangeLabel, SequenceRow
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue


def schedule_numbering(survey: CompileCheck) -> Iterator[Finding]:
    """Report rows that break the sequence 0, 1, 2 ..., which ends before ``max``."""
    section = live_range_section(survey.dump)
    if section is None or not section.steps or LiveRangePart.STEPS in section.damaged:
        return
    numbers = [row.step for row in section.steps]
    if section.head is not None and section.is_complete(LiveRangePart.STEPS):
        numbers.append(section.head.max)
    breaks = numbering_breaks(numbers)
    if breaks:
        report = partial(_numbering_finding, survey, section, numbers, _renumbered(section))
        yield from map(report, breaks[:MAX_FINDINGS])
    elif text_schedule(survey.dump) is None:
        yield from islice(_repeated_names(survey, section), MAX_FINDINGS)


def numbering_breaks(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places of numbers that break the sequence 0, 1, 2 ..., and those expected there.

    The sequence goes on from a wrong number if the next one does, as after missing rows.
    """
    breaks = []
    expected = 0
    for place, number in enumerate(numbers):
        if number != expected:
            breaks.append((place, expected))
            if numbers[place + 1 : place + 2] == [number + 1]:
                expected = number
        expected += 1
    return breaks


def _numbering_finding(
    survey: CompileCheck,
    section: LiveRangeSection,
    numbers: Sequence[int],
    renumbered: Fix,
    found: tuple[int, int],
) -> Finding:
    place, expected = found
    rows, number = section.steps, numbers[place]
    previous = rows[place - 1] if place else None
    related = [] if previous is None else [Related(section.place(previous), "previous row")]
    if place == len(rows):
        last_end = max((row.end_step for row in section.ranges), default=None)
        at = section.place(section.head or rows[-1], "MAX")
        message = f"`max` is {number:,}, but the schedule has {expected:,} steps"
        finding = survey.report(at, message, *related)
        return finding.put(str(expected)) if last_end == expected else finding.fixed(renumbered)
    row, following = rows[place], numbers[place + 1 : place + 2]
    message = f"step {number} is out of sequence: expected {expected}"
    if following == [number + 1] and number > expected:
        message = f"{_steps(expected, number - 1)} missing before step {number}"
    elif previous is not None and number == previous.step:
        message = f"step {number} is repeated"
    finding = survey.report(section.place(row, "STEP"), message, *related)
    if following == [expected + 1] and (previous is None or previous.step == expected - 1):
        return finding.put(str(expected)).fixed(renumbered)
    if previous is not None and (row.step, row.name) == (previous.step, previous.name):
        finding = finding.fixed(Fix.drop(section.file, row.line, 1))
    return finding.fixed(renumbered)


def _steps(first: int, last: int) -> str:
    return f"step {first} is" if first == last else f"steps {first} to {last} are"


def _renumbered(section: LiveRangeSection) -> Fix:
    """Number each row by its place; unsure, as live ranges refer to the old numbers."""
    numbered: list[tuple[SequenceRow | LiveRangeLabel, int, str, int]] = [
        (row, row.step, "STEP", place) for place, row in enumerate(section.steps)
    ]
    if section.head is not None:
        numbered.append((section.head, section.head.max, "MAX", len(section.steps)))
    edits = [
        Edit.put(section.place(record, role), str(right))
        for record, number, role, right in numbered
        if number != right
    ]
    return Fix("Renumber the schedule", tuple(edits), is_sure=False)


def _repeated_names(survey: CompileCheck, section: LiveRangeSection) -> Iterator[Finding]:
    rows: dict[str, SequenceRow] = {}
    for row in section.steps:
        first = rows.setdefault(row.name, row)
        if first is not row:
            yield survey.report(
                section.place(row, "NAME"),
                f"`{row.name}` is at step {first.step} and at step {row.step}: expected once",
                Related(section.place(first, "NAME"), "first row"),
            )


def schedule_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report rows that differ from the schedule that the module text implies.

    That is the order of the text from the entry on, where the instructions of a loop, call,
    conditional, or async computation come first (hlo_live_range.cc, ``FlattenSchedule``).
    """
    section = live_range_section(survey.dump)
    if section is None or not section.steps or LiveRangePart.STEPS in section.damaged:
        return
    text = text_schedule(survey.dump)
    if text is None:
        yield from _unknown_names(survey, section)
        return
    if [row.name for row in section.steps] == [line.name for line in text.schedule.instructions]:
        return
    found = _differences(section, text)
    for place in sorted(found)[:MAX_FINDINGS]:
        yield _mismatch_finding(survey, section, text, place, found[place])


_Difference = tuple[str, int | None]  # a message, and the step of the module text


def _differences(section: LiveRangeSection, text: TextSchedule) -> dict[int, _Difference]:
    """Return what differs by rows. Names that a schedule has twice have no certain step."""
    rows, lines = section.steps, text.schedule.instructions
    places = once(row.name for row in rows)
    printed = {row.name for row in rows}
    found: dict[int, _Difference] = {}
    previous = -1  # the step of the module text for the row before
    for place, row in enumerate(rows):
        step = text.steps.get(row.name) if row.name in places else None
        if step is not None:
            if step < previous:
                message = f"`{row.name}` runs after `{rows[place - 1].name}` in the schedule, but "
                found[place] = f"{message}before it in the module text", step
            previous = step
            continue
        due = lines[previous + 1].name if previous + 1 < len(lines) else None
        if due == row.name:
            previous += 1
        elif due is not None and due not in printed:
            previous += 1
            message = f"step {row.step} is `{row.name}` in the schedule, but `{due}`"
            found[place] = f"{message} in the module text", previous
        else:
            what = "repeated" if row.name in text.steps else "not in the module text"
            found[place] = f"`{row.name}`, step {row.step} of the schedule, is {what}", None
    place = 0
    for step, line in enumerate(lines):
        if line.name not in printed:
            message = f"`{line.name}` of the module text is missing in the schedule"
            found.setdefault(min(place, len(rows) - 1), (message, step))
        else:
            place = places.get(line.name, place) + 1
    return found


def _mismatch_finding(
    survey: CompileCheck,
    section: LiveRangeSection,
    text: TextSchedule,
    place: int,
    difference: _Difference,
) -> Finding:
    message, step = difference
    related = [Related(section.place(section.steps[place - 1]), "previous row")] if place else []
    if step is not None:
        line: InstructionLine = text.schedule.instructions[step]
        related.insert(0, Related(name_place(text.file, line), "the module text"))
    return survey.report(section.place(section.steps[place], "NAME"), message, *related)


def _unknown_names(survey: CompileCheck, section: LiveRangeSection) -> Iterator[Finding]:
    """Report names without a value, if every entry under ``Used values`` is readable."""
    dump = survey.dump
    if not survey.context.knows_entries or _has_damaged_entries(dump):
        return
    unknown = [
        row
        for row in section.steps
        if next(dump.entries_at(row.name), None) is None
        and next(dump.entries_used_by(row.name), None) is None
    ]
    for row in unknown[:MAX_FINDINGS]:
        message = f"no value under `Used values` has a position or use at `{row.name}`"
        yield survey.report(section.place(row, "NAME"), message)


def _has_damaged_entries(dump: DumpSet) -> bool:
    damaged = (record for file in dump.files for record in file.memory.damaged)
    return any(isinstance(record, UsedValue) for record in damaged)


_FILES = frozenset({Part.RANGES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule("schedule-numbering", Severity.ERROR, schedule_numbering, _FILES),
    WholeRule("schedule-mismatch", Severity.ERROR, schedule_mismatch, _FILES | {Part.ENTRIES}),
)
