"""The rows of an entry under ``Used values`` as text: the fastest way to compare very many."""

from hlo_lsp.syntax.used_value import UsedValue

NONE = "  (none)"
_USES = " uses:"


def uses_label(entry: UsedValue) -> int:
    """The line of ``uses:`` within a whole entry."""
    return entry.lines.index(_USES)


def position_rows(entry: UsedValue) -> list[str]:
    """The rows of positions of a whole entry, as printed: ``  fusion.5 {1}``."""
    return list(entry.lines[2 : uses_label(entry)])


def use_rows(entry: UsedValue) -> list[str]:
    """The rows of uses of a whole entry, as printed, and ``  (none)`` if that stands there."""
    return list(entry.lines[uses_label(entry) + 1 : -1])


def row_of(name: str, index: str | None) -> str:
    """The row of a position; the index is None where the instruction is no tuple."""
    return f"  {name}" if index is None else f"  {name} {index}"


def parts_of(row: str) -> tuple[str, str | None]:
    """Name and index of a row of a position."""
    name, _, index = row[2:].partition(" ")
    return name, index or None
