"""Markdown that shows text of a dump as it is: without links, images, formulas, and HTML."""

import re
from collections.abc import Iterable

from hlo_lsp.model.display import printable, split_quoted_names

# Underscores inside words are not escaped: they are literal, and Neovim would show the backslash.
# VS Code makes formulas of dollar signs, and links of addresses without any markup.
_SPECIAL = re.compile(
    r"[\\`*<\[\]&$~]|:(?=//)|(?<=www)\.|(?<=\w)@(?=\w)|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])"
)
_BACKTICKS = re.compile(r"`+")


def markdown_text(text: str) -> str:
    """Return a text with its quoted names as code, and everything else as it is."""
    return "".join(
        markdown_code(part) if is_name else escape_markdown(part)
        for is_name, part in split_quoted_names(printable(text))
    )


def markdown_code(name: str) -> str:
    """Return a name as code."""
    if "`" not in name:
        return f"`{name}`"
    fence = "`" * (max(map(len, _BACKTICKS.findall(name))) + 1)
    return f"{fence} {name} {fence}"


def escape_markdown(text: str) -> str:
    """Return a text with backslashes before the characters that have a meaning."""
    return _SPECIAL.sub(lambda match: "".join(f"\\{sign}" for sign in match[0]), text)


def markdown_row(*cells: str) -> str:
    """Return a row of a table; the cells are Markdown."""
    escaped = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def markdown_block(lines: Iterable[str]) -> list[str]:
    """Return lines as a block of code, which none of them ends."""
    shown = [printable(line) for line in lines]
    runs = [run for line in shown for run in _BACKTICKS.findall(line)]
    fence = "`" * max(3, 0, *(len(run) + 1 for run in runs))
    return [f"{fence}text", *shown, fence]
