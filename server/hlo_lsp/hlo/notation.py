"""Notations of numbers that XLA prints in several files."""

from collections.abc import Iterable

TuplePath = tuple[int, ...]  # a shape index


def index_text(path: Iterable[int]) -> str:
    """Return a shape index, or another list of integers, as printed: ``{0,1}``."""
    return f"{{{','.join(map(str, path))}}}"


def tuple_path(index: str | None) -> TuplePath:
    """Return the numbers of a printed shape index such as ``{0,1}``."""
    digits = (index or "{}").strip("{}")
    return tuple(int(number) for number in digits.split(",")) if digits else ()


def spaced(number: int) -> str:
    """Return a number with a blank every three digits, as in the tree of stack traces."""
    return f"{number:,}".replace(",", " ")
