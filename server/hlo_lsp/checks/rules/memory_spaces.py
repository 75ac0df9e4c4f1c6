"""That values, shapes and allocations name the same memory space."""

from collections.abc import Iterator

from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.placements import Placement, assignment_of
from hlo_lsp.analysis.assignment.spaces import Discord, Liar, discords, layout_space
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.line_fields import fields_of_line, memory_space_at
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # values between two breaths


def color_mismatch(survey: Survey) -> Iterator[Finding]:
    """`@N` of a value, `S(N)` of its layout and `color N` of its allocation are the same number.

    Where all that is missing is 0. A combined temporary allocation of XLA:GPU may have a color of
    its own.
    """
    dump = survey.dump
    assignment = assignment_of(dump)
    backend = survey.context.target.backend

    def header_color(value_id: int) -> int | None:
        entry = dump.find(lambda index: index.entries, value_id)
        return None if entry is None else entry.record.color

    count = 0
    for placement in assignment.placements:
        count += len(placement.values) + 1
        if count >= _STEP:
            count = 0
            checkpoint()
        for discord in discords(placement, backend, header_color):
            misfits = misfits_of(survey.dump)
            if discord.value not in misfits.values:
                yield _told(survey, assignment.file, placement, discord)


def _told(survey: Survey, file: DumpFile, placement: Placement, discord: Discord) -> Finding:
    allocation, value = placement.allocation, discord.value
    of_allocation = Related(
        _place(file, allocation, "COLOR", "ALLOCATION"),
        f"allocation {allocation.number} is in memory space {allocation.color}",
    )
    if discord.liar is Liar.ALLOCATION:
        return survey.accuse(
            of_allocation.place,
            f"allocation {allocation.number} has color {discord.said}, but its values are in "
            f"memory space {discord.right}",
            Related(field_place(file, value, "COLOR"), f"`{value.key}` is @{discord.right}"),
        )
    if discord.liar is Liar.SHAPE:
        return survey.accuse(
            _space_place(file, value),
            f"the layout puts `{value.key}` into memory space {discord.said}, but the value is "
            f"@{discord.right}",
            of_allocation,
        )
    if discord.right == allocation.color:
        because = f"its allocation {allocation.number} has color {discord.right}"
    elif layout_space(value) is None:
        because = f"values in allocation {allocation.number} are @{discord.right}"
    else:
        because = f"its layout says memory space {discord.right}"
    message = f"`{value.key}` is @{discord.said}, but {because}"
    return survey.finding(LocatedRecord(file, value), "COLOR", message, of_allocation)


def _place(file: DumpFile, record: AllocationLine, role: str, other: str) -> Place:
    """A field of an allocation, or another one where the first is not printed."""
    there = {field.role for field in fields_of_line(record.rule, file.lines[record.line])}
    return field_place(file, record, role if role in there else other)


def _space_place(file: DumpFile, value: AssignedValue) -> Place:
    """The ``S(N)`` of a shape, or all of the shape if it has none."""
    line = file.lines[value.line]
    shape = next(field for field in fields_of_line(value.rule, line) if field.role == "SHAPE")
    at = line.find("S(", shape.start)
    space = memory_space_at(shape, at) if at >= 0 else None
    found = shape if space is None else space[0]
    return Place(file, value.line, found.start, found.end)


_READS = frozenset(Part) - {Part.REPORT}
RULES: tuple[AnyRule, ...] = (WholeRule("color-mismatch", Severity.ERROR, color_mismatch, _READS),)
