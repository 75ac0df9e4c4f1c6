"""Columns as clients count them (UTF-8, UTF-16 or UTF-32 units) and as code points."""

from enum import Enum


class Encoding(Enum):
    """A position encoding of the protocol; the value is its name there."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"

    def column(self, line: str, units: int) -> int:
        """The code point at ``units`` of ``line``; inside a character counts as its start."""
        if self is Encoding.UTF32 or line.isascii():
            return min(units, len(line))
        for column, character in enumerate(line):
            units -= self._width(ord(character))
            if units < 0:
                return column
        return len(line)

    def units(self, line: str, column: int) -> int:
        """The units in front of code point ``column`` of ``line``."""
        head = line[:column]
        if self is Encoding.UTF32 or head.isascii():
            return len(head)
        return sum(self._width(ord(character)) for character in head)

    def _width(self, point: int) -> int:
        """The units of one code point; half a surrogate pair is a character of its own."""
        if self is Encoding.UTF16:
            return 1 + (point > 0xFFFF)
        return 1 + (point > 0x7F) + (point > 0x7FF) + (point > 0xFFFF)
