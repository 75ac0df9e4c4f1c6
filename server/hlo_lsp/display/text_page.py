"""Markdown as text with aligned tables, and the places of its links."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, NamedTuple

from markdown_it import MarkdownIt
from rich.box import SIMPLE
from rich.console import Console, RenderableType
from rich.markdown import Heading, Markdown, MarkdownElement, Paragraph, TableElement
from rich.segment import Segment
from rich.table import Table

from hlo_lsp.display.terminal import Words


class PageLink(NamedTuple):
    """Characters of a line that lead to a place; ``line``, ``start``, and ``end`` are from 0."""

    line: int
    start: int
    end: int
    uri: str


@dataclass(frozen=True, slots=True)
class TextPage:
    """Lines of text, and the links in them in order."""

    lines: tuple[str, ...]
    links: tuple[PageLink, ...]

    @property
    def text(self) -> str:
        """The lines, each with a line end."""
        return "".join(f"{line}\n" for line in self.lines)


def text_page(markdown: str, columns: int) -> TextPage:
    """Return Markdown as text in lines of at most ``columns`` characters.

    Lines end between words or at a sign inside of a long name, and never inside of a number.
    """
    console = Console(width=columns, highlight=False, color_system=None)
    lines: list[str] = []
    links: list[PageLink] = []
    for segments in console.render_lines(_Page(markdown), pad=False):
        text = "".join(segment.text for segment in segments).rstrip()
        if not text and (not lines or not lines[-1]):
            continue
        links += _links(segments, len(lines), len(text))
        lines.append(text.replace("\N{NO-BREAK SPACE}", " "))
    if lines and not lines[-1]:
        lines.pop()
    return TextPage(tuple(lines), tuple(links))


def _links(segments: Iterable[Segment], line: int, width: int) -> Iterator[PageLink]:
    """Yield the links of a line; adjacent segments with one target are one link."""
    column = 0
    for uri, group in groupby(segments, lambda one: None if one.style is None else one.style.link):
        start, column = column, column + sum(len(segment.text) for segment in group)
        if uri is not None and start < width:
            yield PageLink(line, start, min(column, width), uri)


class _Heading(Heading):
    def __rich_console__(self, *_: object) -> Iterator[RenderableType]:
        yield Words(self.text)


class _Paragraph(Paragraph):
    def __rich_console__(self, *_: object) -> Iterator[RenderableType]:
        yield Words(self.text)


class _Table(TableElement):
    """A table in which only names and texts are divided into lines."""

    def __rich_console__(self, *_: object) -> Iterator[RenderableType]:
        header = self.header.row if self.header is not None else None
        rows = self.body.rows if self.body is not None else []
        if header is None:
            return
        table = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
        for cell in header.cells:
            is_number = cell.justify == "right"
            table.add_column(cell.content, no_wrap=is_number, overflow="fold")
        for row in rows:
            table.add_row(*(Words(cell.content) for cell in row.cells))
        yield table


class _Parser(MarkdownIt):
    """The parser, with links to files, which it does not accept by default."""

    def validateLink(self, url: str) -> bool:  # noqa: N802  # the name in the parser
        return url.startswith("file:") or super().validateLink(url)


class _Page(Markdown):
    """Markdown with the elements of this module."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "paragraph_open": _Paragraph,
        "table_open": _Table,
    }

    def __init__(self, markup: str) -> None:
        super().__init__("")
        self.parsed = _Parser().enable("strikethrough").enable("table").parse(markup)
