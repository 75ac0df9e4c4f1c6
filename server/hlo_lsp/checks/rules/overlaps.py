"""Values that would overwrite each other."""

from collections.abc import Iterator

from hlo_lsp.analysis.assignment.extents import proven_size
from hlo_lsp.analysis.assignment.intruders import Intruder, intruders
from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.overlaps import Overlap, Tenant, overlaps
from hlo_lsp.analysis.assignment.placements import Assignment, Placement, assignment_of
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import Located
from hlo_lsp.text.steps import Steps

_MOST = 200  # overlaps of one allocation that are looked into
_STEP = 1000  # values between two breaths


def overlap(survey: Survey) -> Iterator[Finding | None]:
    """Two values that live at the same time share no bytes, unless they are in the same slot.

    Values in the same slot may be aliases, and a value may begin where another one ends.
    """
    assignment = yield from assignment_of(survey.dump)
    for placement in assignment.placements:
        if placement.allocation.thread_local or len(placement.values) < 2:
            continue
        if not placement.whole:
            continue  # some may be the values of another allocation
        tenants = yield from _tenants(survey.dump, placement)
        found: list[Overlap] = []
        for one in overlaps(tenants):
            if one is None:
                yield None
            elif _is_sound(survey, one.one) and _is_sound(survey, one.other):
                found.append(one)
                if len(found) == _MOST:
                    break
        if found:
            misfits = (yield from misfits_of(survey.dump)).values
            found = [one for one in found if misfits.isdisjoint((one.one.value, one.other.value))]
        for intruder in intruders(survey.dump, found, tenants):
            yield _accused(survey, assignment, placement, intruder)


def _tenants(dump: DumpSet, placement: Placement) -> Steps[list[Tenant]]:
    """The values of an allocation whose bytes and lives lie inside of what there is."""
    size, last = placement.allocation.size, dump.last_step
    lives = [file.memory.ranges for file in dump.files if len(file.memory.ranges)]
    found: list[Tenant] = []
    for count, value in enumerate(placement.values):
        if count % _STEP == _STEP - 1:
            yield
        if not value.size or value.offset + value.size > size:
            continue
        key = value.key
        rows = [row for ranges in lives for row in ranges.all(key)]
        if len(rows) == 1 and rows[0].start_step <= rows[0].end_step <= (last or 0):
            found.append(Tenant(value, rows[0]))
    return found


def _is_sound(survey: Survey, tenant: Tenant) -> bool:
    """Whether no other rule finds the size of a value wrong, or the start of its life."""
    size = proven_size(tenant.value, survey.context.target)
    if size is not None and size != tenant.value.size:
        return False
    step = survey.dump.step(tenant.value.name)
    if step is None or step.record.step == tenant.live.start_step:
        return True
    # A parameter of a computation lives from the start of the computation on.
    return step.record.step > tenant.live.start_step and _is_parameter(survey.dump, tenant)


def _is_parameter(dump: DumpSet, tenant: Tenant) -> bool:
    text = dump.text_of(tenant.value.name)
    return text is None or text.opcode.text == "parameter"


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
    in_file = Located(assignment.file, other.value)
    related = [Related(field_place(in_file.file, in_file.record, "OFFSET"), "the other value")]
    for one in (tenant, other):
        live = survey.dump.live(one.value.key)
        if live is not None:
            steps = f"{one.live.start_step} to {one.live.end_step}"
            related.append(
                Related(
                    field_place(live.file, live.record), f"`{one.value.key}` lives from {steps}"
                )
            )
    accused = survey.dump.live(tenant.value.key)
    if intruder.lives_too_long and accused is not None:
        return survey.finding(accused, "END", message, *related[:-2], *related[-1:])
    return survey.finding(Located(assignment.file, tenant.value), "OFFSET", message, *related)


_READS = frozenset({Part.ALLOCATIONS, Part.RANGES, Part.ENTRIES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (WholeRule("overlap", Severity.ERROR, overlap, _READS),)
