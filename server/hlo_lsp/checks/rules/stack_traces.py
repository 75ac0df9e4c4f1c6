"""The tree of call stacks at the peak: its sums, its percentages, its order."""

from collections.abc import Iterator

from hlo_lsp.analysis.live.live_section import LiveSection, live_section
from hlo_lsp.analysis.live.live_section import Part as Section
from hlo_lsp.analysis.live.stack_tree import Slip, StackSlip, percent, slips_of, spaced, true_total
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.syntax.memory_records import BreakdownRow

_MOST = 5  # findings of one kind
_FIELDS = {Slip.TOTAL: "TOTAL", Slip.CURRENT: "CURRENT", Slip.REMAINING: "REMAINING"}


def stack_total(survey: Survey) -> Iterator[Finding]:
    """A node's total is what belongs to it and to the nodes below; the root has all of the peak.

    `remaining` is what is left for the nodes that stand behind it, 0 at the end.
    """
    section = live_section(survey.dump)
    if section is None or not section.is_whole(Section.STACKS):
        return
    total = true_total(section)
    label = section.labels[Section.STACKS]
    if section.breakdown_total != total:
        yield survey.accuse(
            field_place(section.file, label, "TOTAL"),
            f"{section.breakdown_total or 0:,} B are broken down, but {total:,} B live at the peak",
            Related(field_place(section.file, section.stacks[0], "TOTAL"), f"{total:,} B"),
        ).put(spaced(total))
    slips = [slip for slip in slips_of(survey.dump) if slip.slip is not Slip.ORDER]
    for slip in slips[:_MOST]:
        yield _slip(survey, section, slip)


def _slip(survey: Survey, section: LiveSection, slip: StackSlip) -> Finding:
    rows, file = section.stacks, section.file
    row = rows[min(slip.row, len(rows) - 1)]
    if slip.slip is Slip.MISSING:
        where = "in front of this one" if slip.row < len(rows) else "at the end"
        message = f"rows of {slip.right:,} B are missing {where}"
        return survey.accuse(field_place(file, row), message)
    if slip.slip is Slip.EXTRA:
        twin = rows[slip.other or 0]
        message = f"`{row.title}` stands here twice"
        return survey.accuse(
            field_place(file, row), message, Related(field_place(file, twin), "it")
        )
    message = {
        Slip.TOTAL: f"here and below are {slip.right:,} B, not {row.total:,} B",
        Slip.CURRENT: f"the total and the rows below leave {slip.right:,} B here, not "
        f"{row.current:,} B",
        Slip.REMAINING: f"{slip.right:,} B remain behind this row, not {row.remaining:,} B",
    }[slip.slip]
    return survey.accuse(field_place(file, row, _FIELDS[slip.slip]), message).put(
        spaced(slip.right)
    )


def stack_percent(survey: Survey) -> Iterator[Finding]:
    """The percentage of a node is its total by that of the root, with one decimal."""
    section = live_section(survey.dump)
    if section is None or not section.stacks or Section.STACKS not in section.labels:
        return
    total = true_total(section)
    wrong = {slip.row: slip for slip in slips_of(survey.dump) if slip.slip is Slip.TOTAL}
    told = 0
    for place, row in enumerate(section.stacks):
        bytes_ = wrong[place].right if place in wrong else row.total
        right, printed = percent(bytes_, total), section.text_of(row, "PERCENT")
        if right is not None and printed != right and told < _MOST:
            told += 1
            yield survey.accuse(
                field_place(section.file, row, "PERCENT"),
                f"{bytes_:,} B are {right}% of {total:,} B, not {printed}%",
            ).put(right)


def stack_order(survey: Survey) -> Iterator[Finding]:
    """The nodes below one stand by total, the largest first, then by name."""
    section = live_section(survey.dump)
    if section is None or not section.is_whole(Section.STACKS):
        return
    slips = [slip for slip in slips_of(survey.dump) if slip.slip is Slip.ORDER]
    for slip in slips[:_MOST]:
        row = section.stacks[slip.row]
        message, related = _order(section, row, slip)
        yield survey.accuse(field_place(section.file, row), message, *related)


def _order(section: LiveSection, row: BreakdownRow, slip: StackSlip) -> tuple[str, list[Related]]:
    if slip.other is None:
        return f"`{row.title}` does not stand where its total and its name belong", []
    other = section.stacks[slip.other]
    place = Related(field_place(section.file, other), f"`{other.title}`")
    return f"`{row.title}` and `{other.title}` have changed places", [place]


RULES: tuple[AnyRule, ...] = tuple(
    WholeRule(code, Severity.ERROR, check, frozenset({Part.RANGES}))
    for code, check in (
        ("stack-total", stack_total),
        ("stack-percent", stack_percent),
        ("stack-order", stack_order),
    )
)
