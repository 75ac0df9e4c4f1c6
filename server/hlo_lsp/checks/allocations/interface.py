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
from hlo_lsp.model.shape import shape_indexes, subshape_text
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.text.checkpoint import checkpoint

_LAYOUT = re.compile(r"\{[^{}]*\}")
_COMMENT = re.compile(r"/\*.*?\*/ ?")
_UNKNOWN_SHAPE = "<unknown shape>"


def parameter_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations that do not hold the part of a parameter that they name."""
    assignment, origins = buffer_assignment(survey.dump), origins_of(survey.dump)
    first: dict[tuple[int, str | None], AllocationLine] = {}
    is_wrong = False
    for block in assignment.blocks:
        checkpoint()
        allocation = block.allocation
        if allocation.parameter is None:
            continue
        finding = _parameter_finding(survey, assignment.file, block, origins)
        part = allocation.parameter, allocation.parameter_index
        other = first.setdefault(part, allocation)
        if finding is None and other is not allocation and not is_wrong:
            place = field_place(assignment.file, other, "PARAMETER")
            finding = survey.finding(
                LocatedRecord(assignment.file, allocation),
                "PARAMETER",
                f"parameter {part[0]} at ShapeIndex {part[1]} is also in allocation "
                f"{other.number}.",
                Related(place, "the other allocation"),
            )
        if finding is not None:
            is_wrong = True
            yield finding
    if not is_wrong and assignment.blocks and assignment.is_complete:
        yield from _unallocated_parameters(survey, assignment, origins)


def output_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report allocations that do not hold the output that they name, or do not name it."""
    assignment, origins = buffer_assignment(survey.dump), origins_of(survey.dump)
    file, ids = assignment.file, origins.returned or {}
    heads = [block.allocation for block in assignment.blocks]
    holders = [head for head in heads if head.output_shape is not None]
    homes = [block for block in assignment.blocks if any(ids.get(one.id) for one in block.values)]
    is_known = len(homes) == 1 and homes[0].is_whole
    if not is_known and not holders:
        return
    expected = homes[0].allocation if is_known else holders[0]
    place = field_place(file, expected, "ALLOCATION")
    for holder in holders:
        if holder is not expected:
            message = f"allocation {holder.number} does not hold the output: allocation "
            message += f"{expected.number} does."
            found = LocatedRecord(file, holder)
            yield survey.finding(found, "OUTPUT_SHAPE", message, Related(place, "the output"))
    if not holders:
        message = f"allocation {expected.number} holds the output, but does not name it."
        yield survey.report(place, message)
    elif expected in holders and origins.root is not None:
        shape, printed = _bare(origins.root.shape), expected.output_shape or ""
        if shape != _bare(printed):
            message = f"output shape is {printed}, but the program returns {shape}."
            yield survey.finding(LocatedRecord(file, expected), "OUTPUT_SHAPE", message)


def _parameter_finding(
    survey: CompileCheck, file: DumpFile, block: AllocationBlock, origins: Origins
) -> Finding | None:
    allocation = block.allocation
    found = list(_parameter_values(block, origins)) if block.is_whole else []
    if not found or any(_field(allocation, *each) is None for each in found):
        return None
    matching = (each for each in found if each[1] == allocation.parameter)
    value, number = next(matching, found[0])
    role = _field(allocation, value, number)
    said, is_ = f"parameter {allocation.parameter}", f"is parameter {number}"
    if role == "PARAMETER_INDEX":
        said, is_ = f"ShapeIndex {allocation.parameter_index}", f"is at {value.index or '{}'}"
    elif role == "PARAMETER_SHAPE":
        said, is_ = f"shape {allocation.parameter_shape}", f"has the shape {_bare(value.shape)}"
    return survey.finding(
        LocatedRecord(file, allocation),
        role,
        f"allocation {allocation.number} names {said}, but `{value.key}` {is_}.",
        Related(field_place(file, value, "VALUE_ID"), f"`{value.key}`"),
    )


def _parameter_values(
    block: AllocationBlock, origins: Origins
) -> Iterator[tuple[AssignedValue, int | None]]:
    for value in block.values:
        origin = origins.of(value)
        if origin is None and origins.entry is None:
            yield value, None
        elif origin is None or origin.parameter is None or value.phi:
            continue
        elif origin.is_in_entry is not False:
            yield value, origin.parameter


def _field(allocation: AllocationLine, value: AssignedValue, number: int | None) -> str | None:
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
    dump, lines = survey.dump, {} if origins.entry is None else origins.entry.parameters
    heads = [block.allocation for block in assignment.blocks]
    named = {(each.parameter, each.parameter_index) for each in heads if each.parameter is not None}
    parts = {
        (number, index or "{}")
        for number, line in lines.items()
        for index in shape_indexes(line.shape)
    }
    for number, index in sorted(parts - named) if named <= parts else ():
        line = lines[number]
        found = dump.instruction(line.name)
        if found is not None and dump.value_of_key(line.name + index) is None:
            yield survey.report(
                shape_place(found.file, line),
                f"parameter {number} at ShapeIndex {index} has no allocation.",
                Related(field_place(assignment.file, heads[0]), "the allocations"),
            )


def _bare(shape: str) -> str:
    text, count = _COMMENT.sub("", shape), 1
    while count:
        text, count = _LAYOUT.subn("", text)  # a layout may contain a shape with a layout
    return text


RULES: tuple[AnyRule, ...] = (
    WholeRule("parameter-mismatch", Severity.ERROR, parameter_mismatch),
    WholeRule("output-mismatch", Severity.ERROR, output_mismatch),
)
