"""The rules of out-of-memory messages."""

import pytest

from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.oom_lines import (
    find_header,
    is_unread_row,
    read_line,
    read_usage_row,
)
from oom_messages import NAMES, text_of
from syntax.rules import by_expression, by_lark


def test_both_readers_find_the_same_fields() -> None:
    grammar = load_grammar("out_of_memory")
    for name in NAMES:
        for line in text_of(name).split("\n"):
            text = " ".join(line.split())
            row = read_usage_row(text)
            found = find_header(line) or read_line(text) or (row and ("usage_row", row))
            if found is not None:
                rule, match = found
                assert by_expression(grammar, rule, match[0]) == by_lark(grammar, rule, match[0])


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("Used 1G. TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding "
         "available bytes: 95.74G", "cores_exceeded"),
        ("Attempting to reserve 29.49G at the bottom of memory. That was not possible. There are "
         "147.64M free, 0B reserved, and 147.64M reservable.", "free_exceeded"),
        ("Attempting to reserve 6.14G at the bottom of memory. That was not possible.",
         "free_unknown"),
        ("Attempting to reserve 90.41G at the bottom of memory. There are 88.59G free, 0B",
         "free_exceeded"),
        ("Failed to allocate request for 256.00MiB (268435456B) on device ordinal 0",
         "request_exceeded"),
        ("Failed to allocate request for 5.41GiB on device ordinal 0", "request_exceeded"),
        ("failed to allocate 154.06GiB (165425291480 bytes) from device: HIP_ERROR_OutOfMemory",
         "driver_exhausted"),
        ("Aborting compilation early because it's unlikely to have enough memory. Requires 3.84T, "
         "has 90.96G available. If", "program_exceeded"),
        ("Could not allocate 10485760 bytes in memory 0x0x0_HBM0; 4374528 bytes allocatable, "
         "14942208 bytes available", "region_exceeded"),
        ("Allocator (GPU_1_bfc) ran out of memory trying to allocate 27.93GiB (rounded to 1)",
         "allocator_exhausted"),
        ("Out of memory allocating 12 bytes.", "cpu_exhausted"),
        ("Ran out of memory in memory space vmem. It should not be possible", "space_exhausted"),
    ],
)  # fmt: skip
def test_header_is_found_in_line(line: str, rule: str) -> None:
    found = find_header(f"prefix {line} and more")
    assert found is not None
    assert found[0] == rule


def test_ordinary_line_has_no_header() -> None:
    assert find_header("step 5: 12.00G of memory in use, allocated 3 buffers") is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("arguments 1.29G", "arguments"),
        ("program unknown size", "program"),
        ("HLO temp 3.93G (97.4% utilization)", "HLO temp"),
        ("reserved(Infeed/Outfeed/Continuations) 529.00M", "reserved"),
        ("heap allocations (without fragmentation) 6.08G", "heap allocations"),
        ("Top-of-Memory reserved: 529.00M ( 554,696,704 bytes)", "Top-of-Memory reserved"),
        ("Available after request: -2.55G ( -2,735,391,744 bytes)", "Available after request"),
    ],
)
def test_row_has_name(line: str, name: str) -> None:
    row = read_usage_row(line)
    assert row is not None
    assert row["ROW"] == name


@pytest.mark.parametrize(
    ("line", "is_row"),
    [("spilled + pinned: 1.00G", True), ("Unpadded (3.81G) Padded (3.92G)", False), ("x 3", False)],
)
def test_row_of_unknown_form_is_recognized(line: str, is_row: bool) -> None:
    assert read_usage_row(line) is None or not is_row
    assert is_unread_row(line) == is_row
