"""Savings that are too small for advice."""

import pytest

from hlo_lsp.memory.savings import is_negligible, largest_peak_bytes
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_MIB = 1 << 20


@pytest.mark.parametrize(
    ("saved", "peak", "expected"),
    [
        (_MIB - 1, 100 * _MIB, True),
        (_MIB, 100 * _MIB, False),
        (_MIB, 101 * _MIB, True),  # a small share
        (10, 1000, True),  # small in itself
        (0, 0, False),  # the peak is unknown
    ],
)
def test_saving_is_negligible(saved: int, peak: int, expected: bool) -> None:
    assert is_negligible(saved, peak) == expected


def test_peak_without_live_ranges_is_allocated_bytes() -> None:
    text = "BufferAssignment:\nallocation 0: size 512, constant:\n"
    assert largest_peak_bytes(Compile([DumpFile.of_text(text)])) == 512
    assert largest_peak_bytes(Compile([DumpFile.of_text("HloModule m\n")])) == 0
