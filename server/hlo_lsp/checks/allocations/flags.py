"""The flags of an allocation against each other and against its values."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.checks.allocations.origins import Origins, ValueKind, origins_of
from hlo_lsp.checks.case import CompileCheck
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.line_fields import fields_of_line
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.text.checkpoint import checkpoint

_VALUES_PER_CHECKPOINT = 500


class Flag(Enum):
    """A flag of an allocation: the name is its terminal in the grammar."""

    PARAMETER = "parameter"
    CONSTANT = "constant"
    THREAD_LOCAL = "thread-local"
    MAYBE_LIVE_OUT = "maybe-live-out"
    PREALLOCATED_TEMP = "preallocated-temp"


# The flags of the allocations that may hold a value of each kind. A value that is computed may
# take the allocation of a donated parameter.
_FITTING = {
    ValueKind.CONSTANT: {Flag.CONSTANT},
    ValueKind.THREAD_LOCAL: {Flag.THREAD_LOCAL},
    ValueKind.PARAMETER: {Flag.PARAMETER},
    ValueKind.SCHEDULED: {Flag.PARAMETER, Flag.MAYBE_LIVE_OUT, Flag.PREALLOCATED_TEMP},
}


@dataclass(frozen=True, slots=True)
class _Contradiction:
    """A flag that does not fit, None where one is missing, and a value that it does not fit."""

    flag: Flag | None
    reason: str
    value: AssignedValue | None = None
    # Whether no value explains the flag: such a value may have been moved elsewhere.
    is_absence: bool = False


def flag_contradiction(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations whose flags contradict each other or their values, once each.

    An allocation is that of a parameter or an output (or both), of a constant, thread-local, or a
    preallocated temp (``BufferAllocation::IsPreallocatedTempBuffer``).
    """
    assignment, origins = buffer_assignment(survey.dump), origins_of(survey.dump)
    found: list[tuple[AllocationBlock, _Contradiction]] = []
    count = 0
    for block in assignment.blocks:
        count += len(block.values) + 1
        if count >= _VALUES_PER_CHECKPOINT:
            count = 0
            checkpoint()
        if block.is_whole and not _has_unknown_flag(assignment.file, block.allocation):
            first = next(_contradictions(block, origins), None)
            if first is not None:
                found.append((block, first))
    is_present = any(not one.is_absence for _, one in found)
    for block, one in found:
        if not (is_present and one.is_absence):
            yield _finding(survey, assignment.file, block.allocation, one)


def _finding(
    survey: CompileCheck, file: DumpFile, allocation: AllocationLine, found: _Contradiction
) -> Finding:
    subject = f"allocation {allocation.number}"
    related = []
    if found.value is not None:
        place = field_place(file, found.value, "VALUE_ID")
        related = [Related(place, f"`{found.value.key}` is in {subject}")]
    role = "ALLOCATION" if found.flag is None else found.flag.name
    flag = "" if found.flag is None else f" is {found.flag.value}"
    message = f"{subject}{flag}, but {found.reason}." if flag else f"{subject} {found.reason}."
    return survey.finding(LocatedRecord(file, allocation), role, message, *related)


def _contradictions(block: AllocationBlock, origins: Origins) -> Iterator[_Contradiction]:
    allocation, values = block.allocation, block.values
    flags = _flags_of(allocation)
    if not flags:
        yield _Contradiction(None, "has no flag", values[0] if values else None)
        return
    if len(flags) > 1 and not set(flags) <= {Flag.PARAMETER, Flag.MAYBE_LIVE_OUT}:
        yield _Contradiction(flags[-1], f"also {flags[0].value}")
    fitting = (None, *(kind for kind in ValueKind if not _FITTING[kind].isdisjoint(flags)))
    for value in values:
        kind = origins.kind(value)
        if kind not in fitting and kind is not None:
            yield _Contradiction(flags[-1], f"`{value.key}` is {kind.value}", value)
    if allocation.constant and len(values) > 1:
        yield _Contradiction(Flag.CONSTANT, f"has {len(values)} values", values[-1])
    offsets = [value for value in values if value.offset]
    if len(offsets) > 1 and not allocation.preallocated_temp:
        reason = f"{len(offsets)} of its values have offsets, as in a preallocated-temp allocation"
        yield _Contradiction(flags[-1], reason, offsets[0])
    if values:
        yield from _at_the_border(block, flags, origins)


def _at_the_border(
    block: AllocationBlock, flags: list[Flag], origins: Origins
) -> Iterator[_Contradiction]:
    """Yield what contradicts the parameters and the result of the program."""
    if Flag.MAYBE_LIVE_OUT in flags:
        if all(origins.is_returned(value) is False for value in block.values):
            reason = "the program returns none of its values"
            yield _Contradiction(Flag.MAYBE_LIVE_OUT, reason, block.values[0], is_absence=True)
    else:
        ids = origins.returned or {}
        for value in block.values:
            if value.id in ids and origins.is_returned(value):
                reason = f"is not maybe-live-out, but the program returns `{value.key}`"
                yield _Contradiction(None, reason, value)
    if Flag.PARAMETER in flags:
        found = [origins.of(value) for value in block.values]
        if all(one and (one.parameter is None or one.is_in_entry is False) for one in found):
            reason = "none of its values is a parameter of the program"
            yield _Contradiction(Flag.PARAMETER, reason, block.values[0], is_absence=True)


def _flags_of(allocation: AllocationLine) -> list[Flag]:
    is_set = {
        Flag.PARAMETER: allocation.parameter is not None,
        Flag.CONSTANT: allocation.constant,
        Flag.THREAD_LOCAL: allocation.thread_local,
        Flag.MAYBE_LIVE_OUT: allocation.maybe_live_out,
        Flag.PREALLOCATED_TEMP: allocation.preallocated_temp,
    }
    return [flag for flag in Flag if is_set[flag]]


def _has_unknown_flag(file: DumpFile, allocation: AllocationLine) -> bool:
    """Return whether the only flag is one that a later compiler prints."""
    line = file.lines[allocation.line]
    return not _flags_of(allocation) and any(
        field.role == "OTHER_FIELD" for field in fields_of_line(allocation.rule, line)
    )


_READS = frozenset({Part.ALLOCATIONS, Part.ENTRIES, Part.RANGES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule("flag-contradiction", Severity.ERROR, flag_contradiction, _READS),
)
