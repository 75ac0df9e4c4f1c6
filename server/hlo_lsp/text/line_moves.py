"""The new places of the lines of a text after edits of which only the result is known."""

from collections.abc import Sequence
from difflib import SequenceMatcher

_MAX_COMPARED_LINES = 10_000  # between the first and the last difference; about 0.1 s


def moved_lines(before: Sequence[str], after: Sequence[str]) -> list[int | None]:
    """Return the number of each line of a text in another version of the text.

    Lines that were changed in place keep their place. Lines that were deleted, and changed lines
    where the number of lines changed, too, have None.
    """
    start = _common_count(before, after)
    end = min(_common_count(before[::-1], after[::-1]), len(before) - start, len(after) - start)
    found: list[int | None] = [*range(start)]
    inner = before[start : len(before) - end], after[start : len(after) - end]
    if not all(inner) or max(map(len, inner)) > _MAX_COMPARED_LINES:
        found += _in_place(0, len(inner[0]), start, start + len(inner[1]))
    else:
        matcher = SequenceMatcher(None, *inner)
        for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
            found += _in_place(old_start, old_end, start + new_start, start + new_end)
    return [*found, *range(len(after) - end, len(after))]


def _in_place(old_start: int, old_end: int, new_start: int, new_end: int) -> Sequence[int | None]:
    if old_end - old_start == new_end - new_start:
        return range(new_start, new_end)
    return [None] * (old_end - old_start)


def _common_count(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many lines at the start of two texts are equal."""
    pairs = enumerate(zip(before, after, strict=False))
    shorter = min(len(before), len(after))
    return next((number for number, (old, new) in pairs if old != new), shorter)
