"""Allocations of the parameters and of the output of the program."""

from collections.abc import Iterator

from hlo_lsp.analysis.assignment.interface import (
    Misstatement,
    claimed_twice,
    misstated_outputs,
    misstated_parameter,
    unclaimed,
)
from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.origins import Origins, origins_of
from hlo_lsp.analysis.assignment.placements import Assignment, assignment_of
from hlo_lsp.analysis.files.siblings import kin
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place, shape_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 200  # allocations between two breaths


def parameter_mismatch(survey: Survey) -> Iterator[Finding]:
    """An allocation that names a parameter holds that part of it, in the shape that it names.

    Every part of every parameter of the program has one allocation.
    """
    assignment = assignment_of(survey.dump)
    origins = origins_of(kin(survey.dump, assignment.file))
    wrong: set[AllocationLine] = set()
    for count, placement in enumerate(assignment.placements):
        if count % _STEP == _STEP - 1:
            checkpoint()
        found = misstated_parameter(placement, origins)
        if found is not None:
            wrong.add(found.allocation)
            yield _of_parameter(survey, assignment, found)
    for second, first in claimed_twice(assignment):
        if first not in wrong and second not in wrong and not _in_doubt(assignment, second, first):
            yield survey.finding(
                LocatedRecord(assignment.file, second),
                "PARAMETER",
                f"parameter {second.parameter} at ShapeIndex {second.parameter_index} has "
                f"allocation {first.number} already",
                Related(field_place(assignment.file, first, "PARAMETER"), "the other allocation"),
            )
    if not wrong and assignment.placements and assignment.complete:
        yield from _without_allocation(survey, assignment, origins)


def output_mismatch(survey: Survey) -> Iterator[Finding]:
    """One allocation says that it holds the output, with the shape of all that is returned."""
    assignment = assignment_of(survey.dump)
    kindred = kin(survey.dump, assignment.file)
    misstated = misstated_outputs(assignment, origins_of(kindred))
    misfits = (misfits_of(survey.dump)) if misstated else None
    for found in misstated:
        if misfits is not None and misfits.has_filled(found.allocation):
            continue  # the output was moved
        allocation = found.allocation
        said = f"allocation {allocation.number}"
        if found.field == "OUTPUT_SHAPE":
            said += f" says that the output is {allocation.output_shape}, but {found.why}"
        else:
            said += f": {found.why}"
        yield survey.finding(LocatedRecord(assignment.file, allocation), found.field, said)


def _of_parameter(survey: Survey, assignment: Assignment, found: Misstatement) -> Finding:
    allocation = found.allocation
    said = {
        "PARAMETER": f"parameter {allocation.parameter}",
        "PARAMETER_INDEX": f"ShapeIndex {allocation.parameter_index}",
        "PARAMETER_SHAPE": f"shape {allocation.parameter_shape}",
    }[found.field]
    return survey.finding(
        LocatedRecord(assignment.file, allocation),
        found.field,
        f"allocation {allocation.number} is said to hold {said}, but {found.why}",
    )


def _in_doubt(assignment: Assignment, *allocations: AllocationLine) -> bool:
    """Whether one of the allocations is accused of more than of what it says of a parameter."""
    strangers = {assignment.placements[at].allocation for at in assignment.numbering.strangers}
    return any(one in strangers for one in allocations)


def _without_allocation(
    survey: Survey, assignment: Assignment, origins: Origins
) -> Iterator[Finding]:
    """Parts of parameters that lie nowhere; a value that lies elsewhere is told of there."""
    dump = survey.dump
    for number, index in unclaimed(assignment, origins):
        line = (origins.parameters or {})[number]
        if dump.value_of_key(line.name + index) is not None:
            continue
        file = next(file for file in dump.files if line in file.module.instructions.all(line.name))
        yield survey.accuse(
            shape_place(file, line), f"no allocation holds parameter {number} at ShapeIndex {index}"
        )


_READS = frozenset(Part) - {Part.REPORT}
RULES: tuple[AnyRule, ...] = (
    WholeRule("parameter-mismatch", Severity.ERROR, parameter_mismatch, _READS),
    WholeRule("output-mismatch", Severity.ERROR, output_mismatch, _READS),
)
