"""Texts with lines by their beginnings and columns in code points."""

import re
from dataclasses import dataclass

from lsprotocol import types

from hlo_lsp.background_jobs import cached_property

_BREAK = re.compile(r"\r\n|\n|\r")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@dataclass(frozen=True)
class Text:
    """A text, and the position encoding of the connection."""

    whole: str
    encoding: str

    @cached_property
    def lines(self) -> list[str]:
        return _BREAK.split(self.whole)

    def find(self, part: str) -> tuple[int, int]:
        """Return the line and column of the first occurrence of a part of a line."""
        for number, line in enumerate(self.lines):
            if part in line:
                return number, line.index(part)
        raise AssertionError(f"no line holds {part!r}")

    def position(self, line: int, column: int) -> types.Position:
        """Return a position in the units of the protocol."""
        head = self.lines[line][:column]
        codec, size = _UNITS[self.encoding]
        return types.Position(line, len(head.encode(codec)) // size)

    def column(self, position: types.Position) -> int:
        """Return the column, in code points, of a position of the protocol."""
        codec, size = _UNITS[self.encoding]
        data = self.lines[position.line].encode(codec)
        assert position.character * size <= len(data)
        return len(data[: position.character * size].decode(codec))

    def with_edit(self, start: tuple[int, int], end: tuple[int, int], new: str) -> "Text":
        """Return the text after an edit."""
        first, last = (self._offset(*position) for position in (start, end))
        return Text(self.whole[:first] + new + self.whole[last:], self.encoding)

    def _offset(self, line: int, column: int) -> int:
        starts = [0, *(found.end() for found in _BREAK.finditer(self.whole))]
        return starts[line] + column
