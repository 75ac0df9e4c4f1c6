"""Tables, and their forms as aligned text and as Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hlo_lsp.display.phrases import capitalized, unbroken
from hlo_lsp.text.inert import (
    html_text,
    markdown_link,
    markdown_link_text,
    markdown_row,
    markdown_text,
)

_NUMBERS = ">"
_SHARE = re.compile(r"\d{1,3}(?:\.\d)?%")
_INDENT = "  "
_GAP = "  "


class Link(NamedTuple):
    """A cell that leads to a place, for clients that support links; None without a place."""

    text: str
    uri: str | None


Cell = str | Link | tuple[str | Link, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, in which names from dumps are in backticks.

    Attributes:
        titles: The titles of the columns. The cells below a title that begins with ``>`` are
            numbers, which end at one place.
        rows: The cells of each row.
        has_titles: Whether text shows the titles; Markdown requires them.
        indent: The beginning of each row in text.
    """

    titles: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    has_titles: bool = True
    indent: str = _INDENT


Content = Iterable[str | Table]


def text_lines(content: Content) -> Iterator[str]:
    """Yield lines of text; a column is as wide as its widest cell, a table without rows empty."""
    for part in content:
        if isinstance(part, str):
            yield part
        else:
            yield from _aligned(part)


def _aligned(table: Table) -> Iterator[str]:
    from rich.cells import cell_len  # noqa: PLC0415  # only tables need the widths of characters

    if not table.rows:
        return
    are_numbers = [title.startswith(_NUMBERS) for title in table.titles]
    rows = [list(map(_plain, row)) for row in table.rows]
    if table.has_titles:
        rows.insert(0, [title.removeprefix(_NUMBERS) for title in table.titles])
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            f"{' ' * space}{cell}" if is_number else f"{cell}{' ' * space}"
            for cell, is_number, space in zip(
                row,
                are_numbers,
                (width - cell_len(cell) for cell, width in zip(row, widths, strict=True)),
                strict=True,
            )
        )
        yield f"{table.indent}{_GAP.join(cells)}".rstrip()


def _plain(cell: Cell) -> str:
    if isinstance(cell, Link):
        cell = cell.text
    text = cell if isinstance(cell, str) else _GAP.join(map(_plain, cell))
    return text.replace("`", "")


def markdown_blocks(content: Content) -> Iterator[str]:
    """Yield lines of Markdown: paragraphs, and lists of the lines with an indent."""
    is_in_list = False
    for part in content:
        is_item = isinstance(part, str) and part.startswith(_INDENT)
        if not (is_item and is_in_list):
            yield ""
        is_in_list = is_item
        if isinstance(part, str):
            yield f"- {markdown_text(part.strip())}" if is_item else markdown_text(part)
        else:
            yield from markdown_table(part)


def markdown_table(table: Table) -> Iterator[str]:
    """Yield the lines of a table in Markdown; none without rows."""
    if not table.rows:
        return
    yield markdown_row(*(capitalized(title.removeprefix(_NUMBERS)) for title in table.titles))
    yield f"|{'|'.join('---:' if t.startswith(_NUMBERS) else '---' for t in table.titles)}|"
    for row in table.rows:
        yield markdown_row(*map(_column_cell, table.titles, row))


def _column_cell(title: str, cell: Cell) -> str:
    return unbroken(markdown_cell(cell)) if title.startswith(_NUMBERS) else markdown_cell(cell)


def markdown_cell(cell: Cell) -> str:
    """Return a cell as Markdown."""
    if isinstance(cell, str):
        return markdown_text(cell)
    if isinstance(cell, Link):
        if cell.uri is None:
            return markdown_text(cell.text)
        return markdown_link(markdown_link_text(cell.text), cell.uri)
    return " ".join(map(markdown_cell, cell))


def html_table(table: Table) -> Iterator[str]:
    """Yield the lines of a table in HTML."""
    yield "<table>"
    kinds = ["" if title.startswith(_NUMBERS) else ' class="text"' for title in table.titles]
    heads = zip(kinds, table.titles, strict=True)
    cells = (f"<th{kind}>{html_text(title.removeprefix(_NUMBERS))}</th>" for kind, title in heads)
    yield f"<tr>{''.join(cells)}</tr>"
    for row in table.rows:
        yield f"<tr>{''.join(map(_html_cell, kinds, row))}</tr>"
    yield "</table>"


def _html_cell(kind: str, cell: Cell) -> str:
    """Return a cell in HTML; one with a share has a bar of this length."""
    text = _plain(cell)
    style = f' style="--share: {text}"' if _SHARE.fullmatch(text) else ""
    return f"<td{kind}{style}>{html_text(text)}</td>"
