"""The peak: the moment that XLA declares, what lives then, and where the most lives really."""

from collections.abc import Iterator

from hlo_lsp.analysis.live.live_section import LiveSection, live_section
from hlo_lsp.analysis.live.lives import learn_lives, lives
from hlo_lsp.analysis.live.peak import peak
from hlo_lsp.analysis.live.peak_list import Flaw, PeakFlaw
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.memory.memory_spaces import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.bytesize import format_bytes
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import PeakRow
from hlo_lsp.syntax.records import Record

_MOST = 5  # findings of one kind
_MIN_EXCESS_BYTES = 1 << 20  # of the occupied peak over the declared step
_MIN_EXCESS_RATIO = 0.05


def peak_moment(survey: Survey) -> Iterator[Finding]:
    """The declared peak is the first step at which XLA counts most bytes.

    XLA counts each value with the shape of its whole instruction, so each element of a tuple with
    8 bytes for every element, and until one step behind its end.
    """
    dump = learn_lives(survey.dump)
    found, section = peak(dump), live_section(dump)
    if found is None or section is None or section.moment is None or found.moment is None:
        return
    printed = section.moment.moment
    message = (
        f"the peak is said to be at step {printed}, where XLA counts {found.printed_weight:,} B; "
        f"it counts most at step {found.moment}, {found.weight:,} B"
    )
    if found.printed_weight == found.weight:
        message = (
            f"the peak is said to be at step {printed}; XLA takes the first step at which it "
            f"counts most, and counts the same {found.weight:,} B at step {found.moment} already"
        )
    yield survey.accuse(field_place(section.file, section.moment, "MOMENT"), message).put(
        str(found.moment)
    )


def peak_list(survey: Survey) -> Iterator[Finding]:
    """The list at the peak has the values that are live then, sorted by size, name, and index.

    Up to jaxlib 0.6.0 and libtpu 0.0.15, the list has no cumulative sizes and the order of the
    value ids.
    """
    dump = learn_lives(survey.dump)
    found, section = peak(dump), live_section(dump)
    if found is None or section is None or section.moment is None:
        return
    if found.is_foreign:
        yield survey.accuse(
            field_place(section.file, section.moment),
            f"{len(found.flaws):,} times this list differs from what lives at step {found.at}",
        )
        return
    flaws = [flaw for flaw in found.flaws if flaw.flaw not in {Flaw.BYTES, Flaw.CUMULATIVE}]
    for flaw in flaws[:_MOST]:
        yield _list_flaw(survey, dump, flaw)


def _list_flaw(survey: Survey, dump: DumpSet, flaw: PeakFlaw) -> Finding:
    section, found = live_section(dump), peak(dump)
    assert section is not None
    assert section.moment is not None
    assert found is not None
    if flaw.flaw is Flaw.RANGE:
        return _range_flaw(survey, dump, flaw)
    rows, file, at = section.peak, section.file, found.at
    if flaw.flaw is Flaw.MISSING:
        last: Record = rows[-1] if rows else section.moment
        row, where = last, "at the end of the list"
        if flaw.row < len(rows):
            row, where = rows[flaw.row], "in front of this row"
        more = f" and {len(flaw.keys) - 1:,} more" if len(flaw.keys) > 1 else ""
        message = f"`{flaw.keys[0]}`{more} {'live' if more else 'lives'} at step {at}"
        missing = "are missing" if more else "is missing"
        return survey.accuse(field_place(file, row), f"{message} and {missing} {where}")
    peak_row = rows[flaw.row]
    name = peak_row.key or peak_row.name
    due = f"; `{flaw.keys[0]}` is due here" if flaw.keys else ""
    other = None if flaw.other is None else rows[flaw.other]
    related = [] if other is None else [Related(field_place(file, other), "the other row")]
    if flaw.flaw is Flaw.ORDER:
        by = "the value ids" if peak_row.cumulative is None else "bytes, name and index"
        message = f"`{name}` stands in the wrong place: the list goes by {by}"
        if other is not None:
            message = f"`{name}` and `{other.key or other.name}` have changed places"
        return survey.accuse(field_place(file, peak_row), message, *related)
    message = {
        Flaw.UNKNOWN: f"no value `{name}` is in any allocation or under `Used values`{due}",
        Flaw.DOUBLED: f"`{name}` stands in this list twice{due}",
        Flaw.EXTRA: f"`{name}` does not live at step {at}{due}",
    }[flaw.flaw]
    live = dump.live(name) if flaw.flaw is Flaw.EXTRA else None
    if live is not None:
        related = [Related(field_place(live.file, live.record), "its live range")]
    return survey.accuse(field_place(file, peak_row, "NAME"), message, *related)


def _range_flaw(survey: Survey, dump: DumpSet, flaw: PeakFlaw) -> Finding:
    """The running sums show that the list is as it was printed: the live range is not."""
    section, found, all_lives = live_section(dump), peak(dump), lives(dump)
    assert section is not None
    assert section.moment is not None
    assert found is not None
    assert all_lives is not None
    key, file = flaw.keys[0], section.file
    live = all_lives.by_key[key]
    role = "START" if found.at < live.start else "END"
    message = f"`{key}` lives from step {live.start} to {live.end}"
    if live.at(found.at):
        message += f", but is not in the list at the peak, step {found.at}"
        other = Related(field_place(file, section.moment), "the list at the peak")
    else:
        message += f", but is in the list at the peak, step {found.at}"
        row = section.peak[flaw.row]
        other = Related(field_place(file, row), "the running sums need this row")
    return survey.accuse(field_place(file, live.row, role), message, other)


def peak_bytes(survey: Survey) -> Iterator[Finding]:
    """The bytes of a row are those of the value's shape, without padding.

    Up to jax 0.5.3 they are those of the whole instruction: a tuple's table of pointers.
    """
    dump = learn_lives(survey.dump)
    for section, row, flaw in _numbers(dump, Flaw.BYTES):
        yield survey.accuse(
            field_place(section.file, row, "BYTES"),
            f"`{row.key or row.name}` takes {flaw.right:,} B without padding, not {row.bytes:,} B",
        ).put(str(flaw.right))


def peak_cumulative(survey: Survey) -> Iterator[Finding]:
    """The running sum of a row is that of the row above and its own bytes."""
    dump = learn_lives(survey.dump)
    for section, row, flaw in _numbers(dump, Flaw.CUMULATIVE):
        yield survey.accuse(
            field_place(section.file, row, "CUMULATIVE"),
            f"the rows up to here add up to {flaw.right:,} B, not {row.cumulative or 0:,} B",
        ).put(str(flaw.right))


def _numbers(dump: DumpSet, kind: Flaw) -> Iterator[tuple[LiveSection, PeakRow, PeakFlaw]]:
    found, section = peak(dump), live_section(dump)
    if found is None or section is None or found.is_foreign:
        return
    flaws = [flaw for flaw in found.flaws if flaw.flaw is kind]
    for flaw in flaws[:_MOST]:
        yield section, section.peak[flaw.row], flaw


def peak_understated(survey: Survey) -> Iterator[Finding]:
    """Report that more bytes are occupied at another step than at the declared peak.

    XLA weighs values by the shapes of whole instructions when it looks for the peak, and counts
    shared bytes once for each value (hlo_live_range.cc, ``ComputePeakMemoryMoment``).
    """
    dump = learn_lives(survey.dump)
    section, all_lives, found = live_section(dump), lives(dump), peak(dump)
    if section is None or section.moment is None or found is None:
        return
    if all_lives is None or not all_lives.are_sure or found.flaws or found.moment is not None:
        return
    declared_step, backend = section.moment.moment, survey.context.target.backend
    spaces = memory_space_occupancies(dump)
    occupancy = largest_off_chip_space(spaces, backend)
    if occupancy is None:
        return
    most, here = occupancy.peak_bytes, occupancy.bytes_at(declared_step)
    if most - here < max(_MIN_EXCESS_BYTES, _MIN_EXCESS_RATIO * here):
        return
    listed = sum(row.bytes for row in section.peak)
    yield survey.accuse(
        field_place(section.file, section.moment, "MOMENT"),
        f"{format_bytes(most)} are occupied in {space_title(occupancy.space, backend)} at step "
        f"{occupancy.peak_step:,}, but only {format_bytes(here)} at step {declared_step:,}, which XLA "
        f"declares the peak. XLA's list of that peak adds up to {format_bytes(listed)}.",
        *_at_step(dump, occupancy.peak_step),
    )


def _at_step(dump: DumpSet, step: int) -> list[Related]:
    row = dump.at_step(step)
    if row is None:
        return []
    return [Related(field_place(row.file, row.record), "the step with most occupied bytes")]


_FILES = frozenset({Part.RANGES, Part.VALUES, Part.ENTRIES, Part.MODULE})
# Whether a shape is damaged, and not the moment, is told by the sizes.
_WITH_SIZES = _FILES | {Part.ALLOCATIONS}
RULES: tuple[AnyRule, ...] = (
    WholeRule("peak-moment", Severity.ERROR, peak_moment, _WITH_SIZES),
    WholeRule("peak-list", Severity.ERROR, peak_list, _FILES),
    WholeRule("peak-bytes", Severity.ERROR, peak_bytes, _FILES),
    WholeRule("peak-cumulative", Severity.ERROR, peak_cumulative, _FILES),
    WholeRule("peak-understated", Severity.INFORMATION, peak_understated, _WITH_SIZES),
)
