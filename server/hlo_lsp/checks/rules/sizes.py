"""Sizes, offsets and sums."""

from collections.abc import Iterator

from hlo_lsp.analysis.assignment.extents import Extent, Fault, extents_of, total_line
from hlo_lsp.analysis.assignment.misfits import misfits_of
from hlo_lsp.analysis.assignment.own_size import wrong_size
from hlo_lsp.analysis.assignment.placements import Assignment, assignment_of
from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.analysis.values.headers import disagreements
from hlo_lsp.checks.case import Case, Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.fix import Edit, Fix
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Pace, Part, WholeRule, error
from hlo_lsp.model.bytesize import format_bytes, format_bytes_as_xla
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue, TotalLine

_TOLD = 3  # values that a finding about an allocation names


def size_mismatch(case: Case[AssignedValue]) -> Iterator[Finding]:
    """The size of a value follows from its shape and layout.

    Tiled arrays (TPU) are padded dimension by dimension to their tiles; CPU and GPU do not pad.
    Tuples are tables of pointers: 8 bytes an element on CPU and GPU; on TPU 4 bytes, rounded up to
    a granule that is the same in all of a dump. Held on each of 35 000 values of real dumps.
    Example: `f32[16,64]{1,0:T(8,128)}` takes 16 x 128 x 4 = 8192 bytes.
    """
    value = case.record
    padded = wrong_size(value, case.context.target)
    if padded is None:
        return
    causes = "".join(f"; {cause}" for cause in padded.padding)
    finding = case.finding(
        f"size is {value.size:,} B, but the shape takes {padded.bytes:,} B: {padded.rule}{causes}",
        "SIZE",
        Related(case.place("SHAPE"), f"this shape takes {format_bytes(padded.bytes)}"),
    )
    yield finding.put(str(padded.bytes)) if padded.exact else finding


def out_of_bounds(survey: Survey) -> Iterator[Finding]:
    """A value lies inside its allocation: offset + size never exceeds the allocation's size.

    Not told where the size of the value contradicts its shape, or that of the allocation the rest.
    """
    file, extents = _faulty(survey, Fault.OUTSIDE)
    if not extents:
        return
    misfits = misfits_of(survey.dump)
    outside = [(one, value) for one in extents for value in one.outside]
    for extent, value in outside:
        allocation = extent.placement.allocation
        if value not in misfits.values:
            yield survey.finding(
                LocatedRecord(file, value),
                "OFFSET",
                f"the value ends at byte {value.offset + value.size:,} (offset {value.offset:,} + "
                f"size {value.size:,}), but allocation {allocation.number} has only "
                f"{allocation.size:,} B",
                Related(
                    field_place(file, allocation, "SIZE"),
                    f"allocation {allocation.number} ends at {allocation.size:,}",
                ),
            )


def allocation_too_small(survey: Survey) -> Iterator[Finding]:
    """An allocation reaches to the end of the last of its values."""
    file, extents = _faulty(survey, Fault.TOO_SMALL)
    for extent in extents:
        allocation = extent.placement.allocation
        yield survey.finding(
            LocatedRecord(file, allocation),
            "SIZE",
            f"allocation {allocation.number} has {allocation.size:,} B, but its values need "
            f"{extent.needed:,} B",
            *(
                Related(
                    field_place(file, value, "SIZE"),
                    f"`{value.key}` ends at byte {value.offset + value.size:,}",
                )
                for value in extent.outside[:_TOLD]
            ),
        ).put(str(extent.needed), is_sure=not extent.placement.packs)


def allocation_slack(survey: Survey) -> Iterator[Finding]:
    """An allocation ends with the last of its values.

    Only temporary ones may be larger; they are told where the total says that they are not.
    """
    file, extents = _faulty(survey, Fault.SLACK)
    for extent in extents:
        allocation = extent.placement.allocation
        if not extent.placement.values:
            misfits = misfits_of(survey.dump)
            if misfits.has_filled(allocation):
                continue
        need = f"its values need only {extent.needed:,} B"
        finding = survey.finding(
            LocatedRecord(file, allocation),
            "SIZE",
            f"allocation {allocation.number} has {allocation.size:,} B, but "
            + (need if extent.placement.values else "there is no value in it"),
        )
        yield finding.put(str(extent.needed)) if extent.placement.values else finding


def total_mismatch(survey: Survey) -> Iterator[Finding]:
    """`Total bytes used` is the sum of the sizes of all allocations.

    All memory spaces and thread-local allocations count. Not told where an allocation whose size
    is wrong, or one that is missing, explains it.
    """
    dump = survey.dump
    assignment = assignment_of(dump)
    extents = extents_of(dump)
    label = total_line(dump)
    if label is None or not assignment.placements:
        return
    if not extents.excess or extents.explain_excess:
        return
    if survey.context.misses_assigned or (_is_cut_off(survey, assignment, label)):
        return
    first = assignment.placements[0].allocation
    finding = survey.finding(
        label,
        "TOTAL",
        f"the total is given as {label.record.total:,} B, but the "
        f"{len(assignment.placements):,} allocations add up to {extents.sum:,} B "
        f"({-extents.excess:+,} B)",
        Related(
            field_place(assignment.file, first), f"the allocations add up to {extents.sum:,} B"
        ),
    )
    total = Edit.put(finding.place, str(extents.sum))
    human = Edit.put(
        field_place(label.file, label.record, "HUMAN"), format_bytes_as_xla(extents.sum)
    )
    yield finding.fixed(Fix(f"Put `{total.text} ({human.text})`", (total, human)))


def _is_cut_off(survey: Survey, assignment: Assignment, label: LocatedRecord[TotalLine]) -> bool:
    """Whether allocations are missing at the end of a file that does not have the total."""
    file = assignment.file
    if label.file is file:
        return False
    headers = disagreements(survey.dump)
    return ending(file) is not None or any(short.file is file for short in headers.short)


def _faulty(survey: Survey, fault: Fault) -> "tuple[DumpFile, list[Extent]]":
    assignment = assignment_of(survey.dump)
    extents = extents_of(survey.dump)
    return assignment.file, [extent for extent in extents.faulty if extent.fault is fault]


_READS = frozenset({Part.ALLOCATIONS, Part.ENTRIES})
_READS_ALL = frozenset(Part) - {Part.REPORT}
RULES: tuple[AnyRule, ...] = (
    error("size-mismatch", AssignedValue, size_mismatch, pace=Pace.LINE),
    WholeRule("out-of-bounds", Severity.ERROR, out_of_bounds, _READS_ALL),
    WholeRule("allocation-too-small", Severity.ERROR, allocation_too_small, _READS),
    WholeRule("allocation-slack", Severity.ERROR, allocation_slack, _READS_ALL),
    WholeRule("total-mismatch", Severity.ERROR, total_mismatch, frozenset(Part)),
)
