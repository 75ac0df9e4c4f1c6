"""Live ranges and the values that they name."""

from collections.abc import Iterator

from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.rule import Subject, field_place
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow
from hlo_lsp.syntax.used_value import UsedValue


def live_range_bounds(subject: Subject[RangeRow]) -> Iterator[Finding]:
    """A live range begins before it ends and lies inside the schedule: 0 <= start <= end <= max.

    Both ends are inclusive; an end equal to `max` means "to the end of the program".
    """
    row = subject.record
    if row.start_step > row.end_step:
        yield subject.finding(
            f"the range starts at step {row.start_step}, after its end at step {row.end_step}",
            "START",
        )
    schedule = subject.context.schedule
    if schedule is not None and row.end_step > schedule.record.max:
        last = schedule.record.max
        yield subject.finding(
            f"the range ends at step {row.end_step}, but the schedule ends at {last}",
            "END",
            Related(
                field_place(schedule.file, schedule.record, "MAX"), f"the schedule ends at {last}"
            ),
        )


def unknown_in_range(subject: Subject[RangeRow]) -> Iterator[Finding]:
    """A live range names a value of the dump."""
    yield from _unknown(subject, subject.record.key)


def unknown_in_peak(subject: Subject[PeakRow]) -> Iterator[Finding]:
    """A row at the peak names a value of the dump."""
    if subject.record.key is not None:
        yield from _unknown(subject, subject.record.key)


def unassigned_entry(subject: Subject[UsedValue]) -> Iterator[Finding]:
    """Every used value lies in an allocation: the entry and the allocation name the same value."""
    entry, context = subject.record, subject.context
    if entry.id is None or not context.knows_assignment:
        return
    assigned = context.dump.find(lambda index: index.assigned, entry.id)
    if assigned is None:
        yield subject.finding(f"value {entry.id} `{entry.key}` lies in no allocation", "VALUE_ID")
    elif assigned.record.key != entry.key:
        yield subject.finding(
            f"value {entry.id} is `{entry.key}` here and `{assigned.record.key}` in its allocation",
            "NAME",
            Related(field_place(assigned.file, assigned.record, "NAME"), "the other name"),
        )


def unused_assigned(subject: Subject[AssignedValue]) -> Iterator[Finding]:
    """Every value in an allocation has an entry under `Used values`."""
    value, context = subject.record, subject.context
    if not context.knows_entries:
        return
    if context.dump.find(lambda index: index.entries, value.id) is None:
        yield subject.finding(
            f"value {value.id} `{value.key}` has no entry under `Used values`", "VALUE_ID"
        )


def _unknown(subject: "Subject[RangeRow] | Subject[PeakRow]", key: str) -> Iterator[Finding]:
    context = subject.context
    if not (context.knows_assignment or context.knows_entries):
        return
    dump = context.dump
    if dump.find(lambda index: index.assigned_keys, key) is not None:
        return
    if dump.find(lambda index: index.entry_keys, key) is None:
        yield subject.finding(
            f"no value `{key}` is in any allocation or under `Used values`", "NAME"
        )
