"""That the flags of an allocation agree with each other and with its values."""

from collections.abc import Iterator

from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.placements import Placement, assignment_of
from hlo_lsp.analysis.assignment.roles import Contradiction, roles_of
from hlo_lsp.analysis.assignment.strays import Stray
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.line_fields import fields_of_line


def flag_contradiction(survey: Survey) -> Iterator[Finding]:
    """An allocation is a parameter's or an output's, a constant's, thread-local or temporary.

    Its values are of the kind that it says: constants lie alone in theirs, values of computations
    that are applied element by element in thread-local ones, what the program returns in those
    that are maybe-live-out.
    """
    assignment = assignment_of(survey.dump)
    misfits = misfits_of(survey.dump)
    for stray in assignment.strays:
        yield _astray(survey, assignment.file, stray)
    for placement, found in misfits.found:
        if not _has_unknown_flag(assignment.file, placement):
            yield _told(survey, assignment.file, placement, found)


def _astray(survey: Survey, file: DumpFile, stray: Stray) -> Finding:
    message = (
        f"`{stray.value.key}` does not belong into allocation {stray.place.number}: "
        + ", ".join(stray.signs)
    )
    related = []
    if stray.home is not None:
        message += f"; allocation {stray.home.number} is empty, and would fit"
        place = field_place(file, stray.home, "ALLOCATION")
        related = [Related(place, "this allocation has no value")]
    return survey.finding(LocatedRecord(file, stray.value), "VALUE_ID", message, *related)


def _told(survey: Survey, file: DumpFile, placement: Placement, found: Contradiction) -> Finding:
    allocation = placement.allocation
    flags = " and ".join(role.value for role in roles_of(allocation))
    if found.is_value and found.about is not None:
        value = found.about
        return survey.finding(
            LocatedRecord(file, value),
            "VALUE_ID",
            f"`{value.key}` {found.trait}, but lies in allocation {allocation.number}, which is "
            f"{flags}",
        )
    if found.flag is None:
        where, what = "ALLOCATION", f"allocation {allocation.number}"
        return survey.finding(LocatedRecord(file, allocation), where, f"{what}: {found.why}")
    return survey.finding(
        LocatedRecord(file, allocation),
        found.flag.name,
        f"allocation {allocation.number} is {found.flag.value}, but {found.why}",
    )


def _has_unknown_flag(file: DumpFile, placement: Placement) -> bool:
    """Whether the allocation has no flag but one that only a later compiler prints."""
    if roles_of(placement.allocation):
        return False
    line = file.lines[placement.allocation.line]
    return any(
        field.role == "OTHER_FIELD" for field in fields_of_line(placement.allocation.rule, line)
    )


_READS = frozenset({Part.ALLOCATIONS, Part.ENTRIES, Part.RANGES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule("flag-contradiction", Severity.ERROR, flag_contradiction, _READS),
)
