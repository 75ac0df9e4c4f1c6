"""Values that would overwrite each other."""

from collections.abc import Iterator

from hlo_lsp.analysis.assignment.intruders import Intruder
from hlo_lsp.analysis.assignment.overlap_faults import overlap_faults
from hlo_lsp.analysis.assignment.overlaps import Tenant
from hlo_lsp.analysis.assignment.placements import Assignment, Placement, assignment_of
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.value import LocatedRecord


def overlap(survey: Survey) -> Iterator[Finding]:
    """Two values that live at the same time share no bytes, unless they are in the same slot.

    Values in the same slot may be aliases, and a value may begin where another one ends.
    """
    assignment = assignment_of(survey.dump)
    for fault in overlap_faults(survey.dump):
        yield _accused(survey, assignment, fault.placement, fault.intruder)


def _accused(
    survey: Survey, assignment: Assignment, placement: Placement, intruder: Intruder
) -> Finding:
    first, tenant = intruder.overlaps[0], intruder.tenant
    other = first.other if first.one is tenant else first.one
    start, end = first.bytes
    since, until = first.steps
    more = len(intruder.overlaps) - 1
    message = (
        f"`{tenant.value.key}` and `{other.value.key}` both take bytes {start:,} to {end:,} of "
        f"allocation {placement.allocation.number}, and both live from step {since} to {until}"
    )
    if more:
        message += f"; it overlaps with {more} more"
    place = field_place(assignment.file, other.value, "OFFSET")
    related = [Related(place, "the other value")]
    accused = survey.dump.live(tenant.value.key)
    if intruder.lives_too_long and accused is not None:
        return survey.finding(accused, "END", message, *related, *_life(survey, other))
    related += [*_life(survey, tenant), *_life(survey, other)]
    return survey.finding(LocatedRecord(assignment.file, tenant.value), "OFFSET", message, *related)


def _life(survey: Survey, tenant: Tenant) -> Iterator[Related]:
    live = survey.dump.live(tenant.value.key)
    if live is not None:
        steps = f"{tenant.live.start_step} to {tenant.live.end_step}"
        told = f"`{tenant.value.key}` lives from {steps}"
        yield Related(field_place(live.file, live.record), told)


RULES: tuple[AnyRule, ...] = (WholeRule("overlap", Severity.ERROR, overlap, frozenset(Part)),)
