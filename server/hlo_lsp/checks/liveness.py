"""Live ranges and the values that they name."""

from collections.abc import Iterator

from hlo_lsp.checks.case import Case
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow
from hlo_lsp.syntax.used_value import UsedValue


def live_range_bounds(case: Case[RangeRow]) -> Iterator[Finding]:
    """A live range begins before it ends and lies inside the schedule: 0 <= start <= end <= max.

    Both ends are inclusive; an end equal to `max` means "to the end of the program".
    """
    row = case.record
    if row.start_step > row.end_step:
        yield case.finding(
            f"the range starts at step {row.start_step}, after its end at step {row.end_step}",
            "START",
        )
    schedule = case.context.schedule
    if schedule is not None and row.end_step > schedule.record.max:
        last = schedule.record.max
        yield case.finding(
            f"the range ends at step {row.end_step}, but the schedule ends at {last}",
            "END",
            Related(
                field_place(schedule.file, schedule.record, "MAX"), f"the schedule ends at {last}"
            ),
        )


def unknown_in_range(case: Case[RangeRow]) -> Iterator[Finding]:
    """A live range names a value of the dump."""
    yield from _unknown(case, case.record.key)


def unknown_in_peak(case: Case[PeakRow]) -> Iterator[Finding]:
    """A row at the peak names a value of the dump."""
    if case.record.key is not None:
        yield from _unknown(case, case.record.key)


def unassigned_entry(case: Case[UsedValue]) -> Iterator[Finding]:
    """Every used value lies in an allocation: the entry and the allocation name the same value."""
    entry, context = case.record, case.context
    if entry.id is None or not context.knows_assignment:
        return
    assigned = context.dump.find(lambda index: index.assigned, entry.id)
    if assigned is None and not context.misses_assigned:
        yield case.finding(f"value {entry.id} `{entry.key}` lies in no allocation", "VALUE_ID")
    elif assigned is not None and assigned.record.key != entry.key:
        yield case.finding(
            f"value {entry.id} is `{entry.key}` here and `{assigned.record.key}` in its allocation",
            "NAME",
            Related(field_place(assigned.file, assigned.record, "NAME"), "the other name"),
        )


def unused_assigned(case: Case[AssignedValue]) -> Iterator[Finding]:
    """Every value in an allocation has an entry under `Used values`."""
    value, context = case.record, case.context
    if not context.knows_entries or context.misses_entries:
        return
    if context.dump.find(lambda index: index.entries, value.id) is None:
        yield case.finding(
            f"value {value.id} `{value.key}` has no entry under `Used values`", "VALUE_ID"
        )


def _unknown(case: "Case[RangeRow] | Case[PeakRow]", key: str) -> Iterator[Finding]:
    context = case.context
    if not (context.knows_assignment or context.knows_entries):
        return
    if context.misses_assigned or context.misses_entries:
        return
    dump = context.dump
    if dump.find(lambda index: index.assigned_keys, key) is not None:
        return
    if dump.find(lambda index: index.entry_keys, key) is None:
        yield case.finding(f"no value `{key}` is in any allocation or under `Used values`", "NAME")


RULES: tuple[AnyRule, ...] = (
    error("undefined-value", RangeRow, unknown_in_range),
    error("undefined-value", PeakRow, unknown_in_peak),
    error("undefined-value", UsedValue, unassigned_entry),
    error("undefined-value", AssignedValue, unused_assigned),
    error("live-range-bounds", RangeRow, live_range_bounds),
)
