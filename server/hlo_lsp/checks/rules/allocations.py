"""The list of allocations: its numbers, and that each value is in it once and at its place."""

from collections.abc import Iterator, Sequence

from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.placements import Assignment, assignment_of
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.fix import Fix
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AllocationLine


def duplicate_allocation(survey: Survey) -> Iterator[Finding]:
    """No two allocations have the same number; the one is accused that is out of line."""
    assignment = assignment_of(survey.dump)
    known = _in_line(assignment)
    for head in _strangers(assignment):
        twin = known.get(head.number)
        if twin is not None:
            other = LocatedRecord(assignment.file, twin)
            yield survey.finding(
                LocatedRecord(assignment.file, head),
                "ALLOCATION",
                f"there is an allocation {head.number} on line {other.number}, too",
                Related(field_place(other.file, twin, "ALLOCATION"), "the other one"),
            )


def allocation_numbering(survey: Survey) -> Iterator[Finding]:
    """Allocations are numbered 0, 1, 2 ... in the order in which they are printed."""
    assignment = assignment_of(survey.dump)
    known = _in_line(assignment)
    numbers = assignment.numbering
    heads = [placement.allocation for placement in assignment.placements]
    for place in numbers.strangers:
        head = heads[place]
        if head.number in known:
            continue  # a duplicate
        ahead = f"follows allocation {heads[place - 1].number}" if place else "is the first"
        message = f"allocation {head.number} {ahead}"
        related = []
        if numbers.exchanged is not None:
            other = heads[numbers.exchanged]
            message += f": it changed places with allocation {other.number}"
            related = [Related(field_place(assignment.file, other, "ALLOCATION"), "the other one")]
        finding = survey.finding(
            LocatedRecord(assignment.file, head), "ALLOCATION", message, *related
        )
        due = _due(heads, place)
        yield finding if due is None else finding.put(str(due))
    for gap in numbers.gaps:
        head = heads[gap.place]
        ahead = f"follows allocation {gap.first - 1}" if gap.first else "is the first"
        missing = (
            f"allocation {gap.first} is missing"
            if gap.first == gap.last
            else f"allocations {gap.first} to {gap.last} are missing"
        )
        yield survey.finding(
            LocatedRecord(assignment.file, head),
            "ALLOCATION",
            f"allocation {head.number} {ahead}: {missing}",
        )


def _due(heads: Sequence[AllocationLine], place: int) -> int | None:
    """The number between those of both neighbours, if there is one that nobody else has."""
    due = heads[place - 1].number + 1 if place else 0
    is_last = place + 1 == len(heads)
    fits = is_last or heads[place + 1].number == due + 1
    return due if fits and all(head.number != due for head in heads) else None


def value_in_two_allocations(survey: Survey) -> Iterator[Finding]:
    """A value lies in one allocation; the place is accused that it fits less."""
    assignment = assignment_of(survey.dump)
    for copy in assignment.copies:
        yield survey.finding(
            LocatedRecord(assignment.file, copy.copy),
            "VALUE_ID",
            f"value {copy.copy.id} `{copy.copy.key}` lies in allocation {copy.place.number} and in "
            f"allocation {copy.home.number}",
            Related(field_place(assignment.file, copy.original, "VALUE_ID"), "the same value"),
        ).fixed(Fix.drop(assignment.file, copy.copy.line, copy.copy.line_count))


def nonzero_offset(survey: Survey) -> Iterator[Finding]:
    """Values begin where their allocation does, unless it is a temporary one."""
    assignment = assignment_of(survey.dump)
    for placement in assignment.placements:
        if placement.packs or not placement.whole:
            continue
        odd = [value for value in placement.values if value.offset]
        if not odd:
            continue
        misfits = misfits_of(survey.dump)
        allocation = placement.allocation
        if allocation in misfits.allocations:
            continue  # it may be a temporary one
        for value in odd:
            if value not in misfits.values:
                yield survey.finding(
                    LocatedRecord(assignment.file, value),
                    "OFFSET",
                    f"the offset is {value.offset:,} B in allocation {allocation.number}; only "
                    "values in preallocated-temp allocations have one other than 0",
                )


def _in_line(assignment: Assignment) -> dict[int, AllocationLine]:
    """The allocations whose numbers are right, by number."""
    strangers = set(assignment.numbering.strangers)
    return {
        placement.allocation.number: placement.allocation
        for place, placement in enumerate(assignment.placements)
        if place not in strangers
    }


def _strangers(assignment: Assignment) -> Iterator[AllocationLine]:
    for place in assignment.numbering.strangers:
        yield assignment.placements[place].allocation


_READS = frozenset({Part.ALLOCATIONS})
RULES: tuple[AnyRule, ...] = (
    WholeRule("duplicate-allocation", Severity.ERROR, duplicate_allocation, _READS),
    WholeRule("allocation-numbering", Severity.ERROR, allocation_numbering, _READS),
    WholeRule("value-in-two-allocations", Severity.ERROR, value_in_two_allocations, _READS),
    WholeRule("nonzero-offset", Severity.ERROR, nonzero_offset, frozenset(Part) - {Part.REPORT}),
)
