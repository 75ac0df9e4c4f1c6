"""The numbers of allocations, places of values in them, their sizes, and the total of all sizes."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Edit, Finding, Fix, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.model.buffer_assignment import (
    AllocationBlock,
    buffer_assignment,
    misses_used_values,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord, field_place
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, TotalLine
from hlo_lsp.text.amounts import format_bytes_as_xla

_MAX_RELATED = 3


def duplicate_allocation(context: CompileContext) -> Iterator[Finding]:
    """Report allocations with the number of an earlier one (``BufferAssignment::ToString``)."""
    file, blocks = buffer_assignment(context.dump)
    first: dict[int, AllocationLine] = {}
    for block in blocks:
        head = block.allocation
        other = first.setdefault(head.number, head)
        if other is not head:
            line = LocatedRecord(file, other).number
            message = f"allocation {head.number} is already on line {line}"
            related = Related(field_place(file, other, "ALLOCATION"), "the same number")
            yield context.report(field_place(file, head, "ALLOCATION"), message, related)


def allocation_numbering(context: CompileContext) -> Iterator[Finding]:
    """Report allocations that are not numbered 0, 1, 2 ... in the order of the file."""
    if context.dump.has_broken_assigned_values:
        return
    file, blocks = buffer_assignment(context.dump)
    heads = [block.allocation for block in blocks]
    numbers = {head.number for head in heads}
    expected = 0
    previous = "is the first"
    for head, following in zip_longest(heads, heads[1:]):
        if head.number != expected:
            message = f"allocation {head.number} {previous}: expected allocation {expected}"
            finding = context.report(field_place(file, head, "ALLOCATION"), message)
            is_gap = following is None or following.number == head.number + 1
            is_sure = expected not in numbers and (not is_gap or following is None)
            yield finding.put(str(expected)) if is_sure else finding
            expected = head.number if is_gap else expected
        expected += 1
        previous = f"follows allocation {head.number}"


def value_in_two_allocations(context: CompileContext) -> Iterator[Finding]:
    """Report values that an earlier allocation holds already."""
    file, blocks = buffer_assignment(context.dump)
    repeated = set(file.memory.assigned.repeated)
    first: dict[tuple[int, str], tuple[AssignedValue, AllocationLine]] = {}
    for head, value in (
        (block.allocation, value)
        for block in (blocks if repeated else ())
        for value in block.values
        if value.id in repeated
    ):
        other, home = first.setdefault((value.id, value.key), (value, head))
        if home.number != head.number:
            message = f"value {value.id} `{value.key}` is in allocation {home.number} and in "
            message += f"allocation {head.number}"
            related = Related(field_place(file, other, "VALUE_ID"), "the same value")
            yield context.report(field_place(file, value, "VALUE_ID"), message, related)


def nonzero_offset(context: CompileContext) -> Iterator[Finding]:
    """Report a value with an offset in an allocation that is not a preallocated temp."""
    file, blocks = buffer_assignment(context.dump)
    for block in filter(_is_whole, blocks):
        if block.allocation.preallocated_temp:
            continue
        odd = [value for value in block.values if value.offset]
        if len(odd) == 1:
            message = f"offset {odd[0].offset:,} in allocation {block.allocation.number}: "
            message += "expected 0, as the allocation is not preallocated-temp"
            related = _related_size(file, block.allocation)
            yield context.report(field_place(file, odd[0], "OFFSET"), message, related)


def out_of_bounds(context: CompileContext) -> Iterator[Finding]:
    """Report values that extend past the end of their allocations."""
    (file, blocks), total = buffer_assignment(context.dump), _total(context.dump)
    for block in filter(_is_whole, blocks):
        allocation, outside = block.allocation, _outside(block)
        for value in () if _is_too_small(outside, total) else outside:
            yield context.report(
                field_place(file, value, "OFFSET"),
                f"the value ends at byte {value.offset + value.size:,} (offset {value.offset:,} + "
                f"size {value.size:,}), past the end of allocation {allocation.number} with "
                f"{allocation.size:,} B",
                _related_size(file, allocation),
            )


def allocation_too_small(context: CompileContext) -> Iterator[Finding]:
    """Report allocations that end before the last of their values."""
    (file, blocks), total = buffer_assignment(context.dump), _total(context.dump)
    for block in filter(_is_whole, blocks):
        outside = _outside(block)
        if outside and _is_too_small(outside, total):
            finding = _of_size(context, file, block, outside)
            is_sure = not block.allocation.preallocated_temp or _is_explained(block, total)
            yield finding.put(str(block.end)) if is_sure else finding


def allocation_slack(context: CompileContext) -> Iterator[Finding]:
    """Report allocations that are larger than their values need."""
    (file, blocks), total = buffer_assignment(context.dump), _total(context.dump)
    misses_values = misses_used_values(context.dump)
    for block in filter(_is_whole, blocks):
        allocation, end = block.allocation, block.end
        may_be_larger = allocation.preallocated_temp or misses_values
        if end < allocation.size and (_is_explained(block, total) or not may_be_larger):
            last = [value for value in block.values if value.offset + value.size == end]
            finding = _of_size(context, file, block, last)
            yield finding.put(str(end)) if last else finding


def total_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report a total that is not the sum of all sizes (``BufferAssignment::ToString``)."""
    (file, blocks), total = buffer_assignment(context.dump), _total(context.dump)
    if total is None or not total.missing:
        return
    label, right = total.line, total.line.record.total - total.missing
    place = field_place(file, blocks[0].allocation)
    finding = context.report(
        label.place("TOTAL"),
        f"total is {label.record.total:,} B, but the {len(blocks):,} allocations add up to "
        f"{right:,} B ({total.missing:+,} B)",
        Related(place, f"the allocations add up to {right:,} B"),
    )
    number = Edit.put(finding.place, str(right))
    human = Edit.put(label.place("HUMAN"), format_bytes_as_xla(right))
    yield finding.fixed(Fix(f"Change to `{number.text} ({human.text})`", (number, human)))


@dataclass(frozen=True, slots=True)
class _Total:
    """The line of the total, and the bytes by which the sum of all sizes is below it."""

    line: LocatedRecord[TotalLine]
    missing: int


def _total(dump: Compile) -> _Total | None:
    """Return the total of all allocations where it is printed and none of them is missing."""
    assignment = buffer_assignment(dump)
    if not assignment.blocks or not assignment.is_complete:
        return None
    for file in dump.files:
        label = file.memory.label(TotalLine)
        if label is not None and file.kind is not FileKind.REPORT:  # reports repeat it
            sizes = sum(block.allocation.size for block in assignment.blocks)
            return _Total(LocatedRecord(file, label), label.total - sizes)
    return None


def _is_whole(block: AllocationBlock) -> bool:
    checkpoint()
    return block.is_whole


def _outside(block: AllocationBlock) -> list[AssignedValue]:
    size = block.allocation.size
    if block.end <= size:
        return []
    return [value for value in block.values if value.offset + value.size > size]


def _is_too_small(outside: list[AssignedValue], total: _Total | None) -> bool:
    """Return whether the size of the allocation contradicts more than one value."""
    return len(outside) > 1 if total is None else total.missing > 0


def _is_explained(block: AllocationBlock, total: _Total | None) -> bool:
    """Return whether all sizes add up to the total once the allocation ends with its values."""
    return total is not None and block.end - block.allocation.size == total.missing


def _of_size(
    context: CompileContext, file: DumpFile, block: AllocationBlock, values: list[AssignedValue]
) -> Finding:
    allocation = block.allocation
    need = f"its values need {block.end:,} B" if block.values else "it has no values"
    message = f"allocation {allocation.number} has {allocation.size:,} B, but {need}"
    related = [
        Related(
            field_place(file, one, "SIZE"), f"`{one.key}` ends at byte {one.offset + one.size:,}"
        )
        for one in values[:_MAX_RELATED]
    ]
    return context.report(field_place(file, allocation, "SIZE"), message, *related)


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
