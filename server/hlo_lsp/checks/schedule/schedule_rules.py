"""The schedule that the live ranges print: its numbers, and its names against the module text."""

from collections.abc import Iterator, Sequence

from hlo_lsp.checks.framework.finding import Edit, Finding, Fix, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.checks.live_ranges.section import (
    MAX_FINDINGS,
    Difference,
    LiveRangeSection,
    TextSchedule,
    differences,
    live_range_section,
    text_schedule,
)
from hlo_lsp.model.omitted_instructions import OmittedInstructions, omitted_instructions
from hlo_lsp.model.place import name_place
from hlo_lsp.model.sections import Section
from hlo_lsp.syntax.memory_records import LiveRangeLabel, SequenceRow


def schedule_numbering(context: CompileContext) -> Iterator[Finding]:
    """Report rows that break the sequence 0, 1, 2 ..., which ends before ``max``."""
    section = live_range_section(context.dump)
    if section is None or not section.steps or Section.SEQUENCE in section.damaged:
        return
    numbers = [row.step for row in section.steps]
    if section.head is not None and section.is_complete(Section.SEQUENCE):
        numbers.append(section.head.max)
    breaks = numbering_breaks(numbers)
    renumbered = _renumbered(section)
    for found in breaks[:MAX_FINDINGS]:
        yield _numbering_finding(context, section, numbers, renumbered, found)


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
    context: CompileContext,
    section: LiveRangeSection,
    numbers: Sequence[int],
    renumbered: Fix,
    found: tuple[int, int],
) -> Finding:
    place, expected = found
    rows, number = section.steps, numbers[place]
    previous = rows[place - 1] if place else None
    related = [] if previous is None else [section.related(previous, "previous row")]
    if place == len(rows):
        last_end = max((row.end_step for row in section.ranges), default=None)
        at = section.place(section.head or rows[-1], "MAX")
        message = f"`max` is {number:,}, but the schedule has {expected:,} steps"
        finding = context.report(at, message, *related)
        return finding.put(str(expected)) if last_end == expected else finding.fixed(renumbered)
    row, following = rows[place], numbers[place + 1 : place + 2]
    message = f"step {number} is out of sequence: expected {expected}"
    if following == [number + 1] and number > expected:
        last = number - 1
        steps = f"step {last} is" if expected == last else f"steps {expected} to {last} are"
        message = f"{steps} missing before step {number}"
    elif previous is not None and number == previous.step:
        message = f"step {number} is repeated"
    finding = context.report(section.place(row, "STEP"), message, *related)
    if following == [expected + 1] and (previous is None or previous.step == expected - 1):
        finding = finding.put(str(expected))
    elif previous is not None and (row.step, row.name) == (previous.step, previous.name):
        finding = finding.fixed(Fix.drop(section.file, row.line, 1))
    return finding.fixed(renumbered)


def _renumbered(section: LiveRangeSection) -> Fix:
    """Return a fix that numbers each row by its place; live ranges refer to the old numbers."""
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


def schedule_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report rows that differ from the schedule that the module text implies."""
    section = live_range_section(context.dump)
    if section is None or not section.steps or Section.SEQUENCE in section.damaged:
        return
    text = text_schedule(context.dump)
    if text is None:
        return
    omitted = omitted_instructions(context.dump)
    rows = list(_compared_rows(section, text, omitted))
    printed = [row.name for row in rows]
    expected = list(_expected_names(text, rows))
    for difference in differences(printed, expected)[:MAX_FINDINGS]:
        yield _mismatch_finding(context, section, rows, text, difference)
    for name in _missing_names(section, text, omitted)[:MAX_FINDINGS]:
        place, element = section.label_place(Section.SEQUENCE), omitted.elements[name]
        yield context.report(place, f"`{name}`, which is `{element}`, is missing in the schedule")


def _missing_names(
    section: LiveRangeSection, text: TextSchedule, omitted: OmittedInstructions
) -> list[str]:
    """Return the scheduled instructions that neither the text nor the schedule has.

    A gap in the numbers of the rows is reported by itself.
    """
    numbers = [row.step for row in section.steps]
    if numbering_breaks(numbers) or not section.is_complete(Section.SEQUENCE):
        return []
    scheduled = {row.name for row in section.steps}
    return [
        name
        for name, element in omitted.elements.items()
        if name not in scheduled and element.partition("#")[0] in text.steps
    ]


def _compared_rows(
    section: LiveRangeSection, text: TextSchedule, omitted: OmittedInstructions
) -> Iterator[SequenceRow]:
    """Yield the rows to compare with the text: not those of instructions that it omits.

    A row of an omitted instruction is compared, and so reported, if it repeats another one or if it
    precedes the tuple.
    """
    instructions = text.file.module.instructions
    seen: set[str] = set()
    for row in section.steps:
        holder = omitted.elements.get(row.name, "").partition("#")[0]
        is_early = holder in text.steps and holder not in seen
        is_omitted = row.name not in instructions and omitted.may_contain(row.name)
        if not is_omitted or is_early or row.name in seen:
            yield row
        seen.add(row.name)


def _expected_names(text: TextSchedule, rows: Sequence[SequenceRow]) -> Iterator[str]:
    """Yield the names of the scheduled instructions of the text.

    The text has no names for the computation of ``slice-start``: its instructions have those of the
    rows that the text does not have, in the same order.
    """
    module = text.file.module
    unknown = (row.name for row in rows if row.name not in module.instructions)
    for line in text.schedule.instructions:
        yield next(unknown, line.name) if module.is_omitted(line) else line.name


def _mismatch_finding(
    context: CompileContext,
    section: LiveRangeSection,
    rows: Sequence[SequenceRow],
    text: TextSchedule,
    found: Difference,
) -> Finding:
    at = min(found.row, len(rows) - 1)
    row = rows[at]
    # The step of the row in the module text, where nothing else is expected instead.
    place = text.steps.get(row.name) if found.place is None else found.place
    line = None if place is None else text.schedule.instructions[place]
    if line is None or found.place is None:
        problem = "not in the module text" if line is None else "repeated or out of order"
        message = f"`{row.name}`, step {row.step} of the schedule, is {problem}"
    elif not found.is_unexpected:
        message = f"`{line.name}` of the module text is missing in the schedule"
    else:
        message = f"step {row.step} is `{row.name}` in the schedule, but `{line.name}`"
        message += " in the module text"
    related = [] if line is None else [Related(name_place(text.file, line), "the module text")]
    related += [section.related(rows[at - 1], "previous row")] if at else []
    return context.report(section.place(row, "NAME"), message, *related)


RULES: tuple[AnyRule, ...] = (
    WholeRule("schedule-numbering", Severity.ERROR, schedule_numbering),
    WholeRule("schedule-mismatch", Severity.ERROR, schedule_mismatch),
)
