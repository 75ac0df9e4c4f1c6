"""What allocations say of the parameters and the output of the program, against what they hold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.analysis.assignment.origins import Origin, Origins
from hlo_lsp.analysis.assignment.placements import Assignment, Placement
from hlo_lsp.model.shape import element_texts, leaf_text, try_shape
from hlo_lsp.model.sizes import logical_bytes
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue

_LAYOUT = re.compile(r"\{[^{}]*\}")
_COMMENT = re.compile(r"/\*.*?\*/ ?")


@dataclass(frozen=True, slots=True)
class Misstatement:
    """A field of an allocation that is wrong: its terminal in the grammar, and a sentence."""

    allocation: AllocationLine
    field: str
    why: str


def bare(shape: str) -> str:
    """A shape without layouts and comments."""
    text = _COMMENT.sub("", shape)
    while "{" in text:
        text, count = _LAYOUT.subn("", text)  # a layout may hold a shape with a layout
        if not count:
            break
    return text


def misstated_parameter(placement: Placement, origins: Origins) -> Misstatement | None:
    """What is wrong in the parameter that an allocation names, or None.

    One of its values is that parameter at that index, and of that shape (up to 2023 XLA printed
    the shape of the whole parameter). Its size is that of the allocation.
    """
    allocation = placement.allocation
    if allocation.parameter is None or not placement.whole or not placement.values:
        return None
    candidates = [
        (value, origin)
        for value in placement.values
        if not value.phi
        and (origin := origins.of(value)) is not None
        and origin.parameter is not None
        and origin.in_entry is not False
    ]
    if not candidates:
        return None if origins.parameters is not None else _by_shape(placement)
    value, origin = max(candidates, key=lambda pair: _agreement(allocation, *pair))
    index = value.index or "{}"
    if origin.parameter != allocation.parameter:
        why = f"`{value.name}` is parameter {origin.parameter}, not {allocation.parameter}"
        return Misstatement(allocation, "PARAMETER", why)
    if index != allocation.parameter_index:
        why = f"its value is `{value.key}`, at ShapeIndex {index} of the parameter"
        return Misstatement(allocation, "PARAMETER_INDEX", why)
    if bare(value.shape) == bare(allocation.parameter_shape or ""):
        return None
    defined = leaf_text(origin.shape, value.index)
    if defined is not None and bare(allocation.parameter_shape or "") not in {
        bare(defined), bare(origin.shape), "<unknown shape>",
    }:  # fmt: skip
        why = f"the shape of `{value.key}` is {bare(defined)}"
        return Misstatement(allocation, "PARAMETER_SHAPE", why)
    return None


def claimed_twice(assignment: Assignment) -> Iterator[tuple[AllocationLine, AllocationLine]]:
    """Allocations that name the same part of the same parameter, the later one first."""
    seen: dict[tuple[int, str | None], AllocationLine] = {}
    for placement in assignment.placements:
        allocation = placement.allocation
        if allocation.parameter is not None and not placement.doubled:
            key = allocation.parameter, allocation.parameter_index
            first = seen.setdefault(key, allocation)
            if first is not allocation:
                yield allocation, first


def unclaimed(assignment: Assignment, origins: Origins) -> list[tuple[int, str]]:
    """Parts of parameters that no allocation names: number and index.

    Nothing where an allocation names a part that there is not: then the module text is another's.
    """
    claimed = {
        (placement.allocation.parameter, placement.allocation.parameter_index)
        for placement in assignment.placements
        if placement.allocation.parameter is not None
    }
    parts = {
        (number, index)
        for number, line in (origins.parameters or {}).items()
        for index in _parts(line.shape, ())
    }
    return sorted(parts - claimed) if claimed <= parts else []


def misstated_outputs(assignment: Assignment, origins: Origins) -> list[Misstatement]:
    """What is wrong with the allocations that say that they hold the output.

    One does, with the shape of all that the program returns, and holds the value that is that.
    """
    once = [one for one in assignment.placements if not one.doubled]
    holders = [one for one in once if one.allocation.output_shape is not None]
    home = _home_of_output(assignment, origins)
    if not holders:
        why = "it holds the output, but does not say so"
        return [] if home is None else [Misstatement(home.allocation, "ALLOCATION", why)]
    if home is None and len(holders) > 1:
        home = next((one for one in holders if _may_be_output(one)), holders[0])
    found = []
    for holder in holders:
        allocation = holder.allocation
        if home is not None and holder is not home:
            why = f"the output lies in allocation {home.allocation.number}"
            found.append(Misstatement(allocation, "OUTPUT_SHAPE", why))
        elif origins.output_shape is not None:
            shape = bare(origins.output_shape)
            if shape != bare(allocation.output_shape or ""):
                why = f"the program returns {shape}"
                found.append(Misstatement(allocation, "OUTPUT_SHAPE", why))
        elif holder.whole and holder.values and not _may_be_output(holder):
            found.append(Misstatement(allocation, "OUTPUT_SHAPE", "none of its values is as large"))
    return found


def _home_of_output(assignment: Assignment, origins: Origins) -> Placement | None:
    """The allocation of the value that is all of the result."""
    if origins.returned is None:
        return None
    whole = next(id_ for id_, is_whole in origins.returned.items() if is_whole)
    homes = [
        one
        for one in assignment.placements
        if any(value.id == whole and origins.has_entry(value) for value in one.values)
    ]
    return homes[0] if len(homes) == 1 and homes[0].whole else None


def _may_be_output(placement: Placement) -> bool:
    """Whether a value has as many bytes without padding as the output; a bitcast keeps those."""
    size = _bytes(placement.allocation.output_shape or "")
    return size is None or any(_bytes(value.shape) in {size, None} for value in placement.values)


def _bytes(shape: str) -> int | None:
    parsed = try_shape(bare(shape))
    return None if parsed is None else logical_bytes(parsed)


def _parts(shape: str, path: tuple[int, ...]) -> Iterator[str]:
    yield "{" + ",".join(map(str, path)) + "}"
    for number, element in enumerate(element_texts(shape) or ()):
        yield from _parts(element, (*path, number))


def _agreement(allocation: AllocationLine, value: AssignedValue, origin: Origin) -> int:
    return (
        2 * (origin.parameter == allocation.parameter)
        + ((value.index or "{}") == allocation.parameter_index)
        + (bare(value.shape) == bare(allocation.parameter_shape or ""))
    )


def _by_shape(placement: Placement) -> Misstatement | None:
    """The same where nothing tells which instruction defines the values."""
    allocation = placement.allocation
    indexed = [
        value for value in placement.values if (value.index or "{}") == allocation.parameter_index
    ]
    if not indexed:
        why = f"`{placement.values[0].key}` is not at that index"
        return Misstatement(allocation, "PARAMETER_INDEX", why)
    shape = bare(allocation.parameter_shape or "")
    if any(shape == bare(value.shape) for value in indexed) or shape == "<unknown shape>":
        return None
    if allocation.parameter_index != "{}" and leaf_text(shape, allocation.parameter_index):
        return None  # the shape of the whole parameter
    why = f"the shape of `{indexed[0].key}` is {bare(indexed[0].shape)}"
    return Misstatement(allocation, "PARAMETER_SHAPE", why)
