"""Tests for the numbers of parameters."""

from checks.damage import findings, related, replace_once, reports

MODULE = """\
HloModule numbers

ENTRY %main (a: f32[4], b: f32[4], c: (s32[], s32[])) -> f32[4] {
  %b = f32[4]{0} parameter(1)
  %a = f32[4]{0} parameter(0)
  %c = (s32[], s32[]) parameter( 2 )
  ROOT %sum = f32[4]{0} add(%a, %b)
}
"""


def test_duplicate_parameter_number_is_reported() -> None:
    (found,) = findings(replace_once(MODULE, "parameter(0)", "parameter(1)"))
    assert found.code == "parameter-number"
    assert found.message == "duplicate parameter 1 in `main`, first defined on line 4"
    assert (found.place.line, found.place.start) == (4, 27)
    assert related(found) == [("4:   %b = »f32[4]{0}« parameter(1)", "the first parameter 1")]


def test_skipped_parameter_number_is_reported() -> None:
    text = replace_once(MODULE, "parameter( 2 )", "parameter(3)").replace(
        "(s32[], s32[])) ->", "(s32[], s32[]), d: (s32[], s32[])) ->"
    )
    assert reports(text) == [
        (
            "parameter-number",
            "6:   %c = (s32[], s32[]) parameter(»3«)",
            "this is parameter 3, but `main` has no parameter 2",
        )
    ]


def test_header_with_more_parameters_is_reported() -> None:
    assert reports(replace_once(MODULE, "  %c = (s32[], s32[]) parameter( 2 )\n", "")) == [
        (
            "parameter-number",
            "3: ENTRY %»main« (a: f32[4], b: f32[4], c: (s32[], s32[])) -> f32[4] {",
            "the header of `main` lists 3 parameters, but the computation has 2",
        )
    ]


def test_parameter_without_number_is_reported() -> None:
    reported = reports(replace_once(MODULE, "parameter( 2 )", "parameter()"))
    assert [(code, message) for code, _, message in reported] == [
        ("parameter-number", "`parameter` takes its number: `parameter(0)`")
    ]


def test_computation_without_parameters() -> None:
    assert (
        reports("HloModule none\n\nENTRY %main () -> f32[] {\n  ROOT %one = f32[] constant(1)\n}\n")
        == []
    )


def test_broken_line_may_be_a_parameter() -> None:
    reported = reports(
        replace_once(MODULE, "%b = f32[4]{0} parameter(1)", "%b = f32[4]{0} parameter")
    )
    assert [code for code, _, _ in reported] == ["syntax"]


def test_line_with_open_bracket_may_be_a_parameter() -> None:
    reported = reports(
        replace_once(MODULE, "%b = f32[4]{0} parameter(1)", "%b = f3([4]{0} parameter(1)")
    )
    assert [code for code, _, _ in reported] == ["syntax"]
