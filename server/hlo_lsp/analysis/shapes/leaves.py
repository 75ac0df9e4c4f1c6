"""All parts of a shape by index."""

from functools import lru_cache

from hlo_lsp.analysis.shapes.agreement import elements_of


@lru_cache(maxsize=1 << 12)
def indexes_of(shape: str) -> tuple[str | None, ...]:
    """The indexes of a shape and of what is in it, outermost first; None alone for an array.

    So XLA prints positions: ``{}``, ``{0}``, ``{1}``, ``{1,0}`` for a tuple in a tuple.
    """
    if not shape.startswith("("):
        return (None,)
    return tuple(f"{{{','.join(map(str, path))}}}" for path in _paths(shape))


def part_of(shape: str, index: str | None) -> str | None:
    """The part of a shape at an index, None if there is none: quick where the shape is asked again.

    No index means all of it.
    """
    digits = (index or "{}")[1:-1]
    text = shape
    for number in map(int, digits.split(",") if digits else ()):
        elements = elements_of(text)
        if elements is None or number >= len(elements):
            return None
        text = elements[number]
    return text


def _paths(shape: str) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for number, element in enumerate(elements_of(shape) or ()):
        found += [(number, *path) for path in _paths(element)]
    return found
