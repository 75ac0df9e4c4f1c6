"""Tests for sizes as XLA prints them (tsl numbers.cc), FLOPs, and times."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumps import files_of, lines_of
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.amounts import (
    format_bytes,
    format_bytes_as_xla,
    format_flops,
    format_short_bytes,
    format_time,
    parse_flops,
    parse_time,
)

_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
_PAIR = re.compile(r"(?:Total bytes(?: used)?): (\d+) \((\S+)\)$")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0B"),
        (1023, "1023B"),
        (1024, "1.0KiB"),
        (172580, "168.5KiB"),
        (1024 * 1024 - 1, "1024.0KiB"),
        (1024 * 1024, "1.00MiB"),
        (33832484, "32.26MiB"),  # integer division, so not 32.27
        (96432326, "91.96MiB"),
        (4194304, "4.00MiB"),
        (1 << 30, "1.00GiB"),
        ((1 << 30) - 1, "1024.00MiB"),
        (5 << 40, "5.00TiB"),
        (5 << 50, "5.00PiB"),
        (5 << 60, "5.00EiB"),
        (5000 << 60, "5000.00EiB"),
    ],
)
def test_human_readable_bytes(count: int, text: str) -> None:
    assert format_bytes_as_xla(count) == text


@given(st.integers(0, 1 << 70))
def test_rounding_error_is_below_the_printed_digits(count: int) -> None:
    digits, unit = re.fullmatch(r"([\d.]+)(\w+)", format_bytes_as_xla(count)).groups()  # type: ignore[union-attr]
    scale = 1024 ** _UNITS[unit]
    assert abs(float(digits) * scale - count) <= scale * (0.06 if unit == "KiB" else 0.007)


def test_bytes_with_exact_and_short_form() -> None:
    assert format_short_bytes(512) == "512 B"
    assert format_short_bytes(4194304) == "4.00 MiB"
    assert format_bytes(512) == "512 B"
    assert format_bytes(1024) == "1,024 B (1.0 KiB)"
    assert format_bytes(4194304) == "4,194,304 B (4.00 MiB)"


@pytest.mark.corpus
def test_every_size_that_xla_printed_twice(corpus_small: Path) -> None:
    files = files_of(corpus_small, FileKind.ASSIGNMENT, FileKind.VALUES, FileKind.REPORT)
    pairs = {found.groups() for line in lines_of(files) if (found := _PAIR.match(line))}
    assert len(pairs) > 300
    assert {pair for pair in pairs if format_bytes_as_xla(int(pair[0])) != pair[1]} == set()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 FLOP"), (999, "999 FLOP"), (1_230_000, "1.23 MFLOP"), (90_900_000_000, "90.9 GFLOP")],
)
def test_flops_have_decimal_prefixes(count: int, text: str) -> None:
    assert format_flops(count) == text
    assert parse_flops(text) == count


@pytest.mark.parametrize(
    ("picoseconds", "text"),
    [(0, "0 ns"), (63_900_000, "63.9 µs"), (1_530_000_000, "1.53 ms"), (2 * 10**12, "2.00 s")],
)
def test_times_have_three_digits(picoseconds: int, text: str) -> None:
    assert format_time(picoseconds) == text
    assert parse_time(text) == pytest.approx(picoseconds)


@pytest.mark.parametrize("text", ["", "3", "ms", "3 min", "-1 ms", "1e3 ms", "3 FLOP/s"])
def test_other_texts_are_no_quantities(text: str) -> None:
    assert parse_time(text) is None
    assert parse_flops(text) is None
