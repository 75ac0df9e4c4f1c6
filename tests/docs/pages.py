"""The code blocks and tables of the documentation pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
_BLOCK = re.compile(
    r"^```(?:\{code-block\} )?(?P<language>\w+)\n(?::caption: (?P<caption>\S+)\n\n)?"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A code block. ``caption`` is the name of the file that it shows, if any."""

    page: Path
    line: int
    language: str
    caption: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    """Yield the code blocks of a page, of some languages or of all."""
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        if not languages or found["language"] in languages:
            line = text.count("\n", 0, found.start()) + 1
            yield Block(page, line, found["language"], found["caption"], found["text"])


def table(page: Path, heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading, without the header, cell by cell."""
    lines = page.read_text("utf-8").split("\n")
    below = lines[lines.index(heading) :]
    first = next(number for number, line in enumerate(below) if line.startswith("|---"))
    rows = []
    for line in below[first + 1 :]:
        if not line.startswith("|"):
            break
        cells = re.split(r"(?<!\\)\|", line.strip("|"))
        rows.append([cell.strip() for cell in cells])
    return rows
