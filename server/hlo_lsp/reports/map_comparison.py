"""The memory maps of two compiles, with the boxes that correspond."""

from collections.abc import Callable, Iterable

from hlo_lsp.cost.chips import Chip, chip_of
from hlo_lsp.memory.buffer_changes import BufferMatching
from hlo_lsp.memory.occupancy_and_peaks import largest_off_chip_space, memory_space_occupancies
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.memory_map import memory_map_document
from hlo_lsp.reports.step_times import timed_memory_map
from hlo_lsp.stats.measured_programs import TimeSources
from hlo_lsp.text.inert import Json

NO_MAPS = "one of the compiles has no buffer assignment, so there is nothing to show"


def compared_maps(
    pairs: Iterable[tuple[Compile, Compile]],
    chip_for: Callable[[Compile], Chip | None] = chip_of,
) -> Json:
    """Return a document with the memory maps of pairs of compiles, and their corresponding boxes.

    Pairs without a buffer assignment on one side are left out.

    Args:
        pairs: The compiles before and after a change.
        chip_for: Returns the chip for the least time of the steps of a compile, if it is known.
    """
    maps: list[Json] = []
    comparisons: list[Json] = []
    for before, after in pairs:
        first, second = (
            timed_memory_map(one, TimeSources(chip_for(one))) for one in (before, after)
        )
        sides = first, second
        if all(side["spaces"] for side in sides):
            number = len(maps)
            boxes = _corresponding_boxes(before, after, *sides)
            comparisons.append({"before": number, "after": number + 1, "boxes": boxes})
            maps += _with_main_memories(before, after, sides)
    return memory_map_document(maps) | {"comparisons": comparisons}


def _with_main_memories(
    before: Compile, after: Compile, sides: tuple[Json, Json]
) -> tuple[Json, Json]:
    """Return the maps of two platforms with one name for both main memories, as in ``diff``."""
    dumps = before, after
    mains = [largest_off_chip_space(memory_space_occupancies(one), one.backend) for one in dumps]
    first, second = (
        None if main is None else space_title(main.space, one.backend)
        for one, main in zip(dumps, mains, strict=True)
    )
    if before.backend is after.backend or first is None or second is None or first == second:
        return sides
    pair = f"{first} -> {second}"
    one, other = (
        side
        | {
            "spaces": [
                space | ({"pair": pair} if space["name"] == main else {})
                for space in side["spaces"]
            ]
        }
        for side, main in zip(sides, (first, second), strict=True)
    )
    return one, other


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
