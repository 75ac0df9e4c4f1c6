"""Tests for ``size-mismatch`` and ``human-size``."""

from pathlib import Path

import pytest

from checks.damage import findings, found_in, related, replace_once, report_of, reports
from hlo_lsp.checks.framework.finding import Severity

CPU = "module_0029.jit_i4.cpu_after_optimizations-buffer-assignment.txt"
GPU = "module_5976.jit_i4.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"


def test_size_of_tiled_array_is_reported(sample: str) -> None:
    text = replace_once(sample, "<69 Arg_1.2 @0> (size=32768", "<69 Arg_1.2 @0> (size=16384")
    (finding,) = findings(text)
    assert report_of(finding) == (
        "size-mismatch",
        "5:  value: <69 Arg_1.2 @0> (size=»16384«,offset=0): f32[64,64]{1,0:T(8,128)}",
        "size is 16,384 B, but the shape takes 32,768 B: padded to T(8,128); "
        "dim 1: 64 -> 128 by T(8,128)",
    )
    assert finding.severity is Severity.ERROR
    assert related(finding) == [
        (
            "5:  value: <69 Arg_1.2 @0> (size=16384,offset=0): »f32[64,64]{1,0:T(8,128)}«",
            "this shape takes 32,768 B (32.0 KiB)",
        )
    ]


def test_semaphore_size_is_four_bytes(sample: str) -> None:
    text = replace_once(
        sample, "<67 copy-start.1{2} @2> (size=4", "<67 copy-start.1{2} @2> (size=2"
    )
    assert reports(text) == [
        (
            "size-mismatch",
            "29:  value: <67 copy-start.1{2} @2> (size=»2«,offset=0): u32[]{:S(2)}",
            "size is 2 B, but the shape takes 4 B: a 4-byte semaphore for every element",
        )
    ]


@pytest.mark.parametrize("path", [CPU, GPU])
def test_cpu_and_gpu_do_not_pad(cpu: str, gpu: str, path: str) -> None:
    text, backend = (cpu, "CPU") if path == CPU else (gpu, "GPU")
    text = replace_once(text, "(size=68,offset=0)", "(size=64,offset=0)")
    text = replace_once(text, "(size=16,offset=0)", "(size=8,offset=0)")
    text = replace_once(text, "(size=9600,offset=0)", "(size=9599,offset=0)")
    assert [(place.split("): ")[1], sentence) for _, place, sentence in reports(text, path)] == [
        (
            "s4[64,300]{1,0:E(4)}",
            f"size is 9,599 B, but the shape takes 9,600 B: {backend} does not pad",
        ),
        ("s32[17]{0}", f"size is 64 B, but the shape takes 68 B: {backend} does not pad"),
        (
            "(s4[64,300]{1,0:E(4)}, u4[17]{0:E(4)})",
            "size is 8 B, but the shape takes 16 B: a table of 8-byte pointers",
        ),
    ]
    fixes = [fix.title for finding in findings(text, path) for fix in finding.fixes]
    assert fixes == ["Change to `9600`", "Change to `68`", "Change to `16`"]


def test_tuple_size_of_unknown_backend_has_no_fix(cpu: str) -> None:
    text = replace_once(cpu, "(size=68,offset=0)", "(size=64,offset=0)")
    assert "size-mismatch" not in [code for code, _, _ in reports(text)]
    (finding,) = findings(replace_once(cpu, "(size=16,offset=0)", "(size=12,offset=0)"))
    assert finding.code == "size-mismatch"
    assert finding.fixes == ()


def test_unknown_layouts_are_not_reported(sample: str) -> None:
    for layout in ("{0,1:T(8,128)Q(7)}", "{0,1:T(8,128)Zap(1,2)}"):
        text = replace_once(
            sample,
            "(size=16384,offset=0): f32[64,32]{0,1:T(8,128)}",
            f"(size=999,offset=0): f32[64,32]{layout}",
        )
        assert [code for code, _, _ in reports(text)] == ["unknown-form"]
    text = replace_once(
        sample, ",offset=0): f32[64,32]{0,1:T(8,128)}", ",offset=0): q7[64,32]{0,1}"
    )
    assert "size-mismatch" not in [code for code, _, _ in reports(text)]


def test_rounded_total_is_reported(sample: str) -> None:
    assert reports(replace_once(sample, "(168.5KiB)", "(168.6KiB)")) == [
        (
            "human-size",
            "44: Total bytes used: 172580 (»168.6KiB«)",
            "172,580 B are `168.5KiB`, not `168.6KiB`",
        )
    ]


def test_wrong_total_suppresses_rounded_total(sample: str) -> None:
    text = replace_once(sample, "used: 172580 ", "used: 272580 ")
    assert [code for code, _, _ in reports(text)] == ["total-mismatch"]


@pytest.mark.parametrize(
    ("new", "code"),
    [("bytes: 512 (512KiB)", "human-size"), ("bytes: 513 (512B)", "report-mismatch")],
)
def test_rounded_total_of_memory_space_is_reported(compiled: Path, new: str, code: str) -> None:
    (report,) = compiled.glob("*-report.txt")
    report.write_text(replace_once(report.read_text(), "bytes: 512 (512B)", new))
    assert [finding.code for _, finding in found_in(compiled)] == [code]


def test_only_last_step_is_rounded(sample: str) -> None:
    """Check 33832484 bytes: XLA drops the remainder of the first division and prints 32.26 MiB."""
    text = sample[sample.index("Total bytes used") :]
    text = replace_once(text, "172580 (168.5KiB)", "33832484 (32.26MiB)")
    assert "human-size" not in [code for code, _, _ in reports(text)]
    assert "human-size" in [code for code, _, _ in reports(text.replace("32.26MiB", "32.27MiB"))]
