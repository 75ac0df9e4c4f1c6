"""Rules on sizes and memory spaces of values, which follow from shapes and allocations."""

import re
from collections.abc import Iterator
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import (
    AnyRule,
    CompileContext,
    Reads,
    RecordContext,
    WholeRule,
    error,
)
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.buffer_assignment import AllocationBlock, buffer_assignment
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import PaddedSize, Target, padded_size_of_text, target_of
from hlo_lsp.model.place import Place, field_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, TotalLine
from hlo_lsp.syntax.records import Label
from hlo_lsp.syntax.scanners import fields_of_line
from hlo_lsp.text.amounts import format_bytes, format_bytes_as_xla

_SEPARATE_TEMP = 2  # kTempBufferMemorySpaceColor in gpu_memory_space_assignment.h
_SPACE = re.compile(r"S\((\d{1,20})\)")


def color_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report values whose ``@N`` is not ``S(N)`` of the layout or ``color N`` of the allocation."""
    assignment = buffer_assignment(context.dump)
    backend = target_of(context.dump).backend
    for block in assignment.blocks:
        checkpoint()
        file, allocation = assignment.file, block.allocation
        colors = _colors(block, backend)
        if all(
            color is None or (color in colors and space in {None, color})
            for color, space in _spaces(block)
        ):
            continue
        outside = [value for value in block.values if value.color not in {None, *colors}]
        if outside and len(outside) == len(block.values) and len({v.color for v in outside}) == 1:
            value = outside[0]
            message = f"allocation {allocation.number} has color {allocation.color}, but its "
            message += f"values are in memory space {value.color}"
            related = Related(field_place(file, value, "COLOR"), f"`{value.key}` is @{value.color}")
            yield context.report(_color_place(file, allocation), message, related)
            continue
        for value in block.values:
            space = None if value.color is None else layout_space(value)
            is_outside = block.is_whole and value.color not in {None, *colors}
            reason = f"its layout is in memory space {space}"
            if space in {None, value.color}:
                reason = f"allocation {allocation.number} has color {allocation.color}"
            if is_outside or space not in {None, value.color}:
                place = _color_place(file, allocation)
                yield context.report(
                    field_place(file, value, "COLOR"),
                    f"`{value.key}` is @{value.color}, but {reason}",
                    Related(field_place(file, value, "SHAPE"), "the layout"),
                    Related(place, f"allocation {allocation.number}"),
                )


@query
def _spaces(block: AllocationBlock) -> frozenset[tuple[int | None, int | None]]:
    """Return the memory spaces of the values of an allocation, each with that of the layout."""
    different = {(value.color, value.shape): value for value in block.values}
    return frozenset((value.color, layout_space(value)) for value in different.values())


def layout_space(value: AssignedValue) -> int | None:
    """Return the memory space in the layout of an array; None for a tuple, which has no layout."""
    text = value.shape
    if text.startswith("("):
        return None
    found = _SPACE.search(text)
    if found is None or (value.color is not None and int(found[1]) == value.color):
        return 0 if found is None else int(found[1])
    shape = try_shape(text)
    return shape.memory_space if isinstance(shape, ArrayShape) else None


def _colors(block: AllocationBlock, backend: Backend) -> set[int]:
    """Return the memory spaces that values of an allocation may be in.

    With `xla_gpu_temp_buffer_use_separate_color` XLA:GPU gives its combined temporary allocation
    color 2 and leaves the values at 0 (``CombineTempAllocations``).
    """
    color = block.allocation.color
    is_separate = block.allocation.preallocated_temp and color == _SEPARATE_TEMP
    return {color, 0} if is_separate and backend in {Backend.GPU, Backend.UNKNOWN} else {color}


def _color_place(file: DumpFile, allocation: AllocationLine) -> Place:
    """Return the color of an allocation, or its number where no color is printed."""
    roles = {field.role for field in fields_of_line(allocation.rule, file.lines[allocation.line])}
    return field_place(file, allocation, "COLOR" if "COLOR" in roles else "ALLOCATION")


def size_mismatch(context: RecordContext[AssignedValue]) -> Iterator[Finding]:
    """Report values whose size does not follow from shape and layout (``shape_util.cc``).

    Tiled arrays (TPU) are padded dimension by dimension to their tiles; CPU and GPU do not pad.
    Tuples are tables of pointers: 8 bytes an element on CPU and GPU; on TPU 4 bytes, rounded up to
    a granule that is the same in all of a dump. This holds for each of 35,000 values in real dumps.
    Example: `f32[16,64]{1,0:T(8,128)}` has 16 x 128 x 4 = 8,192 bytes.
    """
    value = context.record
    padded = contradicting_size(value, target_of(context.dump))
    if padded is None:
        return
    causes = "".join(f"; {cause}" for cause in padded.padding)
    finding = context.report(
        context.place("SIZE"),
        f"size is {value.size:,} B, but the shape takes {padded.bytes:,} B: {padded.rule}{causes}",
        Related(context.place("SHAPE"), f"this shape takes {format_bytes(padded.bytes)}"),
    )
    yield finding.put(str(padded.bytes)) if padded.exact else finding


def contradicting_size(value: AssignedValue, target: Target) -> PaddedSize | None:
    """Return the size that the shape requires if the value has another one."""
    if value.color is not None and layout_space(value) not in {None, value.color}:
        return None  # the rule depends on the memory space
    padded = padded_size_of_text(value.shape, target, value.color or 0)
    if padded is None or value.size == padded.bytes or value.size in padded.allowed:
        return None
    return padded if padded.exact or padded.allowed else None


def human_total(context: RecordContext[TotalLine]) -> Iterator[Finding]:
    """Report a rounded total that is not the exact one before it (tsl ``numbers.cc``)."""
    sizes = sum(found.record.size for found in context.dump.allocations())
    if context.record.human != format_bytes_as_xla(sizes):
        yield from _human(context, context.record.total, context.record.human)


def human_space(context: RecordContext[Label]) -> Iterator[Finding]:
    """Report the same for a memory space in a memory usage report."""
    if context.record.name == "space_total_line":
        line = context.file.lines[context.record.line]
        texts = {field.role: field.text for field in fields_of_line(context.record.name, line)}
        if "TOTAL" in texts and "HUMAN" in texts:
            yield from _human(context, int(texts["TOTAL"]), texts["HUMAN"])


def _human(context: "RecordContext[Any]", total: int, human: str) -> Iterator[Finding]:
    expected = format_bytes_as_xla(total)
    if human != expected:
        yield context.report(
            context.place("HUMAN"), f"{total:,} B are `{expected}`, not `{human}`"
        ).put(expected)


RULES: tuple[AnyRule, ...] = (
    WholeRule("color-mismatch", Severity.ERROR, color_mismatch),
    error("size-mismatch", AssignedValue, size_mismatch, reads=Reads.RECORD),
    error("human-size", TotalLine, human_total),
    error("human-size", Label, human_space),
)
