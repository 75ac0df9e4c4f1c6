"""One-line summaries of allocations, values, and the peak."""

from pathlib import Path

import pytest

import marked_dump
from hlo_lsp.ide.hover.summaries import (
    allocation_summary,
    declared_peak_summary,
    memory_summary,
    occupied_peak_summary,
    value_summary,
)
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.text import disk

DUMP = marked_dump.split().dump


def _value(dump: Compile, value_id: int) -> str:
    value = dump.value(value_id)
    assert value is not None
    return value_summary(dump, value)


def _allocation(dump: Compile, number: int) -> str:
    allocation = dump.allocation(number)
    assert allocation is not None
    return allocation_summary(dump, allocation)


def _sample(corpus: Path, name: str) -> Compile:
    return Compile([DumpFile.of_text(disk.read_document(corpus / "samples" / name).text)])


def test_allocation_summary_counts_values_at_peak() -> None:
    assert _allocation(DUMP, 4) == "3 values, 8.5 KiB, 2 at the peak"


def test_single_value_is_not_counted_at_peak() -> None:
    assert _allocation(DUMP, 0) == "1 value, 512 B"
    assert _allocation(DUMP, 3) == "1 value, 32 B"


def test_allocation_without_values() -> None:
    text = "BufferAssignment:\nallocation 0: size 4194304, preallocated-temp:\n"
    assert _allocation(Compile([DumpFile.of_text(text)]), 0) == "0 values, 4.00 MiB"


@pytest.mark.parametrize(
    ("value_id", "summary"),
    [
        (3, "live 0-6 (6 steps): x.1 -> the end of the program"),
        (4, "live 1-3 (2 steps): fusion -> get-tuple-element.1"),
        (5, "live 1-4 (3 steps): fusion -> negate.7"),
        (6, "live 1-5 (4 steps): fusion -> fusion.2"),
        (7, "live 4-5 (1 step): negate.7 -> fusion.2"),
        (0, "thread-local, not scheduled"),
    ],
)
def test_value_summary_shows_live_range(value_id: int, summary: str) -> None:
    assert _value(DUMP, value_id) == summary
    assert _value(marked_dump.one_file().dump, value_id) == summary


def test_value_summary_without_live_ranges() -> None:
    dump = marked_dump.split(marked_dump.ASSIGNMENT, marked_dump.VALUES).dump
    assert _value(dump, 5) == "no live range"


def test_missing_step_is_shown_by_number() -> None:
    text = marked_dump.LIVE.text.replace("    4:negate.7\n", "")
    dump = Compile([DumpFile.of_text(marked_dump.ASSIGNMENT.text), DumpFile.of_text(text)])
    assert _value(dump, 5) == "live 1-4 (3 steps): fusion -> step 4"


def test_peak_shows_what_xla_declares_and_occupied_bytes(corpus_small: Path) -> None:
    dump = _sample(corpus_small, "sample_003.txt")
    assert declared_peak_summary(dump) == "declared by XLA: 42.2 KiB at step 13"
    assert occupied_peak_summary(dump) == "HBM: 64.0 KiB occupied, 64 B more at step 6"
    dump = _sample(corpus_small, "sample_004.txt")
    assert declared_peak_summary(dump) == "declared by XLA: 176.12 MiB at step 12"
    assert occupied_peak_summary(dump) == "HBM: 180.00 MiB occupied, 32 B more at step 7"


def test_peak_with_most_occupied_bytes_is_the_maximum() -> None:
    live = marked_dump.LIVE.text.replace("Live ranges at 5 (peak)", "Live ranges at 1 (peak)")
    dump = Compile([DumpFile.of_text(text) for text in (marked_dump.ASSIGNMENT.text, live)])
    assert declared_peak_summary(dump) == "declared by XLA: 8.3 KiB at step 1"
    assert occupied_peak_summary(dump) == "HBM: 16.0 KiB occupied, the maximum"


def test_memory_summary_has_peak_and_owners() -> None:
    assert memory_summary(DUMP) == (
        "HBM: 16.0 KiB of 16.5 KiB at the peak, step 1, 512 B thread-local | arguments 8.0 KiB, "
        "no Python line (fusion.2) 8.0 KiB, tuple tables 32 B"
    )
    assert memory_summary(marked_dump.split(marked_dump.ASSIGNMENT).dump) == (
        "HBM 16.0 KiB, VMEM 8.5 KiB, without 512 B thread-local"
    )


def test_memory_that_is_not_whole_is_a_lower_bound() -> None:
    larger = marked_dump.VALUES.text.replace("Total bytes used: 25632", "Total bytes used: 99999")
    texts = [marked_dump.ASSIGNMENT.text, larger]
    assert memory_summary(Compile([DumpFile.of_text(text) for text in texts])) == (
        "HBM at least 16.0 KiB, VMEM at least 8.5 KiB, without 512 B thread-local"
    )
    with_steps = Compile([DumpFile.of_text(text) for text in (*texts, marked_dump.LIVE.text)])
    assert memory_summary(with_steps).startswith("HBM: at least 16.0 KiB of 16.5 KiB at the peak")


@pytest.mark.parametrize(
    ("first_end", "summary"),
    [
        (4, "declared by XLA: 12.2 KiB at step 5, the logical peak"),
        (5, "declared by XLA: 16.2 KiB at step 5, the logical peak"),
    ],
)
def test_without_allocations_the_peak_is_logical(first_end: int, summary: str) -> None:
    live = marked_dump.LIVE.text.replace("fusion{0}:1-4", f"fusion{{0}}:1-{first_end}")
    files = [DumpFile.of_text(marked_dump.VALUES.text), DumpFile.of_text(live)]
    assert declared_peak_summary(Compile(files)) == summary


def test_logical_peak_at_another_step_is_named_so() -> None:
    live = marked_dump.LIVE.text.replace("Live ranges at 5 (peak)", "Live ranges at 1 (peak)")
    files = [DumpFile.of_text(marked_dump.VALUES.text), DumpFile.of_text(live)]
    assert declared_peak_summary(Compile(files)) == (
        "declared by XLA: 8.3 KiB at step 1 | logical peak: 12.2 KiB at step 4"
    )


def test_no_peak_summary_without_live_ranges() -> None:
    text = "HloLiveRange (max 3):\n  Live ranges at 2 (peak):\n"
    assert declared_peak_summary(Compile([DumpFile.of_text(text)])) == "no live ranges"
