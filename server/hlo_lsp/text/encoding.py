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
        if self is Encoding.UTF8:
            return len(line.encode("utf-8", "surrogatepass")[:units].decode("utf-8", "ignore"))
        head = line.encode("utf-16-le", "surrogatepass")[: 2 * units]
        return len(head.decode("utf-16-le", "ignore"))

    def units(self, line: str, column: int) -> int:
        """The units in front of code point ``column`` of ``line``."""
        head = line[:column]
        if self is Encoding.UTF32 or head.isascii():
            return len(head)
        if self is Encoding.UTF8:
            return len(head.encode("utf-8", "surrogatepass"))
        return len(head.encode("utf-16-le", "surrogatepass")) // 2
