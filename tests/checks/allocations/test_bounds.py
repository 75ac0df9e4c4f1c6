"""Tests for offsets of values, sizes of allocations, and the total."""

from pathlib import Path

import pytest

from checks.damage import findings, found_in, related, replace_once, report_of, reports
from hlo_lsp.checks.framework.finding import Severity

LAST = "<66 copy-start.1{0} @1> (size=16384,offset="
ENTRY = """\
<{0} v.{0} @0>
 positions:
  v.{0}
 uses:
 from instruction: %v.{0} = u8[{1}]{{0}} custom-call()
"""
VALUE = " value: <{} v.{} @0> (size={},offset={}): u8[{}]{{0}}\n"


def codes(text: str) -> list[str]:
    return [code for code, _, _ in reports(text)]


def allocation_codes(
    size: int, flag: str, total: int | None, *values: tuple[int, int]
) -> list[str]:
    """Return the codes of findings in an allocation with values of these sizes and offsets."""
    lines = [VALUE.format(number, number, *each, each[0]) for number, each in enumerate(values)]
    text = f"BufferAssignment:\nallocation 0: size {size}, {flag}:\n{''.join(lines)}"
    if total is not None:
        entries = [ENTRY.format(number, each[0]) for number, each in enumerate(values)]
        text += f"\nTotal bytes used: {total} ({total}B)\n\nUsed values:\n{''.join(entries)}"
    name = "module_0001.f.cpu_after_optimizations-buffer-assignment.txt"
    return [code for code, _, _ in reports(text, name)]


def test_value_past_end_is_reported(sample: str) -> None:
    (finding,) = findings(replace_once(sample, LAST + "53248", LAST + "53249"))
    shape = "f32[64,32]{0,1:T(8,128)S(1)}"
    assert report_of(finding) == (
        "out-of-bounds",
        f"36:  value: <66 copy-start.1{{0}} @1> (size=16384,offset=»53249«): {shape}",
        "the value ends at byte 69,633 (offset 53,249 + size 16,384), past the end of "
        "allocation 15 with 69,632 B",
    )
    assert finding.severity is Severity.ERROR
    assert related(finding) == [
        (
            "35: allocation 15: size »69632«, color 1, preallocated-temp:",
            "allocation 15 ends at byte 69,632",
        )
    ]


def test_too_small_allocation_is_reported(sample: str) -> None:
    text = replace_once(sample, "allocation 15: size 69632,", "allocation 15: size 49152,")
    (finding,) = findings(text)
    assert report_of(finding) == (
        "allocation-too-small",
        "35: allocation 15: size »49152«, color 1, preallocated-temp:",
        "allocation 15 has 49,152 B, but its values need 69,632 B",
    )
    assert [message for _, message in related(finding)] == [
        "`copy-start.1{0}` ends at byte 69,632",
        "`fusion.2{}` ends at byte 49,664",
    ]


@pytest.mark.parametrize(
    ("size", "total", "expected"),
    [
        (16, 16, []),
        (15, 15, ["out-of-bounds"]),
        (15, 16, ["allocation-too-small"]),
        (15, None, ["out-of-bounds"]),
        (7, None, ["allocation-too-small"]),
        (20, 20, []),
        (20, None, []),
        (20, 16, ["allocation-slack"]),
        (20, 17, ["total-mismatch"]),
    ],
)
def test_total_decides_on_temp(size: int, total: int | None, expected: list[str]) -> None:
    assert allocation_codes(size, "preallocated-temp", total, (8, 0), (8, 8)) == expected


@pytest.mark.parametrize(
    ("size", "total", "expected"),
    [
        (8, None, []),
        (7, None, ["out-of-bounds"]),
        (7, 8, ["allocation-too-small"]),
        (7, 7, ["out-of-bounds"]),
        (9, None, ["allocation-slack"]),
        (9, 9, ["allocation-slack"]),
    ],
)
def test_constant_is_as_large_as_its_value(
    size: int, total: int | None, expected: list[str]
) -> None:
    assert allocation_codes(size, "constant", total, (8, 0)) == expected


def test_missing_value_is_no_slack(sample: str) -> None:
    line = " value: <79 fusion @0> (size=8192,offset=0): f32[16,32]{1,0:T(8,128)}\n"
    assert "allocation-slack" not in codes(replace_once(sample, line, ""))


def test_temp_without_total_has_no_fix(sample: str) -> None:
    text = sample[: sample.index("\nTotal bytes used")]
    (finding,) = findings(
        replace_once(text, "allocation 15: size 69632,", "allocation 15: size 9,")
    )
    assert (finding.code, finding.fixes) == ("allocation-too-small", ())


def test_size_mismatch_suppresses_bounds(sample: str) -> None:
    for size in (4096, 8200, 16384):
        text = replace_once(sample, "<79 fusion @0> (size=8192", f"<79 fusion @0> (size={size}")
        assert codes(text) == ["size-mismatch"]


def test_nonzero_offset_is_reported(sample: str) -> None:
    old = "<79 fusion @0> (size=8192,offset=0"
    (finding,) = findings(replace_once(sample, old, old[:-1] + "8"))
    assert report_of(finding) == (
        "nonzero-offset",
        "9:  value: <79 fusion @0> (size=8192,offset=»8«): f32[16,32]{1,0:T(8,128)}",
        "offset 8 in allocation 3: expected 0, as the allocation is not preallocated-temp",
    )
    assert related(finding)[0][0].startswith("8: allocation 3: size »8192«")


def test_wrong_total_is_reported(sample: str) -> None:
    (finding,) = findings(replace_once(sample, "used: 172580 ", "used: 172581 "))
    assert report_of(finding) == (
        "total-mismatch",
        "44: Total bytes used: »172581« (168.5KiB)",
        "total is 172,581 B, but the 16 allocations add up to 172,580 B (+1 B)",
    )
    assert related(finding) == [
        ("2: »allocation 0: size 512, thread-local:«", "the allocations add up to 172,580 B")
    ]
    assert [fix.title for fix in finding.fixes] == ["Change to `172580 (168.5KiB)`"]


def test_total_in_values_file_is_compared(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    values.write_text(replace_once(values.read_text(), "used: 2135040 ", "used: 2135039 "))
    ((name, finding),) = found_in(compiled)
    assert (name, finding.code) == ("-buffer-assignment-values.txt", "total-mismatch")
    (other,) = finding.related
    assert other.spot.path.endswith("-buffer-assignment.txt")


def test_total_beside_truncated_allocations_is_not_reported(compiled: Path) -> None:
    (assignment,) = compiled.glob("*-buffer-assignment.txt")
    text = assignment.read_text()
    last = "allocation 12: size 512, color 1, page 0, preallocated-temp:\n"
    for end in (text.index(last), text.index(last) + len(last), len(text) - 20):
        assignment.write_text(text[:end])
        found = {finding.code for _, finding in found_in(compiled)}
        assert found
        assert "total-mismatch" not in found


def test_unreadable_allocation_makes_total_unknown(sample: str) -> None:
    text = replace_once(sample, "allocation 13: size 4,", "allocation 13: sie 4,")
    assert codes(text) == ["syntax"]


def test_total_without_allocations_is_not_reported(sample: str) -> None:
    text = sample[sample.index("Total bytes used") :].replace("172580", "1")
    assert "total-mismatch" not in codes(text)
