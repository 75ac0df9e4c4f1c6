"""Live ranges: whose they are, in which order, from where to where."""

from collections.abc import Iterator

from hlo_lsp.analysis.live.live_rows import live_rows
from hlo_lsp.analysis.live.live_section import LiveSection, live_section
from hlo_lsp.analysis.live.live_section import Part as Section
from hlo_lsp.analysis.live.live_starts import LiveStarts
from hlo_lsp.analysis.live.lives import learn_lives, wrong_starts
from hlo_lsp.analysis.steps.printed_schedule import printed_schedule
from hlo_lsp.analysis.values.known_values import known_values, line_of
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.text.checkpoint import checkpoint

_MOST = 5  # findings of one kind: more are one damage to a part, not many to rows
_BREATH = 1000  # rows


def live_range_unknown(survey: Survey) -> Iterator[Finding]:
    """A live range is that of a value of the dump, and not of a thread-local one.

    Values of computations that are applied to elements (reductions, sorts) live in no schedule.
    """
    dump = learn_lives(survey.dump)
    section, rows = live_section(dump), live_rows(dump)
    if section is None or rows is None:
        return
    if rows.are_foreign:
        strangers, count = len(rows.strangers), len(section.ranges)
        message = f"{strangers:,} of {count:,} live ranges name no value: they are those of another"
        yield _at_label(survey, section, f"{message} compile")
        return
    for stranger in rows.strangers[:_MOST]:
        message = f"no value `{stranger.row.key}` is in any allocation or under `Used values`"
        related = []
        if stranger.instead is not None:
            message += f"; the live range of `{stranger.instead}` is due here"
            related = [*_value(dump, stranger.instead)]
        place = field_place(section.file, stranger.row, "NAME")
        yield survey.accuse(place, message, *related)
    for row in rows.local[:_MOST]:
        yield survey.accuse(
            field_place(section.file, row, "NAME"),
            f"`{row.key}` is thread-local: such a value has no live range",
        )


def live_range_missing(survey: Survey) -> Iterator[Finding]:
    """Each value of an instruction in the schedule has a live range."""
    dump = learn_lives(survey.dump)
    section, rows = live_section(dump), live_rows(dump)
    if section is None or rows is None or rows.are_foreign:
        return
    count = sum(len(gap.keys) for gap in rows.absent)
    if count > max(_MOST, len(section.ranges)):
        message = f"{count:,} values have no live range, and {len(section.ranges):,} have one"
        yield _at_label(survey, section, message)
        return
    values = known_values(dump).by_key
    for gap in rows.absent[:_MOST]:
        value = values[gap.keys[0]]
        more = f" and {len(gap.keys) - 1:,} more values" if len(gap.keys) > 1 else ""
        have = "have" if more else "has"
        message = f"value {value.id} `{gap.keys[0]}`{more} {have} no live range"
        last = section.ranges[-1] if section.ranges else section.labels[Section.RANGES]
        end = "behind the last row" if section.ranges else "below this line"
        where = end if gap.before is None else f"in front of `{gap.before.key}`"
        yield survey.accuse(
            field_place(section.file, gap.before or last),
            f"{message}: it is due {where}",
            *_value(dump, gap.keys[0]),
        )


def live_range_order(survey: Survey) -> Iterator[Finding]:
    """Live ranges stand in the order of the ids of their values, each once."""
    dump = learn_lives(survey.dump)
    section, rows = live_section(dump), live_rows(dump)
    if section is None or rows is None or rows.are_foreign:
        return
    for doubled in rows.doubled[:_MOST]:
        row, twin, due = doubled.row, doubled.twin, doubled.instead
        yield survey.accuse(
            field_place(section.file, row),
            f"`{row.key}` has two live ranges" + (f"; that of `{due}` is due here" if due else ""),
            *([] if twin is None else [Related(field_place(section.file, twin), "the other one")]),
        )
    values = known_values(dump).by_key
    for found in rows.misplaced[:_MOST]:
        row = rows.known[found.at]
        id_ = values[row.key].id
        related = []
        if found.swapped_with is not None:
            other = rows.known[found.swapped_with]
            message = (
                f"value {id_} `{row.key}` and value {values[other.key].id} `{other.key}` have "
                "changed places: live ranges stand by the ids of their values"
            )
            related = [Related(field_place(section.file, other), f"`{other.key}`")]
        else:
            where = "at the end"
            if found.fits_before is not None:
                before = rows.known[found.fits_before]
                where = f"in front of value {values[before.key].id} `{before.key}`"
            message = f"value {id_} `{row.key}` is due {where}: live ranges stand by ids"
        yield survey.accuse(field_place(section.file, row), message, *related)


def live_range_bounds(survey: Survey) -> Iterator[Finding]:
    """A live range begins before it ends and lies inside the schedule: 0 <= start <= end <= max.

    Both ends are inclusive; an end equal to `max` means "to the end of the program".
    """
    dump = learn_lives(survey.dump)
    section, schedule = live_section(dump), printed_schedule(dump)
    if section is None:
        return
    last = None if schedule is None else schedule.last
    outside = [row for row in section.ranges if last is not None and row.end_step > last]
    if len(outside) > max(_MOST, len(section.ranges) // 2):
        message = f"{len(outside):,} live ranges end behind the end of the schedule, step {last}"
        yield _at_label(survey, section, message)
        return
    starts = LiveStarts(dump)
    head = section.head
    for count, row in enumerate(section.ranges):
        if count % _BREATH == _BREATH - 1:
            checkpoint()
        if last is not None and row.end_step > last:
            related = []
            if head is not None:
                place = field_place(section.file, head, "MAX")
                related = [Related(place, f"the schedule ends at {last}")]
            message = f"the range ends at step {row.end_step}, but the schedule ends at {last}"
            yield survey.accuse(field_place(section.file, row, "END"), message, *related)
        elif row.start_step > row.end_step:
            yield survey.accuse(
                field_place(section.file, row, "END" if starts.confirms(row) else "START"),
                f"the range starts at step {row.start_step}, after its end at step {row.end_step}",
            )


def live_range_start(survey: Survey) -> Iterator[Finding]:
    """A value lives from the step of the instruction that defines it.

    On TPU, what async work computes lives from the step behind its computation. Parameters are a
    matter of `live-range-parameter`.
    """
    yield from _starts(survey, of_parameters=False)


def live_range_parameter(survey: Survey) -> Iterator[Finding]:
    """A parameter lives from the beginning of its computation, wherever it stands in it.

    A parameter of the program whose buffer no output takes over lives to the end, 0 to `max`.
    """
    yield from _starts(survey, of_parameters=True)
    dump = learn_lives(survey.dump)
    section, rows = live_section(dump), live_rows(dump)
    schedule = printed_schedule(dump)
    if section is None or rows is None or schedule is None:
        return
    values, last = known_values(dump).by_key, schedule.last
    starts = LiveStarts(dump)
    wrong = [
        row
        for row in rows.known
        if row.start_step <= row.end_step < last and starts.lives_to_the_end(values[row.key])
    ]
    for row in wrong[:_MOST]:
        yield survey.accuse(
            field_place(section.file, row, "END"),
            f"the range of a parameter that is not overwritten ends at step {row.end_step}, not at "
            f"{last}",
            *_value(dump, row.key, "nothing else is in its allocation"),
        ).put(str(last))


def _starts(survey: Survey, *, of_parameters: bool) -> Iterator[Finding]:
    dump = learn_lives(survey.dump)
    section, rows = live_section(dump), live_rows(dump)
    if section is None or (rows is not None and rows.are_foreign):
        return
    wrong = [
        (row, start)
        for row, start in wrong_starts(dump).items()
        if start.is_parameter is of_parameters and row.start_step <= row.end_step
    ]
    if len(wrong) > max(_MOST, len(section.ranges) // 2):
        message = f"{len(wrong):,} of {len(section.ranges):,} live ranges begin at a wrong step"
        yield _at_label(survey, section, message)
        return
    for row, start in wrong:
        yield survey.accuse(
            field_place(section.file, row, "START"),
            f"the range starts at step {row.start_step}, not at {start.step}: {start.because}",
        ).put(str(start.step))


def _value(dump: DumpSet, key: str, message: str = "the value") -> list[Related]:
    found = line_of(dump, key)
    return [] if found is None else [Related(field_place(found.file, found.record), message)]


def _at_label(survey: Survey, section: LiveSection, message: str) -> Finding:
    label = section.labels.get(Section.RANGES)
    return survey.accuse(field_place(section.file, label or section.ranges[0]), message)


_FILES = frozenset({Part.RANGES, Part.VALUES, Part.ENTRIES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule("live-range-unknown", Severity.ERROR, live_range_unknown, _FILES),
    WholeRule("live-range-missing", Severity.ERROR, live_range_missing, _FILES),
    WholeRule("live-range-order", Severity.ERROR, live_range_order, _FILES),
    WholeRule("live-range-bounds", Severity.ERROR, live_range_bounds, _FILES),
    WholeRule("live-range-start", Severity.ERROR, live_range_start, _FILES),
    WholeRule("live-range-parameter", Severity.ERROR, live_range_parameter, _FILES),
)
