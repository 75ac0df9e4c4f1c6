"""Rows of cells as lines of text, aligned by column."""

from collections.abc import Iterator, Sequence


def aligned_rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, indented, with the cells of a column ending at one place.

    Args:
        rows: The cells of all rows, also of the titles. The last cell of a row is a name, which
            begins at one place.
    """
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    for row in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(row, widths, strict=False))
        yield f"  {'  '.join([*cells, row[-1]])}".rstrip()
