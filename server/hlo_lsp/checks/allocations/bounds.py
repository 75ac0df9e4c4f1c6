"""The list of allocations: it is numbered, and each value is in it once."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from hlo_lsp.checks.case import CompileCheck, field_place
from hlo_lsp.checks.finding import Edit, Finding, Fix, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.model.buffer_assignment import (
    AllocationBlock,
    BufferAssignment,
    buffer_assignment,
    misses_used_values,
)
from hlo_lsp.model.display import format_bytes_as_xla
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, TotalLine
from hlo_lsp.text.checkpoint import checkpoint


def duplicate_allocation(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations with the number of an earlier one (``BufferAssignment::ToString``)."""
    assignment = buffer_assignment(survey.dump)
    first: dict[int, AllocationLine] = {}
    for block in assignment.blocks:
        head = block.allocation
        other = first.setdefault(head.number, head)
        if other is not head:
            yield survey.finding(
                LocatedRecord(assignment.file, head),
                "ALLOCATION",
                f"allocation {head.number} is already on line "
                f"{LocatedRecord(assignment.file, other).number}.",
                Related(field_place(assignment.file, other, "ALLOCATION"), "the same number"),
            )


def allocation_numbering(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations that are not numbered 0, 1, 2 ... in the order of the file.

    After a gap, the numbers are expected to continue from its end.
    """
    if survey.dump.has_broken_assigned_values:
        return
    assignment = buffer_assignment(survey.dump)
    heads = [block.allocation for block in assignment.blocks]
    numbers = {head.number for head in heads}
    expected = 0
    previous = "is the first"
    for head, following in zip_longest(heads, heads[1:]):
        if head.number != expected:
            finding = survey.finding(
                LocatedRecord(assignment.file, head),
                "ALLOCATION",
                f"allocation {head.number} {previous}: expected allocation {expected}.",
            )
            is_gap = following is None or following.number == head.number + 1
            if expected not in numbers and (not is_gap or following is None):
                finding = finding.put(str(expected))
            yield finding
            expected = head.number if is_gap else expected
        expected += 1
        previous = f"follows allocation {head.number}"


def value_in_two_allocations(survey: CompileCheck) -> Iterator[Finding]:
    """Report values that an earlier allocation holds already."""
    assignment = buffer_assignment(survey.dump)
    counts = Counter(value.id for block in assignment.blocks for value in block.values)
    repeated = {value_id for value_id, count in counts.items() if count > 1}
    first: dict[tuple[int, str], tuple[AssignedValue, AllocationLine]] = {}
    for block in assignment.blocks if repeated else ():
        for value in block.values:
            if value.id not in repeated:
                continue
            other, home = first.setdefault((value.id, value.key), (value, block.allocation))
            if home.number != block.allocation.number:
                yield survey.finding(
                    LocatedRecord(assignment.file, value),
                    "VALUE_ID",
                    f"value {value.id} `{value.key}` is in allocation {home.number} and in "
                    f"allocation {block.allocation.number}.",
                    Related(field_place(assignment.file, other, "VALUE_ID"), "the same value"),
                )


_MAX_RELATED = 3
_VALUES_PER_CHECKPOINT = 2000


@dataclass(frozen=True, slots=True)
class _Total:
    """The total of all allocations, in bytes, where it is printed and none is missing."""

    line: LocatedRecord[TotalLine]
    sum: int

    @property
    def missing(self) -> int:
        """Return the bytes by which the sum of all sizes is below the total."""
        return self.line.record.total - self.sum


def nonzero_offset(survey: CompileCheck) -> Iterator[Finding]:
    """Report a value with an offset in an allocation that is not a preallocated temp.

    Several such values contradict the flags of the allocation: see ``flag-contradiction``.
    """
    assignment = buffer_assignment(survey.dump)
    for block in _whole_blocks(assignment):
        if block.allocation.preallocated_temp:
            continue
        odd = [value for value in block.values if value.offset]
        if len(odd) == 1:
            yield survey.finding(
                LocatedRecord(assignment.file, odd[0]),
                "OFFSET",
                f"offset {odd[0].offset:,} in allocation {block.allocation.number}: expected 0, "
                "as the allocation is not preallocated-temp.",
                _related_size(assignment.file, block.allocation),
            )


def out_of_bounds(survey: CompileCheck) -> Iterator[Finding]:
    """Report values that extend past the end of their allocations.

    Where the total shows that the allocation is too small, ``allocation-too-small`` is reported.
    """
    assignment, total = buffer_assignment(survey.dump), _total(survey.dump)
    for block in _whole_blocks(assignment):
        allocation = block.allocation
        outside = _outside(block)
        if not outside or _is_too_small(outside, total):
            continue
        for value in outside:
            yield survey.finding(
                LocatedRecord(assignment.file, value),
                "OFFSET",
                f"the value ends at byte {value.offset + value.size:,} (offset {value.offset:,} + "
                f"size {value.size:,}), past the end of allocation {allocation.number} with "
                f"{allocation.size:,} B.",
                _related_size(assignment.file, allocation),
            )


def allocation_too_small(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations that end before the last of their values."""
    assignment, total = buffer_assignment(survey.dump), _total(survey.dump)
    for block in _whole_blocks(assignment):
        outside = _outside(block)
        if not outside or not _is_too_small(outside, total):
            continue
        finding = _of_size(survey, assignment.file, block, outside)
        if not block.allocation.preallocated_temp or _is_explained(block, total):
            finding = finding.put(str(block.end))
        yield finding


def allocation_slack(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations that are larger than their values need.

    Preallocated temps may be larger: these are reported where the total shows that they are not.
    """
    assignment, total = buffer_assignment(survey.dump), _total(survey.dump)
    misses_values = misses_used_values(survey.dump)
    for block in _whole_blocks(assignment):
        allocation, end = block.allocation, block.end
        if end >= allocation.size:
            continue
        if _is_explained(block, total) or not (allocation.preallocated_temp or misses_values):
            last = [value for value in block.values if value.offset + value.size == end]
            finding = _of_size(survey, assignment.file, block, last)
            yield finding.put(str(end)) if last else finding


def total_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report a total that is not the sum of all sizes (``BufferAssignment::ToString``).

    All memory spaces and thread-local allocations count.
    """
    assignment, total = buffer_assignment(survey.dump), _total(survey.dump)
    if total is None or not total.missing:
        return
    label = total.line
    first = assignment.blocks[0].allocation
    finding = survey.finding(
        label,
        "TOTAL",
        f"total is {label.record.total:,} B, but the {len(assignment.blocks):,} allocations add up "
        f"to {total.sum:,} B ({total.missing:+,} B).",
        Related(field_place(assignment.file, first), f"the allocations add up to {total.sum:,} B"),
    )
    number = Edit.put(finding.place, str(total.sum))
    human = Edit.put(field_place(label.file, label.record, "HUMAN"), format_bytes_as_xla(total.sum))
    yield finding.fixed(Fix(f"Change to `{number.text} ({human.text})`", (number, human)))


def _total(dump: DumpSet) -> _Total | None:
    assignment = buffer_assignment(dump)
    if not assignment.blocks or not assignment.is_complete:
        return None
    for file in dump.files:
        label = file.memory.label(TotalLine)
        if label is not None and file.kind is not FileKind.REPORT:  # reports repeat it
            sizes = sum(block.allocation.size for block in assignment.blocks)
            return _Total(LocatedRecord(file, label), sizes)
    return None


def _whole_blocks(assignment: BufferAssignment) -> Iterator[AllocationBlock]:
    count = 0
    for block in assignment.blocks:
        count += len(block.values) + 1
        if count >= _VALUES_PER_CHECKPOINT:
            count = 0
            checkpoint()
        if block.is_whole:
            yield block


def _outside(block: AllocationBlock) -> list[AssignedValue]:
    size = block.allocation.size
    return [value for value in block.values if value.offset + value.size > size]


def _is_too_small(outside: list[AssignedValue], total: _Total | None) -> bool:
    """Return whether the size of the allocation contradicts more than one value."""
    return len(outside) > 1 if total is None else total.missing > 0


def _is_explained(block: AllocationBlock, total: _Total | None) -> bool:
    """Return whether all sizes add up to the total once the allocation ends with its values."""
    return total is not None and block.end - block.allocation.size == total.missing


def _of_size(
    survey: CompileCheck, file: DumpFile, block: AllocationBlock, values: list[AssignedValue]
) -> Finding:
    allocation = block.allocation
    need = f"its values need {block.end:,} B" if block.values else "it has no values"
    return survey.finding(
        LocatedRecord(file, allocation),
        "SIZE",
        f"allocation {allocation.number} has {allocation.size:,} B, but {need}.",
        *(
            Related(
                field_place(file, value, "SIZE"),
                f"`{value.key}` ends at byte {value.offset + value.size:,}",
            )
            for value in values[:_MAX_RELATED]
        ),
    )


def _related_size(file: DumpFile, allocation: AllocationLine) -> Related:
    place = field_place(file, allocation, "SIZE")
    return Related(place, f"allocation {allocation.number} ends at byte {allocation.size:,}")


RULES: tuple[AnyRule, ...] = (
    WholeRule("duplicate-allocation", Severity.ERROR, duplicate_allocation),
    WholeRule("allocation-numbering", Severity.ERROR, allocation_numbering),
    WholeRule("value-in-two-allocations", Severity.ERROR, value_in_two_allocations),
    WholeRule("nonzero-offset", Severity.ERROR, nonzero_offset),
    WholeRule("out-of-bounds", Severity.ERROR, out_of_bounds),
    WholeRule("allocation-too-small", Severity.ERROR, allocation_too_small),
    WholeRule("allocation-slack", Severity.ERROR, allocation_slack),
    WholeRule("total-mismatch", Severity.ERROR, total_mismatch),
)
