"""The list of allocations: it is numbered, and each value is in it once."""

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from hlo_lsp.checks.case import CompileCheck
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.buffer_assignment import buffer_assignment
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue


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
    if survey.context.misses_assigned:
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


_READS = frozenset({Part.ALLOCATIONS})
RULES: tuple[AnyRule, ...] = (
    WholeRule("duplicate-allocation", Severity.ERROR, duplicate_allocation, _READS),
    WholeRule("allocation-numbering", Severity.ERROR, allocation_numbering, _READS),
    WholeRule("value-in-two-allocations", Severity.ERROR, value_in_two_allocations, _READS),
)
