"""That the flags of an allocation agree with each other and with its values."""

from collections.abc import Iterator

from hlo_lsp.analysis.origins import Origins
from hlo_lsp.analysis.placements import Placement, assignment_of
from hlo_lsp.analysis.roles import Contradiction, contradictions, roles_of
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.tokens import fields

_STEP = 500  # values between two breaths


def flag_contradiction(survey: Survey) -> Iterator[Finding | None]:
    """An allocation is a parameter's or an output's, a constant's, thread-local or temporary.

    Its values are of the kind that it says: constants lie alone in theirs, values of computations
    that are applied element by element in thread-local ones, what the program returns in those
    that are maybe-live-out.
    """
    assignment = yield from assignment_of(survey.dump)
    origins = Origins(survey.dump)
    count = 0
    for placement in assignment.placements:
        count += len(placement.values) + 1
        if count >= _STEP:
            count = 0
            yield None
        for found in contradictions(placement, origins):
            if found is None:
                yield None
            elif roles_of(placement.allocation) or not _has_unknown_flag(
                assignment.file, placement
            ):
                yield _told(survey, assignment.file, placement, found)


def _told(survey: Survey, file: DumpFile, placement: Placement, found: Contradiction) -> Finding:
    allocation = placement.allocation
    flags = " and ".join(role.value for role in roles_of(allocation))
    if found.value is not None:
        return survey.finding(
            Located(file, found.value),
            "VALUE_ID",
            f"{found.why}, but allocation {allocation.number} is {flags}",
        )
    if found.flag is None:
        where, what = "ALLOCATION", f"allocation {allocation.number}"
        return survey.finding(Located(file, allocation), where, f"{what}: {found.why}")
    return survey.finding(
        Located(file, allocation),
        found.flag.name,
        f"allocation {allocation.number} is {found.flag.value}, but {found.why}",
    )


def _has_unknown_flag(file: DumpFile, placement: Placement) -> bool:
    """Whether the allocation has no flag but one that only a later compiler prints."""
    if roles_of(placement.allocation):
        return False
    line = file.lines[placement.allocation.line]
    return any(field.role == "OTHER_FIELD" for field in fields(placement.allocation.rule, line))


_READS = frozenset({Part.ALLOCATIONS, Part.ENTRIES, Part.RANGES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule("flag-contradiction", Severity.ERROR, flag_contradiction, _READS),
)
