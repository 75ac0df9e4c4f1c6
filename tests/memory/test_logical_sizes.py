"""The logical peak, and logical bytes at the declared peak."""

from pathlib import Path

import pytest

import marked_dump
from hlo_lsp.memory.logical_sizes import LogicalPeak, live_bytes, logical_peak_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text import disk


def _sample(corpus: Path, name: str) -> Compile:
    return Compile([DumpFile.of_text(disk.read_document(corpus / "samples" / name).text)])


@pytest.mark.parametrize(
    ("name", "peaks"),
    [
        ("sample_003.txt", LogicalPeak(13, 43_200, 5, 49_232)),
        ("sample_004.txt", LogicalPeak(12, 184_680_476, 10, 218_169_400)),
    ],
)
def test_declared_peak_of_sample_is_too_low(
    corpus_small: Path, name: str, peaks: LogicalPeak
) -> None:
    assert logical_peak_of(_sample(corpus_small, name)) == peaks


def test_first_of_equal_sums_is_the_logical_peak() -> None:
    assert logical_peak_of(marked_dump.split().dump) == LogicalPeak(5, 12_544, 4, 12_544)
    assert logical_peak_of(marked_dump.one_file().dump) == LogicalPeak(5, 12_544, 4, 12_544)


def test_without_live_ranges_there_is_no_peak() -> None:
    assert (
        logical_peak_of(marked_dump.split(marked_dump.ASSIGNMENT, marked_dump.VALUES).dump) is None
    )


def test_entries_provide_shapes_without_allocations() -> None:
    assert logical_peak_of(
        marked_dump.split(marked_dump.VALUES, marked_dump.LIVE).dump
    ) == LogicalPeak(5, 12_544, 4, 12_544)


def test_values_of_unknown_shape_are_skipped() -> None:
    assert logical_peak_of(marked_dump.split(marked_dump.LIVE).dump) == LogicalPeak(5, 0, 0, 0)


def test_live_bytes_exclude_padding() -> None:
    dump = marked_dump.split().dump
    sizes = live_bytes(dump, ["fusion{1}", "fusion{}", "fusion{2}"])
    assert sizes == [64 * 4, 2 * 8, None]


def test_live_ranges_include_both_ends() -> None:
    text = (
        "BufferAssignment:\nallocation 0: size 1024:\n"
        " value: <1 a @0> (size=512,offset=0): f32[100]{0:T(128)}\n"
        " value: <2 b @0> (size=512,offset=512): f32[10]{0:T(128)}\n"
        "HloLiveRange (max 9):\n  BufferLiveRange:\n    a{}:2-4\n    b{}:4-4\n"
    )
    assert logical_peak_of(Compile([DumpFile.of_text(text)])) == LogicalPeak(None, 0, 4, 440)
