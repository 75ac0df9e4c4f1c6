"""Tests for ``syntax`` in module texts."""

import pytest

from checks.damage import replace_once, reports

MODULE = """\
HloModule broken, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

FileNames
1 "model.py"

%scalar (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %y = f32[8]{0} negate(%x), metadata={op_name="a \\"}{\\" b"}
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, replica_groups=[2,2]<=[2,2]
}
"""
ROOT = "  ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, replica_groups=[2,2]<=[2,2]"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('1 "model.py"', '1 "model.py', '4: 1 »"model.py«', "expected string, found `\"model.py`"),
        ("%a = f32[8]{0} parameter(0)", "%a f32[8]{0} parameter(0)",
         "12:   %a »f32[8]{0} parameter(0)«", "expected `=`, found `f32[8]{0} parameter(`"),
        (ROOT, "  ROOT %b = f32[8]{0} call(%a", "13:   ROOT %b = f32[8]{0} call(»%a«",
         "expected operands and `)`, found `%a`"),
        (ROOT, "  ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, metadata={op_name=",
         "13:   ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, metadata=»{«op_name=",
         "this `{` is not closed"),
        (ROOT, '  ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, metadata={op_name="b}',
         '13:   ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, metadata={op_name=»"«b}',
         "this string is not closed"),
        (ROOT, "  ROOT %b = f32[8]{0} call(%a)), to_apply=%scalar",
         "13:   ROOT %b = f32[8]{0} call(%a)»)«, to_apply=%scalar", "unmatched `)`"),
        (ROOT, "  ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, repl",
         "13:   ROOT %b = f32[8]{0} call(%a), to_apply=%scalar, »repl«",
         "expected an attribute: `NAME=VALUE`, found `repl`"),
        (ROOT, "  ROOT %b = f32[8]{0} call(%a) to_apply=%scalar",
         "13:   ROOT %b = f32[8]{0} call(%a) »to_apply=%scalar«",
         "expected `,`, found `to_apply=%scalar`"),
        ("%x = f32[8]{0} parameter(0)", "%x = f32[8]{0T(8)} parameter(0)",
         "7:   %x = »f32[8]{0T(8)}« parameter(0)",
         "expected `:` or `,` or `}` at column 9 of the shape `f32[8]{0T(8)}`"),
        (", is_scheduled=true, ", ", is_scheduled, ",
         "1: HloModule broken, »is_scheduled«, entry_computation_layout={(f32[8]{0})->f32[8]{0}}",
         "expected an attribute: `NAME=VALUE`, found `is_scheduled`"),
        ("f32[8]{0}}\n", "f32[8]{0}\n",
         "1: HloModule broken, is_scheduled=true, entry_computation_layout=»{«"
         "(f32[8]{0})->f32[8]{0}", "this `{` is not closed"),
    ],
)  # fmt: skip
def test_unreadable_lines_are_reported(old: str, new: str, place: str, message: str) -> None:
    assert reports(replace_once(MODULE, old, new)) == [("syntax", place, message)]


def test_unclosed_computation_is_reported() -> None:
    assert reports(replace_once(MODULE, "}\n\nENTRY", "\nENTRY")) == [
        (
            "syntax",
            "6: %»scalar« (x: f32[8]) -> f32[8] {",
            "`scalar` is not closed: expected `}` after its instructions",
        )
    ]


def test_unmatched_brace_is_reported() -> None:
    assert reports(replace_once(MODULE, "}\n\nENTRY", "}\n}\n\nENTRY")) == [
        ("syntax", "10: »}«", "unmatched `}`")
    ]


def test_instruction_after_whole_computation_is_outside() -> None:
    line = (
        "%one () -> f32[8] { ROOT %k = f32[8]{0} constant({...}) }\n  %s = f32[9]{0} negate(%k)\n\n"
    )
    reported = reports(replace_once(MODULE, "ENTRY", f"{line}ENTRY"))
    assert [(code, message) for code, _, message in reported] == [
        ("syntax", "`s` is not in a computation: no computation header precedes it")
    ]


def test_lines_pasted_without_a_computation_are_accepted() -> None:
    assert reports("  %k = f32[8]{0} constant({...})\n  %s = f32[8]{0} negate(%k)\n") == []


def test_text_left_out_is_no_error() -> None:
    (reported,) = reports(
        "  f.1 = (bf16[8]{0}, ..., kind=kLoop, calls=%fused\n"
        "  g = bf16[8]{0} get-tuple-element(f.1), index=0\n"
    )
    assert reported[0] == "unknown-form"
    assert reported[2].startswith("text was left out (`...`): ")


@pytest.mark.parametrize(
    "line",
    [
        "f.1 = ... fusion(%a), kind=kLoop",
        "f.1 = (f32[8]{0}, ...) fusion(%a), kind=kLoop",
        "f.1 = f32[8]{0} fusion(%a), ..., kind=kLoop",
        "f.1 = f32[8]{0} fusion(%a, %b...",
        "f.1 = f32[8]{0} fusion(%a), kind=kLoop, …",
    ],
)
def test_dots_stand_for_text_left_out(line: str) -> None:
    (reported,) = reports(f"  {line}\n  g = f32[8]{{0}} negate(f.1)\n")
    assert reported[0] == "unknown-form"
    assert reported[2].startswith("text was left out (`...`): ")


def test_instructions_without_header_are_reported() -> None:
    reported = reports(replace_once(MODULE, "%scalar (x: f32[8]) -> f32[8] {\n", ""))
    assert [(code, message) for code, _, message in reported] == [
        ("syntax", "`x` is not in a computation: no computation header precedes it"),
        ("undefined-computation", "undefined computation `scalar`"),
    ]


def test_broken_line_without_indentation_is_reported_alone() -> None:
    reported = reports(
        replace_once(MODULE, "  %a = f32[8]{0} parameter(0)", "%a = f32[8]{0} parameter(0")
    )
    assert [code for code, _, _ in reported] == ["syntax"]


def test_comments_are_ignored() -> None:
    assert reports(replace_once(MODULE, "call(%a)", "call(/* ) */ %a) // (\n  ")) == []


def test_instruction_resembling_a_header_is_reported_alone() -> None:
    reported = reports(
        replace_once(
            MODULE,
            "  %x = f32[8]{0} parameter(0)",
            "  %z = f32[] constant(0)\n  %{x = f32[8]{0} parameter(0)",
        )
    )
    assert {code for code, _, _ in reported} == {"syntax"}
