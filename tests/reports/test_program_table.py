"""Tests for the numbers of programs."""

import pytest

from hlo_lsp.reports.program_table import ProgramRow, row_change

_MIB = 1 << 20


@pytest.mark.parametrize(
    ("rows", "change"),
    [
        (
            [
                ProgramRow("", peak_bytes=4 * _MIB, needed_bytes=9, least_ps=2e9),
                ProgramRow("", peak_bytes=3 * _MIB, needed_bytes=8, least_ps=2e9),
            ],
            "peak 4.00 MiB -> 3.00 MiB, least time 2.00 ms",
        ),
        ([ProgramRow("", needed_bytes=_MIB)], "allocated 1.00 MiB"),
        ([ProgramRow("", peak_bytes=_MIB), ProgramRow("")], "peak 1.00 MiB -> unknown"),
        ([ProgramRow("")], ""),
    ],
)
def test_change_names_both_sides(rows: list[ProgramRow], change: str) -> None:
    assert row_change(rows) == change
