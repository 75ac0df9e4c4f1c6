"""The text of one file as a list of lines that edits change in place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import Any

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class LineChange:
    """The lines that an edit replaced: ``old_count`` lines from ``first`` became ``new_count``."""

    first: int
    old_count: int
    new_count: int

    def then(self, later: "LineChange") -> "LineChange":
        """Return one change that covers this one and a ``later`` one in the new lines."""
        first = min(self.first, later.first)
        end = max(self.first + self.new_count, later.first + later.old_count)
        grown = self.new_count - self.old_count
        return LineChange(
            first, end - first - grown, end - first + later.new_count - later.old_count
        )


class Document:
    r"""The lines of a text without line ends, split at ``\n``, ``\r\n`` and ``\r`` only.

    The protocol defines these three line ends; ``str.splitlines`` accepts more, which would shift
    every line below a form feed. A document has at least one line.
    """

    __slots__ = ("_ends", "lines")

    def __init__(self, text: str = "") -> None:
        self.lines: list[str]
        # The end of every line but the last; None if all ends are "\n", as in all real dumps.
        self._ends: list[str] | None
        self.lines, self._ends = _split(text)

    __hash__ = None  # type: ignore[assignment]  # documents change

    def __eq__(self, other: object) -> bool:
        """Return whether two documents have the same lines and line ends."""
        if not isinstance(other, Document):
            return NotImplemented
        return self._ends == other._ends and self.lines == other.lines

    @classmethod
    def from_lines(cls, lines: list[str]) -> "Document":
        r"""Return a document of these lines (not copied), each ended by ``\n``."""
        document = cls()
        document.lines = lines or [""]
        return document

    def copy(self) -> "Document":
        """Return an independent copy."""
        document = Document.from_lines(self.lines.copy())
        document._ends = None if self._ends is None else self._ends.copy()
        return document

    @property
    def text(self) -> str:
        """The whole text, joined at every access."""
        if self._ends is None:
            return "\n".join(self.lines)
        return "".join(line + end for line, end in zip(self.lines, [*self._ends, ""], strict=True))

    def replace(self, text: str) -> LineChange:
        """Replace the whole text."""
        old_count = len(self.lines)
        self.lines, self._ends = _split(text)
        return LineChange(0, old_count, len(self.lines))

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str) -> LineChange:
        """Replace the text between two (line, code point) positions, given in order.

        Positions after the end of a line or of the text mean that end, as the protocol defines.
        """
        start_line, start_column = self.clamp(*start)
        end_line, end_column = max((start_line, start_column), self.clamp(*end))
        head = self.lines[start_line][:start_column]
        tail = self.lines[end_line][end_column:]
        joined = head + text + tail
        first, last = self._include_adjacent_lines(start_line, end_line, joined)
        if first < start_line:
            joined = self.lines[first] + self._line_end(first) + joined
        if last > end_line:
            joined = joined + self._line_end(end_line) + self.lines[last]
        lines, ends = _split(joined)
        if ends is not None and self._ends is None:
            self._ends = ["\n"] * (len(self.lines) - 1)
        if self._ends is not None:
            self._ends[first:last] = ends if ends is not None else ["\n"] * (len(lines) - 1)
        self.lines[first : last + 1] = lines
        return LineChange(first, last + 1 - first, len(lines))

    def clamp(self, line: int, column: int) -> tuple[int, int]:
        """Return the nearest position that exists."""
        if line < 0:
            return 0, 0
        if line >= len(self.lines):
            return len(self.lines) - 1, len(self.lines[-1])
        return line, min(max(column, 0), len(self.lines[line]))

    def _line_end(self, line: int) -> str:
        return "\n" if self._ends is None else self._ends[line]

    def _include_adjacent_lines(self, first: int, last: int, joined: str) -> tuple[int, int]:
        r"""Add a line on either side if an edit may join ``\r`` and ``\n`` to one line end."""
        if self._ends is None and "\r" not in joined:
            return first, last
        return max(0, first - 1), min(len(self.lines) - 1, last + 1)


def _split(text: str) -> tuple[list[str], list[str] | None]:
    if "\r" not in text:
        return text.split("\n"), None
    return _LINE_BREAK.split(text), _LINE_BREAK.findall(text)


def common_prefix_length(one: Sequence[Any], other: Sequence[Any], *sizes: int) -> int:
    """Return the number of equal items at the start.

    They are compared in pieces of these ``sizes``, which is fast; the last size is that of a unit.
    """
    at, end = 0, min(len(one), len(other))
    for size in sizes:
        while at + size <= end and one[at : at + size] == other[at : at + size]:
            at += size
    return at


def changed_parts(old: Sequence[Any], new: Sequence[Any], *sizes: int) -> tuple[int, int, int]:
    """Return the start of the part in which two sequences differ, and its end in each of them.

    For ``sizes`` see :func:`common_prefix_length`.
    """
    start = common_prefix_length(old, new, *sizes)
    same = common_prefix_length(old[start:][::-1], new[start:][::-1], *sizes)
    return start, len(old) - same, len(new) - same


class Encoding(Enum):
    """A position encoding of the protocol; the value is its name there."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"

    def column(self, line: str, units: int) -> int:
        """Return the code point at ``units`` of ``line``; inside a character means its start."""
        if self is Encoding.UTF32 or line.isascii():
            return min(units, len(line))
        for column, character in enumerate(line):
            units -= self._units_of(ord(character))
            if units < 0:
                return column
        return len(line)

    def units(self, line: str, column: int) -> int:
        """Return the number of units before code point ``column`` of ``line``."""
        head = line[:column]
        if self is Encoding.UTF32 or head.isascii():
            return len(head)
        return sum(self._units_of(ord(character)) for character in head)

    def _units_of(self, point: int) -> int:
        """Return the units of one code point; a lone surrogate counts as a character."""
        if self is Encoding.UTF16:
            return 1 + (point > 0xFFFF)
        return 1 + (point > 0x7F) + (point > 0x7FF) + (point > 0xFFFF)


_MAX_COMPARED_LINES = 10_000  # between the first and the last difference; about 0.1 s


def moved_lines(before: Sequence[str], after: Sequence[str]) -> list[int | None]:
    """Return the number of each line of a text in another version of the text.

    Lines that were changed in place keep their place. Lines that were deleted, and changed lines
    where the number of lines changed, too, have None.
    """
    start, old_end, new_end = changed_parts(before, after, 1)
    found: list[int | None] = [*range(start)]
    inner = before[start:old_end], after[start:new_end]
    if not all(inner) or max(map(len, inner)) > _MAX_COMPARED_LINES:
        found += _in_place(0, len(inner[0]), start, start + len(inner[1]))
    else:
        matcher = SequenceMatcher(None, *inner)
        for _, old_first, old_last, new_first, new_last in matcher.get_opcodes():
            found += _in_place(old_first, old_last, start + new_first, start + new_last)
    return [*found, *range(new_end, len(after))]


def _in_place(old_start: int, old_end: int, new_start: int, new_end: int) -> Sequence[int | None]:
    if old_end - old_start == new_end - new_start:
        return range(new_start, new_end)
    return [None] * (old_end - old_start)
