"""What an allocation is for: by what it says, and by the values in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.assignment.origins import Kind, Origins
from hlo_lsp.analysis.assignment.placements import Placement
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.text.checkpoint import checkpoint


class Role(Enum):
    """A flag of an allocation, by the name of its terminal in the grammar."""

    PARAMETER = "parameter"
    CONSTANT = "constant"
    THREAD_LOCAL = "thread-local"
    MAYBE_LIVE_OUT = "maybe-live-out"
    PREALLOCATED_TEMP = "preallocated-temp"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What is wrong with an allocation: ``why`` is a sentence.

    ``flag`` is one that is printed and should not be, or None where one is missing. ``about`` is
    the value that contradicts it, if there is one, and ``trait`` what it is. ``is_value`` says
    that this value is wrong, as the others agree with the allocation; ``is_absence`` that no value
    explains the flag.
    """

    flag: Role | None
    why: str
    about: AssignedValue | None = None
    trait: str = ""
    is_value: bool = False
    is_absence: bool = False


_STEP = 500  # values between two breaths
# In which allocations a value of each kind may lie. What a computation returns may share the
# allocation of a parameter (donation).
_ALLOWED = {
    Kind.CONSTANT: {Role.CONSTANT},
    Kind.THREAD_LOCAL: {Role.THREAD_LOCAL},
    Kind.PARAMETER: {Role.PARAMETER},
    Kind.SCHEDULED: {Role.PARAMETER, Role.MAYBE_LIVE_OUT, Role.PREALLOCATED_TEMP},
}


def roles_of(allocation: AllocationLine) -> list[Role]:
    """The flags of an allocation in the order in which they are printed."""
    flags = {
        Role.PARAMETER: allocation.parameter is not None,
        Role.CONSTANT: allocation.constant,
        Role.THREAD_LOCAL: allocation.thread_local,
        Role.MAYBE_LIVE_OUT: allocation.maybe_live_out,
        Role.PREALLOCATED_TEMP: allocation.preallocated_temp,
    }
    return [role for role, is_set in flags.items() if is_set]


def contradictions(placement: Placement, origins: Origins) -> Iterator[Contradiction]:
    """What is wrong with the flags of an allocation: at most one thing, or some of its values.

    Every allocation is one of these: that of a parameter or an output (or both), of a constant,
    thread-local, or temporary (``BufferAllocation::ToString`` prints the flags of an allocation,
    and ``IsPreallocatedTempBuffer`` is what has none of the others).
    """
    roles = roles_of(placement.allocation)
    if not placement.whole:
        return
    odd = _odd_flag(placement, roles, origins)
    if odd is not None:
        yield odd
        return
    fitting = {kind for kind, allowed in _ALLOWED.items() if allowed.intersection(roles)}
    misfits: list[tuple[AssignedValue, Kind]] = []
    for count, value in enumerate(placement.values):
        if count % _STEP == _STEP - 1:
            checkpoint()
        kind = origins.kind(value)
        if kind is not None and kind not in fitting:
            misfits.append((value, kind))
    if len(misfits) == len(placement.values) > 0:
        yield Contradiction(roles[-1], _holds(*misfits[0]), misfits[0][0], _is(misfits[0][1]))
        return
    for value, kind in misfits:
        if kind is Kind.PARAMETER and value.size == placement.allocation.size:
            # A donated parameter: it fills the allocation.
            yield Contradiction(None, _holds(value, kind), value, _is(kind))
        else:
            yield Contradiction(None, _holds(value, kind), value, _is(kind), is_value=True)
    count = len({value.id for value in placement.values})
    if placement.allocation.constant and count > 1 and not misfits:
        why = f"it holds {count} values, and a constant is alone"
        yield Contradiction(Role.CONSTANT, why, placement.values[-1], "is not alone in it")
    elif not misfits:
        yield from _at_the_border(placement, roles, origins)


def _odd_flag(placement: Placement, roles: list[Role], origins: Origins) -> Contradiction | None:
    """What is wrong with the flags among themselves."""
    allocation = placement.allocation
    if not roles:
        why = "it has no flag that says what it is for" + _hint(placement, origins)
        return Contradiction(None, why)
    if allocation.output_shape is not None and not allocation.maybe_live_out:
        return Contradiction(None, "it holds the output, but is not maybe-live-out")
    outside = {Role.PARAMETER, Role.MAYBE_LIVE_OUT}
    if len(roles) == 1 or set(roles) <= outside:
        return None
    wrong = _refuted(placement, roles, origins)
    others = " and ".join(role.value for role in roles if role is not wrong)
    return Contradiction(wrong, f"it is {others}, too")


def _refuted(placement: Placement, roles: list[Role], origins: Origins) -> Role:
    """Of flags that exclude each other the one that the values contradict, else the last."""
    kinds = {origins.kind(value) for value in placement.values} - {None}
    returned = origins.holds_returned(placement)
    for role in roles:
        if role is Role.MAYBE_LIVE_OUT:
            if returned is False and placement.allocation.output_shape is None:
                return role
        elif kinds and not any(role in _ALLOWED[kind] for kind in kinds if kind is not None):
            return role
    if returned and Role.PREALLOCATED_TEMP in roles:
        return Role.PREALLOCATED_TEMP
    if placement.packs and not placement.allocation.preallocated_temp:
        return roles[0]
    return roles[-1]


def _at_the_border(
    placement: Placement, roles: list[Role], origins: Origins
) -> Iterator[Contradiction]:
    """What the parameters and the result of the program say of an allocation."""
    if not placement.values:
        return
    returned = origins.holds_returned(placement)
    is_parameter = Role.PARAMETER in roles
    if returned is True and Role.MAYBE_LIVE_OUT not in roles:
        flag = None if is_parameter else roles[-1]
        returned_ids = origins.returned or {}
        first = next(value for value in placement.values if value.id in returned_ids)
        why = f"it holds `{first.key}`, which the program returns"
        yield Contradiction(flag, why, first, "is what the program returns")
    elif returned is False and Role.MAYBE_LIVE_OUT in roles:
        why = "the program returns none of its values"
        yield Contradiction(Role.MAYBE_LIVE_OUT, why, is_absence=True)
    elif is_parameter and _no_parameter(placement, origins):
        why = "none of its values is a parameter of the program"
        yield Contradiction(Role.PARAMETER, why, is_absence=True)


def _no_parameter(placement: Placement, origins: Origins) -> bool:
    found = [origins.of(value) for value in placement.values]
    return all(
        origin is not None and (origin.parameter is None or origin.in_entry is False)
        for origin in found
    )


def _hint(placement: Placement, origins: Origins) -> str:
    kinds = {origins.kind(value) for value in placement.values}
    if len(kinds) != 1 or None in kinds:
        return ""
    value = placement.values[0]
    kind = next(iter(kinds))
    return "" if kind is None else f"; `{value.key}` is {kind.value}"


def _is(kind: Kind) -> str:
    return f"is {kind.value}"


def _holds(value: AssignedValue, kind: Kind) -> str:
    return f"it holds `{value.key}`, which is {kind.value}"
