"""Texts with places marked in the lines below them.

    marked = mark('''
        allocation 0: size 512, preallocated-temp:
                   ^ number
                           ^^^ size
         value: <1 add @0> (size=512,offset=0): f32[8]
                                                      ^ end
        ''')
    marked["size"]  # Mark(line=0, start=19, end=22)

As in a text block of Java, the line of the closing quotes says how far the text is indented.
"""

import re
from dataclasses import dataclass

_MARKS = re.compile(r"\s*\^")
_MARK = re.compile(r"(\^+) ([\w.\-]+)")


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a line: line and columns from 0, in code points, the end exclusive.

    A mark behind the last character of its line is empty.
    """

    line: int
    start: int
    end: int

    @property
    def position(self) -> tuple[int, int]:
        """Line and first column."""
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
        """The lines of the text; an empty one at the end if it ends in a line end."""
        return self.text.split("\n")


def mark(block: str) -> Marked:
    """The text of a block and what is marked in it.

    Raises:
        ValueError: a mark has no name or no text above it, or a name is used twice.
    """
    lines: list[str] = []
    marks: dict[str, Mark] = {}
    for line in _without_margin(block):
        if not _MARKS.match(line):
            lines.append(line)
            continue
        if _MARK.sub("", line).strip():
            raise ValueError(f"only marks with names may stand here: {line!r}")
        for found in _MARK.finditer(line):
            name, (start, end) = found[2], found.span(1)
            length = len(lines[-1]) if lines else -1
            if start > length:
                raise ValueError(f"{name} marks nothing: {line!r}")
            if name in marks:
                raise ValueError(f"{name} is marked twice")
            marks[name] = Mark(len(lines) - 1, start, min(end, length))
    return Marked("\n".join(lines), marks)


def _without_margin(block: str) -> list[str]:
    first, *lines = block.split("\n")
    if first or not lines:
        return [first, *lines]
    margin = lines[-1]
    if margin.strip():
        raise ValueError("a block that begins with a new line ends with one")
    if any(line.strip() and not line.startswith(margin) for line in lines):
        raise ValueError("a line stands left of the closing quotes")
    return [line.removeprefix(margin) if line.strip() else "" for line in lines]
