"""Live ranges and the values that they name."""

from collections.abc import Iterator

from hlo_lsp.checks.case import Case
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.syntax.memory_records import PeakRow, RangeRow


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
    error("live-range-bounds", RangeRow, live_range_bounds),
)
