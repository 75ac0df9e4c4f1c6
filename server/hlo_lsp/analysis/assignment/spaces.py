"""Whether values, their shapes and their allocations name the same memory space.

Three witnesses: `@N` of the value, `S(N)` of its layout, `color N` of its allocation; what two of
them agree on is taken for right.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from hlo_lsp.analysis.assignment.placements import Placement
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.memory_records import AssignedValue

_SEPARATE_TEMP = 2  # kTempBufferMemorySpaceColor in gpu_memory_space_assignment.h
_SPACE = re.compile(r"S\((\d{1,20})\)")


class Liar(Enum):
    """Which of the witnesses the others contradict."""

    VALUE = "@N of the value"
    SHAPE = "S(N) of the layout"
    ALLOCATION = "color N of the allocation"


@dataclass(frozen=True, slots=True)
class Discord:
    """Memory spaces that differ: ``said`` is what is wrong, ``right`` what the others say.

    ``value`` is the one that is wrong, or one that contradicts its allocation.
    """

    liar: Liar
    value: AssignedValue
    said: int
    right: int


def discords(
    placement: Placement, backend: Backend, header_color: Callable[[int], int | None]
) -> Iterator[Discord]:
    """The wrong memory spaces of an allocation and its values.

    ``header_color`` gives the color in the head of the entry of a value, by its id: where a tuple,
    whose shape names no space, is alone in its allocation.
    """
    home = placement.allocation.color
    strays: list[AssignedValue] = []
    agreeing = 0
    for value in placement.values:
        color = value.color
        if color is None:
            continue
        space = layout_space(value)
        if space is not None and space != color:
            if color == home:
                yield Discord(Liar.SHAPE, value, space, color)
            else:
                yield Discord(Liar.VALUE, value, color, space)
        elif color != home:
            strays.append(value)
            continue
        agreeing += 1
    if not placement.whole:
        return
    if _may_be_recolored(placement, backend):
        yield from (Discord(Liar.VALUE, value, value.color, 0) for value in strays if value.color)
        return
    if not strays or agreeing or len({value.color for value in strays}) > 1:
        yield from (Discord(Liar.VALUE, value, value.color or 0, home) for value in strays)
    elif (
        len(strays) == 1 and layout_space(strays[0]) is None and header_color(strays[0].id) == home
    ):
        yield Discord(Liar.VALUE, strays[0], strays[0].color or 0, home)
    else:
        yield Discord(Liar.ALLOCATION, strays[0], home, strays[0].color or 0)


def layout_space(value: AssignedValue) -> int | None:
    """The memory space in the layout of an array; None for a tuple, which has no layout."""
    text = value.shape
    if text.startswith("("):
        return None
    found = _SPACE.search(text)
    if found is None or (value.color is not None and int(found[1]) == value.color):
        return 0 if found is None else int(found[1])
    shape = try_shape(text)
    return shape.memory_space if isinstance(shape, ArrayShape) else None


def may_be_recolored(color: int, backend: Backend) -> bool:
    """Whether an allocation of this color may hold values of color 0.

    With `xla_gpu_temp_buffer_use_separate_color` XLA:GPU gives its combined temporary allocation
    color 2 and leaves the values at 0 (``CombineTempAllocations``).
    """
    return color == _SEPARATE_TEMP and backend in {Backend.GPU, Backend.UNKNOWN}


def _may_be_recolored(placement: Placement, backend: Backend) -> bool:
    """Whether the allocation has a color of its own, and its values are at 0."""
    temp = placement.allocation.preallocated_temp or placement.packs
    return temp and may_be_recolored(placement.allocation.color, backend)
