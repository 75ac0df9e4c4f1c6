"""Amounts with units as text: sizes, FLOPs, and times."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def format_bytes_as_xla(count: int) -> str:
    """Return bytes as XLA prints them: ``512B``, ``34.8KiB``, ``32.26MiB`` (tsl numbers.cc).

    XLA divides whole numbers by 1024 until the last step, so the second decimal is not rounded.
    """
    if count < 1024:
        return f"{count}B"
    unit = 0
    while count >= 1024 * 1024 and unit < len(_UNITS) - 1:
        count //= 1024
        unit += 1
    if count >= 1 << 62:  # only in damaged dumps
        return f"{count // 1024}{_UNITS[unit]}"
    return f"{count / 1024:.{2 if unit else 1}f}{_UNITS[unit]}"


def format_short_bytes(count: int) -> str:
    """Return bytes with a blank before the unit: ``4.00 MiB``."""
    text = format_bytes_as_xla(count)
    digits = text.rstrip("BKMGTPEi")
    return f"{digits} {text[len(digits) :]}"


_AMOUNT = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*(\w+)\s*$")


def _parsed(text: str, units: Mapping[str, int]) -> float | None:
    """Return the amount that a number with a unit states, None for other texts."""
    match = _AMOUNT.match(text)
    unit = None if match is None else units.get(match[2])
    return None if match is None or unit is None else float(match[1]) * unit


_SIZES = {unit: 1024**power for power, unit in enumerate(("B", *_UNITS[:4]))}


def parse_size(text: str) -> int | None:
    """Return the bytes that a size such as ``12 GiB`` states, None for other texts."""
    size = _parsed(text, _SIZES)
    return None if size is None else int(size)


def format_bytes(count: int) -> str:
    """Return bytes exactly and with a larger unit: ``4,194,304 B (4.00 MiB)``."""
    return f"{count:,} B" if count < 1024 else f"{count:,} B ({format_short_bytes(count)})"


_Number = TypeVar("_Number", int, float)


def format_signed(number: _Number, form: Callable[[_Number], str]) -> str:
    """Return a change with its sign, and its size in the form of a function."""
    return f"{'-' if number < 0 else '+'}{form(abs(number))}"


_DECIMAL_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def format_flops(count: int) -> str:
    """Return a number of FLOPs with a decimal prefix: ``90.9 GFLOP``."""
    return f"{_decimal(count)}FLOP"


def format_transcendentals(count: int) -> str:
    """Return a number of transcendental operations: ``285 M transcendentals``."""
    return f"{_decimal(count).rstrip()} transcendentals"


def _decimal(count: int) -> str:
    """Return a number with three digits, a blank, and a decimal prefix."""
    size, prefix = float(count), 0
    while size >= 999.5 and prefix < len(_DECIMAL_PREFIXES) - 1:
        size, prefix = size / 1000, prefix + 1
    return f"{size:.3g} {_DECIMAL_PREFIXES[prefix]}" if prefix else f"{count} "


_FLOPS = {f"{prefix}FLOP": 1000**power for power, prefix in enumerate(_DECIMAL_PREFIXES)}


def parse_flops(text: str) -> int | None:
    """Return the number that a text such as ``90.9 GFLOP`` states, None for other texts."""
    flops = _parsed(text, _FLOPS)
    return None if flops is None else round(flops)


PICOSECONDS = 10**12  # of a second
_TIME_UNITS = ((PICOSECONDS, "s"), (10**9, "ms"), (10**6, "µs"), (10**3, "ns"))


def format_time(picoseconds: float) -> str:
    """Return a time with three digits: ``1.53 ms``, ``63.9 µs``, ``875 ns``; ``0 ns`` for none."""
    if not picoseconds:
        return "0 ns"
    for size, unit in _TIME_UNITS:
        number = picoseconds / size
        if abs(number) >= 0.9995 or unit == "ns":
            digits = 0 if abs(number) >= 99.95 else 1 if abs(number) >= 9.995 else 2
            return f"{number:,.{digits}f} {unit}"
    raise AssertionError


def in_seconds(picoseconds: float | None) -> float | None:
    """Return a time in seconds, None if it is unknown."""
    return None if picoseconds is None else picoseconds / PICOSECONDS


# Keyboards and fonts write the micro sign (U+00B5) or the Greek letter (U+03BC).
_TIMES = {unit: size for size, unit in _TIME_UNITS} | {"us": 10**6, "\u03bcs": 10**6}


def parse_time(text: str) -> float | None:
    """Return the picoseconds that a text such as ``1.53 ms`` states, None for other texts."""
    return _parsed(text, _TIMES)
