"""The memory maps of two compiles on one page, with the buffers that correspond."""

from collections.abc import Iterable

from hlo_lsp.memory.buffer_changes import BufferMatching
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.memory_map import Json, memory_map, memory_map_document

NO_MAPS = "one of the compiles has no buffer assignment, so there is nothing to show"


def compared_maps(pairs: Iterable[tuple[Compile, Compile]]) -> Json:
    """Return a document with the memory maps of pairs of compiles, and their corresponding boxes.

    Pairs without a buffer assignment on one side are left out.
    """
    maps: list[Json] = []
    comparisons: list[Json] = []
    for before, after in pairs:
        sides = memory_map(before), memory_map(after)
        if all(side["spaces"] for side in sides):
            number = len(maps)
            boxes = _corresponding_boxes(before, after, *sides)
            comparisons.append({"before": number, "after": number + 1, "boxes": boxes})
            maps += sides
    return memory_map_document(maps) | {"comparisons": comparisons}


def _corresponding_boxes(
    before: Compile, after: Compile, first: Json, second: Json
) -> dict[str, list[int]]:
    """Return the rows of boxes of corresponding values in both maps."""
    row_of, other_row_of = (
        {identifier: row for row, identifier in enumerate(side["boxes"]["id"])}
        for side in (first, second)
    )
    rows = [
        (row_of[one.id], other_row_of[other.id])
        for one, other in BufferMatching(before, after).pairs()
        if one.id in row_of and other.id in other_row_of
    ]
    return {"before": [row for row, _ in rows], "after": [row for _, row in rows]}
