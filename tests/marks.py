"""Texts with marked places.

    marked = mark('''
        allocation 0: size 512, preallocated-temp:
                   ^ number
                           ^^^ size
         value: <1 add @0> (size=512,offset=0): f32[8]
                                                      ^ end
        ''')
    marked["size"]  # Mark(line=0, start=19, end=22)

The line of the closing quotes sets the indentation of the text, as in a text block of Java.
"""

import re
from dataclasses import dataclass

_MARKS = re.compile(r"\s*\^")
_MARK = re.compile(r"(\^+) ([\w.\-]+)")


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a line: line and columns from 0, in code points, the end exclusive.

    A mark after the last character of its line is empty.
    """

    line: int
    start: int
    end: int

    @property
    def position(self) -> tuple[int, int]:
        """Return the line and the first column."""
        return self.line, self.start


@dataclass(frozen=True, slots=True)
class Marked:
    """A text without its marks, and the marks by name."""

    text: str
    marks: dict[str, Mark]

    def __getitem__(self, name: str) -> Mark:
        return self.marks[name]

    @property
    def lines(self) -> list[str]:
        """Return the lines of the text; the last one is empty if the text ends in a line end."""
        return self.text.split("\n")


def mark(block: str) -> Marked:
    """Return the text and the marks of a block.

    Raises:
        ValueError: If a mark has no name or no text above it, or a name is used twice.
    """
    lines: list[str] = []
    marks: dict[str, Mark] = {}
    for line in _without_margin(block):
        if not _MARKS.match(line):
            lines.append(line)
            continue
        if _MARK.sub("", line).strip():
            raise ValueError(f"expected marks with names: {line!r}")
        for found in _MARK.finditer(line):
            name, (start, end) = found[2], found.span(1)
            length = len(lines[-1]) if lines else -1
            if start > length:
                raise ValueError(f"mark {name} is after the line: {line!r}")
            if name in marks:
                raise ValueError(f"duplicate mark {name}")
            marks[name] = Mark(len(lines) - 1, start, min(end, length))
    return Marked("\n".join(lines), marks)


def _without_margin(block: str) -> list[str]:
    first, *lines = block.split("\n")
    if first or not lines:
        return [first, *lines]
    margin = lines[-1]
    if margin.strip():
        raise ValueError("a block that starts with a line break must end with one")
    if any(line.strip() and not line.startswith(margin) for line in lines):
        raise ValueError("a line starts before the closing quotes")
    return [line.removeprefix(margin) if line.strip() else "" for line in lines]
