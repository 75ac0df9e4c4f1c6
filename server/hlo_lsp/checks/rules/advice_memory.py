"""Advice on what takes memory: padding, gaps, constants, long lives."""

from collections.abc import Iterator

from hlo_lsp.analysis.assignment.occupancy import occupancy_of
from hlo_lsp.analysis.live.lifetimes import longest
from hlo_lsp.analysis.shapes.padding import Padded, padded_arrays
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.bytesize import readable, short
from hlo_lsp.model.place import Place

# On TPU the other spaces lie on the chip: how they are filled costs nobody anything.
_MAIN = {0, 5}


def padding_waste(survey: Survey) -> Iterator[Finding | None]:
    """On TPU the last dimensions of an array are rounded up to the tile of its layout."""
    limits = survey.context.thresholds
    found = yield from padded_arrays(
        survey.dump, survey.context.target, limits.padding_ratio, limits.padding_bytes
    )
    for group in found:
        yield _padding(survey, group)


def _padding(survey: Survey, group: Padded) -> Finding:
    size, record = group.padded.bytes, group.value.record
    why = "; ".join(map(str, group.padded.padding))
    more = ""
    if group.places > 1:
        more = (
            f"; {group.values:,} values have it, {short(group.wasted)} of padding in "
            f"{group.places:,} places"
        )
    return survey.finding(
        group.value,
        "SHAPE",
        f"`{record.key}` takes {readable(size)} for {readable(group.logical)} of elements, "
        f"{size / group.logical:.3g} times as much: {why}{more}. Let a larger dimension come last "
        "in the layout, or merge small ones",
    )


def fragmentation(survey: Survey) -> Iterator[Finding | None]:
    """A temp allocation is larger than what is ever live in it: the rest lies in gaps."""
    dump, limits = survey.dump, survey.context.thresholds
    for allocation in dump.allocations():
        record = allocation.record
        if not record.preallocated_temp or record.size < limits.fragmentation_bytes:
            continue
        if survey.context.target.backend is Backend.TPU and record.color not in _MAIN:
            continue
        found = yield from occupancy_of(dump, allocation)
        if found is None or found.idle <= limits.fragmentation_bytes:
            continue
        if found.idle > limits.fragmentation_ratio * found.end:
            yield survey.finding(
                allocation,
                "SIZE",
                f"at most {readable(found.live)} of the {readable(found.end)} in allocation "
                f"{record.number} are live at once, at step {found.step:,}: "
                f"{readable(found.idle)}, {found.idle / found.end:.0%} of it, lie in gaps between "
                "values. Shorten the lives of large values, or split them, so that they pack "
                "better",
            )


def large_constant(survey: Survey) -> Iterator[Finding | None]:
    """A constant is part of the program and takes memory for as long as that is loaded."""
    dump, least = survey.dump, survey.context.thresholds.constant_bytes
    found = [
        allocation
        for allocation in dump.allocations()
        if allocation.record.constant and allocation.record.size >= least
    ]
    if not found:
        return
    found.sort(key=lambda allocation: -allocation.record.size)
    first, total = found[0], sum(allocation.record.size for allocation in found)
    value = next(iter(dump.assigned_to(first)), None)
    name = "a constant" if value is None else f"`{value.name}`"
    what = f"{name} takes {readable(first.record.size)} as a constant of the program"
    if len(found) > 1:
        what = (
            f"{len(found):,} constants take {readable(total)} in the program, the largest "
            f"is {name} with {readable(first.record.size)}"
        )
    yield survey.finding(
        first,
        "SIZE",
        f"{what}. Pass arrays as arguments instead of closing over them",
        *(
            Related(field_place(one.file, one.record, "SIZE"), readable(one.record.size))
            for one in found[1:4]
        ),
    )


def long_lived(survey: Survey) -> Iterator[Finding | None]:
    """What is large and lives long is what fills the memory at every peak."""
    dump, limits = survey.dump, survey.context.thresholds
    last = dump.last_step
    found = yield from longest(dump, limits.long_lived_count, limits.long_lived_bytes)
    for one in found:
        row = one.live.record
        running = dump.at_step(row.end_step)
        until = "the end" if running is None else f"`{running.record.name}`"
        kept = f"keeps {readable(one.value.size)}"
        of = "" if last is None else f" of {last:,}"
        text = dump.text_of(row.name)
        copied = ""
        if text is not None and text.opcode.text == "copy-start" and text.operands:
            copied = f", a copy of `{text.operands[0].text}`,"
        yield survey.finding(
            one.live,
            "END",
            f"`{row.key}`{copied} {kept} for {one.steps:,}{of} steps, until {until}. Compute it "
            "again nearer to its last use (`jax.checkpoint`), or use it earlier",
            Related(_assigned_place(survey, one.value.id), "it lies here"),
        )


def _assigned_place(survey: Survey, value_id: int) -> Place:
    found = survey.dump.find(lambda index: index.assigned, value_id)
    assert found is not None  # it comes from there
    return field_place(found.file, found.record, "SIZE")


_PLACED = frozenset({Part.ALLOCATIONS})
_LIVING = frozenset({Part.ALLOCATIONS, Part.RANGES})

RULES: tuple[AnyRule, ...] = (
    WholeRule("padding-waste", Severity.INFORMATION, padding_waste, _PLACED),
    WholeRule("fragmentation", Severity.INFORMATION, fragmentation, _LIVING),
    WholeRule("large-constant", Severity.INFORMATION, large_constant, _PLACED),
    WholeRule("long-lived", Severity.HINT, long_lived, _LIVING),
)
