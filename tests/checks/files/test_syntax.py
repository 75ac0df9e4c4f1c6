"""Tests for ``syntax``: places and expected tokens of unreadable lines."""

import pytest

from checks.damage import findings, replace_once, reports
from hlo_lsp.checks.framework.finding import Severity

# Old text, new text, place of the finding, and expected token.
LINES = {
    "the word size": (
        "allocation 15: size 69632,",
        "allocation 15: sie 69632,",
        "35: allocation 15»: sie 69632, color 1, preallocated-temp:«",
        "expected `: size `, found `: sie 69632, color 1`",
    ),
    "a value line that ends early": (
        " value: <64 Arg_2.3 @0> (size=16384,offset=0): f32[64,32]{0,1:T(8,128)}",
        " value: <64 Arg_2.3 @0> (size=163",
        "7:  value: <64 Arg_2.3 @0> (size=163»«",
        "expected `,offset=`, found the end of the line",
    ),
    "a row at the peak": (
        "(cumulative: 43136 bytes)",
        "(cumulative: 43136 byte)",
        "252:     fusion.2{}: 64 bytes (cumulative: 43136» byte)«",
        "expected ` bytes)`, found ` byte)`",
    ),
    "the total": (
        "used: 172580 (168.5KiB)",
        "used: 172580",
        "44: Total bytes used: 172580»«",
        "expected ` (`, found the end of the line",
    ),
    "a line of a log": (
        "BufferAssignment:\n",
        "BufferAssignment:\nW0000 00:00:00.0 1 service.cc:145] hello\n",
        "2: »W0000 00:00:00.0 1 service.cc:145] hello«",
        "unrecognized line in a memory dump",
    ),
}
SHAPES = {
    "a missing bracket": ("f32[64,32{0,1:T(8,128)}", "`,` or `]` at column 10"),
    "a missing colon": ("f32[64,32]{0,1T(8,128)}", "at column 15"),
    "an open layout": ("f32[64,32]{0,1:T(8,128)", "at column 24"),
    "a tuple that does not end": ("(f32[64,32]{0,1:T(8,128)}, f32[]", "at column"),
}


@pytest.mark.parametrize("what", LINES)
def test_damaged_line_is_the_only_finding(sample: str, what: str) -> None:
    old, new, place, sentence = LINES[what]
    assert reports(replace_once(sample, old, new)) == [("syntax", place, sentence)]


@pytest.mark.parametrize("what", SHAPES)
def test_damaged_shape_is_the_only_finding(sample: str, what: str) -> None:
    shape, sentence = SHAPES[what]
    start = "<64 Arg_2.3 @0> (size=16384,offset=0): "
    text = replace_once(sample, start + "f32[64,32]{0,1:T(8,128)}", start + shape)
    ((code, place, message),) = reports(text)
    assert (code, place) == ("syntax", f"7:  value: {start}»{shape}«")
    assert sentence in message


def test_missing_text_is_reported_after_the_line(sample: str) -> None:
    """Check that the range is not empty, since editors do not show empty ranges."""
    (finding,) = findings(replace_once(sample, "used: 172580 (168.5KiB)", "used: 172580"))
    assert (finding.place.start, finding.place.end) == (24, 25)


def test_syntax_error_is_an_error(sample: str) -> None:
    (finding,) = findings(replace_once(sample, "Used values:", "Used vales:"))
    assert finding.severity is Severity.ERROR
    assert finding.related == ()


@pytest.mark.parametrize("digits", [19, 400, 4000, 5000, 100_000])
def test_number_with_many_digits_is_reported(sample: str, digits: int) -> None:
    text = replace_once(sample, "offset=53248", f"offset={'9' * digits}")
    codes = [code for code, _, _ in reports(text)]
    assert codes in (["syntax"], ["out-of-bounds"])


def test_line_of_a_million_characters_is_too_long(sample: str) -> None:
    text = sample.replace("Used values:", f"Used values:\n{'x' * 1_000_001}")
    ((code, place, sentence),) = reports(text)
    assert (code, place[:5]) == ("syntax", "47: »")
    assert sentence == "line too long: 1,000,001 characters, dumps have at most 1,000,000"


@pytest.mark.parametrize(
    "head", ["BufferAssignment:", "Used values:", "  InstructionSequence:", "  BufferLiveRange:"]
)
def test_damaged_head_is_the_only_finding(sample: str, head: str) -> None:
    ((code, place, _),) = reports(replace_once(sample, f"{head}\n", f"{head[:-2]}\n"))
    assert code == "syntax"
    assert place.replace("»", "").replace("«", "").endswith(f": {head[:-2]}")


@pytest.mark.parametrize(
    ("instead", "line"),
    [
        ("HloLiveRange", "HloLiveRange not available (finalized or constructed from proto)"),
        (
            "  Live ranges at",
            "  Peak memory could not be determined due to unbounded dynamic shape.",
        ),
    ],
    ids=["no ranges", "no peak"],
)
def test_rare_lines_of_xla_are_valid(sample: str, instead: str, line: str) -> None:
    text = sample[: sample.index(instead)] + line + "\n"
    assert reports(text) == []


def test_field_of_any_version_is_known(sample: str) -> None:
    end = "preallocated-temp:\n value: <66"
    assert reports(replace_once(sample, end, f"page 12, {end}")) == []


_OF_OTHERS = {"value-set-mismatch", "live-range-unknown", "peak-list"}


TORN = """BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <0 x.1 @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 16, output shape is |f32[4]|, maybe-live-out:
 value: <1 mul @0> (size=16,offset=0): f32[4]{0}

Total bytes used: 32 (32B)

Used values:
<0 x.1 @0>
 positions:
  x.1
 uses:
  mul, operand 0
  mul, operand 1
 from instruction: %x.1 = f32[4]{0} parameter(0), metadata={op_name="x"}
<1 mul @0>
 positions:
  mul
 uses:
 from instruction: %mul = f32[4]{0} multiply(%x.1, %x.1), metadata={op_name="jit(f)/a\\nb\\tc/mul"}


HloLiveRange (max 2):
  InstructionSequence:
    0:x.1
    1:mul
  BufferLiveRange:
    x.1{}:0-2
    mul{}:1-2
  Live ranges at 1 (peak):
    mul{}: 16 bytes (cumulative: 16 bytes)
    x.1{}: 16 bytes (cumulative: 32 bytes)
  Stack trace breakdown for peak usage: 32 bytes
    main.1 (100.0%, total: 32 bytes, current: 0 bytes, remaining: 32 bytes)
      ├── jit(f)/a
b\tc/mul (50.0%, total: 16 bytes, current: 16 bytes, remaining: 16 bytes)
      └── x (50.0%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)
"""


def test_line_break_in_names_matches_stack_traces() -> None:
    assert reports(TORN) == []


def test_row_with_an_unexpected_line_break_is_unreadable() -> None:
    assert [code for code, _, _ in reports(TORN.replace("\\n", " "))] == ["syntax", "syntax"]


def test_truncated_file_has_only_its_end_unreadable(sample: str) -> None:
    for end in range(0, len(sample), 97):
        text = sample[:end]
        header, instruction = text.rfind("\n<"), text.rfind(" from instruction:")
        first = text[: header if header > instruction else text.rfind("\n")].count("\n") + 1
        for code, place, _ in reports(text):
            assert code in _OF_OTHERS or int(place.split(":")[0]) >= first, place


def test_undamaged_dumps_have_no_findings(sample: str, cpu: str, gpu: str) -> None:
    assert reports(sample) == []
    assert reports(cpu, "module_0.f.cpu_after_optimizations-buffer-assignment.txt") == []
    assert reports(gpu, "module_0.f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt") == []
