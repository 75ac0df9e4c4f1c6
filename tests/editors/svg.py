"""The screen of a terminal as SVG, the same on every machine."""

from itertools import groupby
from xml.sax.saxutils import escape

from pyte.screens import Char

from editors.terminal import Terminal

_WIDTH, _HEIGHT, _SIZE = 8.4, 17.0, 14  # of a character cell, and of the letters in it
_MARGIN, _TITLE = 12.0, 30.0
_BACK, _FORE, _FRAME, _FAINT = "#14161b", "#d8dae2", "#4f5258", "#9b9ea4"
_ANSI = {
    "black": "#4f5258", "red": "#ff8b80", "green": "#8fd69a", "brown": "#e3c172",
    "blue": "#8fb8ff", "magenta": "#e6a3f0", "cyan": "#7fdbdb", "white": "#d8dae2",
}  # fmt: skip
_FONT = '"DejaVu Sans Mono", Menlo, Consolas, monospace'


def picture(screen: Terminal, columns: int, title: str) -> str:
    """Return the screen with its colors as SVG, up to the last row with text."""
    shown = max(number for number, row in enumerate(screen.rows) if row) + 1
    width, height = columns * _WIDTH + 2 * _MARGIN, shown * _HEIGHT + _MARGIN + _TITLE
    back, text = [], []
    for row in range(shown):
        top = _TITLE + row * _HEIGHT
        for column, run in _runs(screen.cells(row)):
            left, wide = _MARGIN + column * _WIDTH, len(run) * _WIDTH
            fore, background = _colors(run[0])
            if background != _BACK:
                back.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" '
                            f'height="{_HEIGHT:.1f}" fill="{background}"/>')  # fmt: skip
            words = "".join(cell.data for cell in run)
            if words.strip():
                left += (len(words) - len(words.lstrip())) * _WIDTH
                # The length is fixed, so that another font does not move the next text.
                text.append(f'<text x="{left:.1f}" y="{top + 13:.1f}" '
                            f'textLength="{len(words.strip()) * _WIDTH:.1f}" '
                            f'fill="{fore}"{_manner(run[0])}>{_words(words)}</text>')  # fmt: skip
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height:.1f}">',
            f"<style>text {{ font: {_SIZE}px {_FONT}}}</style>",
            f'<rect width="{width:.1f}" height="{height:.1f}" rx="8" fill="{_BACK}" '
            f'stroke="{_FRAME}"/>',
            f'<text x="{width / 2:.1f}" y="20" text-anchor="middle" fill="{_FAINT}">'
            f"{escape(title)}</text>",
            *back,
            *text,
            "</svg>\n",
        ]
    )


def _words(words: str) -> str:
    """Return escaped text whose blanks a viewer keeps."""
    return escape(words.strip()).replace(" ", "\N{NO-BREAK SPACE}")


def _runs(cells: list[Char]) -> list[tuple[int, list[Char]]]:
    """Return runs of adjacent cells with the same look, each with its first column."""
    runs, column = [], 0
    for _, alike in groupby(cells, lambda cell: cell._replace(data="")):
        run = list(alike)
        runs.append((column, run))
        column += len(run)
    return runs


def _colors(cell: Char) -> tuple[str, str]:
    fore, back = _color(cell.fg, _FORE), _color(cell.bg, _BACK)
    return (back, fore) if cell.reverse else (fore, back)


def _color(name: str, default: str) -> str:
    if name == "default":
        return default
    return _ANSI.get(name.removeprefix("bright")) or f"#{name}"


def _manner(cell: Char) -> str:
    return (
        (' font-weight="bold"' if cell.bold else "")
        + (' font-style="italic"' if cell.italics else "")
        + (' text-decoration="underline"' if cell.underscore else "")
    )
