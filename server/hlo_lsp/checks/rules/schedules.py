"""The schedule that the live ranges print: its numbers, and its names against the module text."""

from collections.abc import Iterator

from hlo_lsp.analysis.live.live_section import Part as Section
from hlo_lsp.analysis.steps.printed_schedule import (
    PrintedSchedule,
    learn_schedules,
    printed_schedule,
    text_schedule,
)
from hlo_lsp.analysis.steps.schedule_differences import (
    Difference,
    Kind,
    doubled_names,
    schedule_differences,
)
from hlo_lsp.analysis.steps.step_numbers import Fault, Trouble
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.fix import Fix
from hlo_lsp.checks.places import field_place, name_place
from hlo_lsp.checks.renumbering import renumbered
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.text.checkpoint import checkpoint

_MOST = 5  # findings of one kind


def schedule_numbering(survey: Survey) -> Iterator[Finding]:
    """The steps are numbered 0, 1, 2 ... and `max` says how many there are.

    The schedule is a list, printed with the places of its members. Each instruction is in it once.
    """
    dump = learn_schedules(survey.dump)
    printed = printed_schedule(dump)
    if printed is None:
        return
    faults = printed.numbers.faults[:_MOST]
    again = renumbered(printed) if faults else None
    for fault in faults:
        finding = _numbering_fault(survey, printed, fault)
        yield finding if again is None else finding.fixed(again)
    yield from _wrong_length(survey, printed)
    if not printed.numbers.faults and text_schedule(dump) is None:
        for row, twin in doubled_names(dump)[:_MOST]:
            yield survey.accuse(
                field_place(printed.section.file, row, "NAME"),
                f"`{row.name}` is at step {row.step} and at step {twin.step}: an instruction is in "
                "the schedule once",
                Related(field_place(printed.section.file, twin, "NAME"), "the other one"),
            )


def _numbering_fault(survey: Survey, printed: PrintedSchedule, fault: Fault) -> Finding:
    file = printed.section.file
    place = min(fault.row, len(printed.rows) - 1)
    row = printed.rows[place]
    assert row is not None  # rows that cannot be read have no numbers to find fault with
    step = field_place(file, row, "STEP")
    other = None if fault.other is None else printed.rows[fault.other]
    if fault.trouble is Trouble.WRONG:
        message = f"step {fault.first} is due here, not {row.step}"
        return survey.accuse(step, message).put(str(fault.first))
    if fault.trouble is Trouble.SWAPPED and other is not None:
        return survey.accuse(
            step,
            f"step {fault.first} is due here: steps {row.step} and {other.step} have changed "
            "places",
            Related(field_place(file, other, "STEP"), f"step {other.step}"),
        )
    if fault.trouble is Trouble.MOVED:
        return survey.accuse(step, f"step {row.step} does not stand behind step {row.step - 1}")
    if fault.trouble is Trouble.MISSING:
        gone = _steps(fault.first, fault.last)
        return survey.accuse(step, f"{gone} missing in front of step {row.step}")
    twin = printed.at.get(row.step)
    again = "stands" if fault.first == fault.last else "stand"
    count = 1 if fault.other is None else fault.other - fault.row + 1
    return survey.accuse(
        step,
        f"{_steps(fault.first, fault.last).removesuffix(' is').removesuffix(' are')} {again} here "
        "once more",
        *([] if twin is None else [Related(field_place(file, twin, "STEP"), "the first time")]),
    ).fixed(Fix.drop(file, row.line, count))


def _steps(first: int, last: int) -> str:
    return f"step {first} is" if first == last else f"steps {first} to {last} are"


def _wrong_length(survey: Survey, printed: PrintedSchedule) -> Iterator[Finding]:
    section, count = printed.section, printed.numbers.count
    head = section.head
    if head is None or head.max == count or not section.is_whole(Section.STEPS):
        return
    if printed.last == count:
        yield survey.accuse(
            field_place(section.file, head, "MAX"),
            f"the schedule is said to have {head.max:,} steps, but {count:,} stand there",
        ).put(str(count))
        return
    last = section.steps[-1]
    if head.max > count:
        gone = _steps(count, head.max - 1)
        message = f"{gone} missing at the end: the schedule is said to have {head.max:,} steps"
    else:
        message = f"the schedule is said to have {head.max:,} steps, but {count:,} stand there"
    yield survey.accuse(
        field_place(section.file, last, "STEP"),
        message,
        Related(field_place(section.file, head, "MAX"), f"{head.max:,} steps"),
    )


def schedule_mismatch(survey: Survey) -> Iterator[Finding]:
    """The schedule is the order of the instructions in the module text.

    It is flattened from the entry on: what a loop, call, conditional or async instruction runs
    comes in front of it. Where both differ, the live ranges and values decide which one is wrong.
    """
    dump = learn_schedules(survey.dump)
    printed = printed_schedule(dump)
    if printed is None:
        return
    differences = schedule_differences(dump)
    for difference in differences[:_MOST]:
        yield _difference(survey, printed, difference)
    checkpoint()


def _difference(survey: Survey, printed: PrintedSchedule, difference: Difference) -> Finding:
    section, row, line = printed.section, difference.row, difference.line
    if difference.kind is Kind.FOREIGN:
        label = section.labels.get(Section.STEPS, row)
        message = "this is the schedule of another module: the module text has few of these names"
        return survey.accuse(field_place(section.file, label), message)
    place = field_place(section.file, row, "NAME")
    message = _sentence(printed, difference)
    if line is None:
        other = difference.other
        related = [] if other is None else [(field_place(section.file, other, "NAME"), other.name)]
        return survey.accuse(place, message, *(Related(where, name) for where, name in related))
    in_text = name_place(line.file, line.record)
    if difference.blames_text:
        message += "; the live ranges agree with the schedule"
        return survey.accuse(in_text, message, Related(place, "the printed schedule"))
    return survey.accuse(place, message, Related(in_text, "the module text"))


def _sentence(printed: PrintedSchedule, difference: Difference) -> str:
    row, line, other = difference.row, difference.line, difference.other
    kind, name = difference.kind, "" if line is None else line.record.name
    step = next((step for step, each in printed.at.items() if each is row), row.step)
    if kind is Kind.SWAPPED and other is not None:
        return f"`{row.name}` and `{other.name}` have changed places in the schedule"
    if kind is Kind.MOVED:
        return f"`{row.name}` runs at another place in the schedule than in the module text"
    if kind is Kind.RENAMED:
        return f"step {step} is `{row.name}` in the schedule and `{name}` in the module text"
    if kind is Kind.ONLY_PRINTED:
        return f"`{row.name}`, step {step} of the schedule, is not in the module text"
    if kind is Kind.ONLY_IN_TEXT:
        return f"`{name}` of the module text is not in the schedule; it is due at step {step}"
    return f"no instruction `{row.name}` has a position under `Used values`"


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "schedule-numbering",
        Severity.ERROR,
        schedule_numbering,
        frozenset({Part.RANGES, Part.MODULE}),
    ),
    WholeRule(
        "schedule-mismatch",
        Severity.ERROR,
        schedule_mismatch,
        frozenset({Part.RANGES, Part.MODULE, Part.ALLOCATIONS, Part.ENTRIES}),
    ),
)
