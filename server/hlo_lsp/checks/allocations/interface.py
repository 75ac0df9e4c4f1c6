"""Allocations of the parameters and of the output of the program."""

import re
from collections.abc import Iterator

from hlo_lsp.checks.allocations.flags import Origins, origins_of
from hlo_lsp.checks.case import CompileCheck, field_place, shape_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.model.buffer_assignment import (
    AllocationBlock,
    BufferAssignment,
    buffer_assignment,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import element_texts, subshape_text
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.text.checkpoint import checkpoint

_BLOCKS_PER_CHECKPOINT = 200
_LAYOUT = re.compile(r"\{[^{}]*\}")
_COMMENT = re.compile(r"/\*.*?\*/ ?")
_UNKNOWN_SHAPE = "<unknown shape>"


def parameter_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations that do not hold the part of a parameter that they name.

    Every part of every parameter of the program has one allocation
    (``BufferAllocation::set_entry_computation_parameter``).
    """
    assignment, origins = buffer_assignment(survey.dump), origins_of(survey.dump)
    first: dict[tuple[int, str | None], AllocationLine] = {}
    is_wrong = False
    for count, block in enumerate(assignment.blocks, 1):
        if count % _BLOCKS_PER_CHECKPOINT == 0:
            checkpoint()
        allocation = block.allocation
        if allocation.parameter is None:
            continue
        finding = _parameter_finding(survey, assignment.file, block, origins)
        other = first.setdefault((allocation.parameter, allocation.parameter_index), allocation)
        if finding is None and other is not allocation and not is_wrong:
            finding = survey.finding(
                LocatedRecord(assignment.file, allocation),
                "PARAMETER",
                f"parameter {allocation.parameter} at ShapeIndex {allocation.parameter_index} is "
                f"also in allocation {other.number}.",
                Related(field_place(assignment.file, other, "PARAMETER"), "the other allocation"),
            )
        if finding is not None:
            is_wrong = True
            yield finding
    if not is_wrong and assignment.blocks and assignment.is_complete:
        yield from _unallocated_parameters(survey, assignment, origins)


def output_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations that do not hold the output that they name, or do not name it.

    One allocation holds all of the result, and prints its shape (``BufferAllocation::ToString``).
    """
    assignment, origins = buffer_assignment(survey.dump), origins_of(survey.dump)
    file = assignment.file
    heads = [block.allocation for block in assignment.blocks]
    holders = [head for head in heads if head.output_shape is not None]
    home = _home_of_output(assignment, origins)
    if home is None and not holders:
        return
    expected = holders[0] if home is None else home.allocation
    place = field_place(file, expected, "ALLOCATION")
    for holder in holders:
        if holder is not expected:
            yield survey.finding(
                LocatedRecord(file, holder),
                "OUTPUT_SHAPE",
                f"allocation {holder.number} does not hold the output: allocation "
                f"{expected.number} does.",
                Related(place, "the output"),
            )
    if not holders:
        yield survey.report(
            place, f"allocation {expected.number} holds the output, but does not name it."
        )
    elif expected in holders and origins.root is not None:
        shape = _bare(origins.root.shape)
        if shape != _bare(expected.output_shape or ""):
            yield survey.finding(
                LocatedRecord(file, expected),
                "OUTPUT_SHAPE",
                f"output shape is {expected.output_shape}, but the program returns {shape}.",
            )


def _parameter_finding(
    survey: CompileCheck, file: DumpFile, block: AllocationBlock, origins: Origins
) -> Finding | None:
    allocation = block.allocation
    found = list(_parameter_values(block, origins)) if block.is_whole else []
    if not found or any(_field(allocation, *each) is None for each in found):
        return None
    matching = (each for each in found if each[1] == allocation.parameter)
    value, number = next(matching, found[0])
    role, index = _field(allocation, value, number), value.index or "{}"
    said, is_ = {
        "PARAMETER": (f"parameter {allocation.parameter}", f"is parameter {number}"),
        "PARAMETER_INDEX": (f"ShapeIndex {allocation.parameter_index}", f"is at {index}"),
        "PARAMETER_SHAPE": (
            f"shape {allocation.parameter_shape}", f"has the shape {_bare(value.shape)}"
        ),
    }[role or "PARAMETER"]  # fmt: skip
    return survey.finding(
        LocatedRecord(file, allocation),
        role,
        f"allocation {allocation.number} names {said}, but `{value.key}` {is_}.",
        Related(field_place(file, value, "VALUE_ID"), f"`{value.key}`"),
    )


def _parameter_values(
    block: AllocationBlock, origins: Origins
) -> Iterator[tuple[AssignedValue, int | None]]:
    """Yield the values that may be the parameter, with its number where that is known."""
    for value in block.values:
        origin = origins.of(value)
        if origin is None and origins.parameters is None:
            yield value, None
        elif origin is None or origin.parameter is None or value.phi:
            continue
        elif origin.is_in_entry is not False:
            yield value, origin.parameter


def _field(allocation: AllocationLine, value: AssignedValue, number: int | None) -> str | None:
    """Return the first field of the allocation that the value contradicts."""
    if number not in {None, allocation.parameter}:
        return "PARAMETER"
    if (value.index or "{}") != allocation.parameter_index:
        return "PARAMETER_INDEX"
    shape = _bare(allocation.parameter_shape or "")
    # Up to 2023 XLA printed the shape of the whole parameter.
    shapes = {shape, subshape_text(shape, value.index)}
    return None if shapes & {_bare(value.shape), _UNKNOWN_SHAPE} else "PARAMETER_SHAPE"


def _unallocated_parameters(
    survey: CompileCheck, assignment: BufferAssignment, origins: Origins
) -> Iterator[Finding]:
    """Yield the parts of parameters that no allocation and no value holds.

    None where an allocation names a part that does not exist: the module text is another one then.
    """
    dump, lines = survey.dump, origins.parameters or {}
    heads = [block.allocation for block in assignment.blocks]
    named = {(each.parameter, each.parameter_index) for each in heads if each.parameter is not None}
    parts = {(number, index) for number, line in lines.items() for index in _indexes(line.shape)}
    for number, index in sorted(parts - named) if named <= parts else ():
        line = lines[number]
        if dump.value_of_key(line.name + index) is None:
            found = dump.instruction(line.name)
            assert found is not None
            yield survey.report(
                shape_place(found.file, line),
                f"parameter {number} at ShapeIndex {index} has no allocation.",
                Related(field_place(assignment.file, heads[0]), "the allocations"),
            )


def _home_of_output(assignment: BufferAssignment, origins: Origins) -> AllocationBlock | None:
    """Return the allocation of the value that is all of the result."""
    returned = origins.returned or {}
    homes = [
        block
        for block in assignment.blocks
        if any(returned.get(value.id) for value in block.values)
    ]
    return homes[0] if len(homes) == 1 and homes[0].is_whole else None


def _bare(shape: str) -> str:
    """Return a shape without layouts and comments."""
    text, count = _COMMENT.sub("", shape), 1
    while count:
        text, count = _LAYOUT.subn("", text)  # a layout may contain a shape with a layout
    return text


def _indexes(shape: str, path: tuple[int, ...] = ()) -> Iterator[str]:
    yield "{" + ",".join(map(str, path)) + "}"
    for number, element in enumerate(element_texts(shape) or ()):
        yield from _indexes(element, (*path, number))


RULES: tuple[AnyRule, ...] = (
    WholeRule("parameter-mismatch", Severity.ERROR, parameter_mismatch),
    WholeRule("output-mismatch", Severity.ERROR, output_mismatch),
)
