"""Sizes as compilers and allocators print them in messages, with units and few digits."""

import re
from dataclasses import dataclass

_SIZE = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?([KMGTPE]?)(?:i?B)?")
_UNITS = {unit: 1024**power for power, unit in enumerate(["", *"KMGTPE"])}
# XLA divides by 1024 and drops the rest before it prints two decimals (tsl numbers.cc).
_LOST_BY_DIVISION = 1 / 1024


@dataclass(frozen=True, slots=True)
class PrintedSize:
    """A size as printed, such as ``6.75G`` or ``6291456``.

    Attributes:
        bytes: The nearest number of bytes.
        error: How far the true number of bytes can be from it.
    """

    text: str
    bytes: int
    error: int

    @classmethod
    def of(cls, text: str) -> "PrintedSize | None":
        """Return the size that a text prints, or None if the text is not a size."""
        match = _SIZE.fullmatch(text)
        if match is None:
            return None
        whole, decimals, unit = match[1], match[2] or "", _UNITS[match[3]]
        count = round(int(whole + decimals) * unit / 10 ** len(decimals))
        error = 0 if unit == 1 else (0.5 / 10 ** len(decimals) + _LOST_BY_DIVISION) * unit
        return cls(text, count, round(error))

    def matches(self, count: int) -> bool:
        """Return True if XLA prints this number of bytes as the text."""
        return self.matches_within(count, 0)

    def matches_within(self, count: int, error: int) -> bool:
        """Return True if a number that can be wrong by ``error`` may be printed as the text."""
        return abs(self.bytes - count) <= self.error + error

    @classmethod
    def sum_of(cls, *texts: str) -> "PrintedSize | None":
        """Return the sum of the sizes that texts print, or None if one of them is not a size."""
        sizes = [size for size in map(cls.of, texts) if size is not None]
        if len(sizes) != len(texts):
            return None
        text = " + ".join(texts)
        return cls(text, sum(one.bytes for one in sizes), sum(one.error for one in sizes))

    def in_units(self, unit: str, unit_bytes: int) -> "PrintedSize":
        """Return the size if the printed number counts words or other units."""
        return PrintedSize(f"{self.text} {unit}", self.bytes * unit_bytes, 0)

    def without(self, part: "PrintedSize") -> "PrintedSize":
        """Return what is left of the size without a part."""
        left = max(0, self.bytes - part.bytes)
        return PrintedSize(f"{left}", left, 0)


def printed_size(text: str | None) -> PrintedSize | None:
    """Return the size that a text prints, or None if there is none."""
    return None if text is None else PrintedSize.of(text)
