"""Tests for the shapes of calls: operands and parameters, results and roots."""

import pytest

from checks.damage import findings, related, replace_once, reports

MODULE = """\
HloModule calls, entry_computation_layout={(f32[4]{0}, s32[]{:T(128)})->(f32[4]{0}, s32[])}

%double (x: f32[4]) -> f32[4] {
  %x = f32[4]{0:S(1)} parameter(0)
  ROOT %twice = f32[4]{0} add(%x, %x)
}

%body (carried: (f32[4], s32[])) -> (f32[4], s32[]) {
  %carried = (f32[4]{0}, s32[]) parameter(0)
  %value = f32[4]{0} get-tuple-element(%carried), index=0
  %count = s32[] get-tuple-element(%carried), index=1
  %next = f32[4]{0} fusion(%value), kind=kLoop, calls=%double
  ROOT %again = (f32[4]{0}, s32[]) tuple(%next, %count)
}

%more (state: (f32[4], s32[])) -> pred[] {
  %state = (f32[4]{0}, s32[]) parameter(0)
  ROOT %go = pred[] constant(false)
}

ENTRY %main (a: f32[4], n: s32[]) -> (f32[4], s32[]) {
  %a = f32[4]{0} parameter(0)
  %n = s32[] parameter(1)
  %start = ((f32[4]{0}), f32[4]{0}, u32[]) async-start(%a), calls=%double
  %done = f32[4]{0} async-done(%start)
  %which = s32[] constant(1)
  %either = f32[4]{0} conditional(%which, %a, %done), branch_computations={%double, %double}
  %init = (f32[4]{0}, s32[]) tuple(%either, %n)
  ROOT %loop = (f32[4]{0}, s32[]) while(%init), condition=%more, body=%body
}
"""

CASES = (
    (
        "fusion(%value)", "fusion(%count)",
        "`count` is `s32[]`, but parameter 0 of `double` is `f32[4]`",
    ),
    (
        "%next = f32[4]{0} fusion", "%next = f32[5]{0} fusion",
        "the result is `f32[5]`, but `double` returns `f32[4]`",
    ),
    (
        "ROOT %go = pred[] constant(false)", "ROOT %go = s32[] constant(0)",
        "a condition is `pred[]`, but `more` returns `s32[]`",
    ),
    (
        "%state = (f32[4]{0}, s32[])", "%state = (f32[4]{0}, u32[])",
        "`loop` is `s32[]` at index {1}, but parameter 0 of `more` is `u32[]` at index {1}",
    ),
    (
        "ROOT %again = (f32[4]{0}, s32[]) tuple(%next, %count)",
        "ROOT %again = (f32[4]{0}) tuple(%next)",
        "the result is a tuple of 2 elements, but `body` returns a tuple of 1 element",
    ),
    (
        "while(%init)", "while(%start)",
        "`start` is a tuple of 3 elements, but the result is a tuple of 2 elements: a loop keeps "
        "its shape",
    ),
    (
        "conditional(%which, %a, %done)", "conditional(%which, %n, %done)",
        "`n` is `s32[]`, but parameter 0 of `double` is `f32[4]`",
    ),
    (
        "conditional(%which, %a, %done)", "conditional(%which, %a)",
        "there are 2 branches, but 1 operand after the index",
    ),
    (
        "%either = f32[4]{0}", "%either = f32[4,1]{1,0}",
        "the result is `f32[4,1]`, but `double` returns `f32[4]`",
    ),
    (
        "((f32[4]{0}), f32[4]{0}, u32[]) async-start",
        "((f32[5]{0}), f32[4]{0}, u32[]) async-start",
        "`a` is `f32[4]`, but the shape of the start has `f32[5]`",
    ),
    (
        "((f32[4]{0}), f32[4]{0}, u32[]) async-start",
        "((f32[4]{0}), f32[5]{0}, u32[]) async-start",
        "the result of the start is `f32[5]`, but `double` returns `f32[4]`",
    ),
    (
        "((f32[4]{0}), f32[4]{0}, u32[]) async-start", "((), f32[4]{0}, u32[]) async-start",
        "the shape has 0 operands, but the instruction has 1",
    ),
    (
        "%done = f32[4]{0} async-done", "%done = s32[4]{0} async-done",
        "the result is `s32[4]`, but the result of `start` is `f32[4]`",
    ),
    (
        "%x = f32[4]{0:S(1)} parameter(0)", "%x = f32[6]{0:S(1)} parameter(0)",
        "parameter 0 is `f32[6]`, but the header of `double` lists `f32[4]`",
    ),
    (
        "ROOT %twice = f32[4]{0} add(%x, %x)", "ROOT %twice = s32[4]{0} convert(%x)",
        "the root is `s32[4]`, but the header of `double` lists `f32[4]`",
    ),
    (
        "s32[]{:T(128)})->", "s32[7]{0:T(128)})->",
        "parameter 1 is `s32[]`, but the module header lists `s32[7]`",
    ),
    (
        ")->(f32[4]{0}, s32[])}", ")->f32[4]{0}}",
        "the root is a tuple of 2 elements, but the module header lists `f32[4]`",
    ),
    (
        "(f32[4]{0}, s32[]{:T(128)})->", "(f32[4]{0})->",
        "the module header lists 1 parameter, but `main` has 2",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), CASES)
def test_wrong_calls_are_reported(old: str, new: str, message: str) -> None:
    reported = reports(replace_once(MODULE, old, new))
    assert message in [sentence for _, _, sentence in reported]
    assert {code for code, _, _ in reported} == {"shape-mismatch"}


def test_operand_and_parameter_are_related() -> None:
    (found,) = findings(replace_once(MODULE, "fusion(%value)", "fusion(%count)"))
    assert related(found) == [
        ("11:   %count = »s32[]« get-tuple-element(%carried), index=1", "the shape of `count`"),
        ("4:   %x = »f32[4]{0:S(1)}« parameter(0)", "parameter 0 of `double`"),
    ]


def test_fusion_has_as_many_operands_as_parameters() -> None:
    assert reports(replace_once(MODULE, "fusion(%value)", "fusion(%value, %value)")) == [
        (
            "operand-count",
            "12:   %next = f32[4]{0} »fusion«(%value, %value), kind=kLoop, calls=%double",
            "`fusion` has 2 operands, but `double` has 1 parameter",
        )
    ]


def test_branches_by_attribute_name_are_checked() -> None:
    text = replace_once(MODULE, "%which = s32[] constant(1)", "%which = pred[] constant(true)")
    branches = "branch_computations={%double, %double}"
    text = replace_once(text, branches, "true_computation=%double, false_computation=%double")
    assert reports(text) == []
    reported = reports(replace_once(text, "%a, %done)", "%a, %n)"))
    assert [message for _, _, message in reported] == [
        "`n` is `s32[]`, but parameter 0 of `double` is `f32[4]`"
    ]


def test_start_without_operands_has_no_findings() -> None:
    """Check calls on SparseCore, which libtpu prints in this form."""
    text = replace_once(
        MODULE,
        "  %start = ((f32[4]{0}), f32[4]{0}, u32[]) async-start(%a), calls=%double\n",
        "  %early = ((), (), u32[]) async-start(), calls=%double\n"
        "  %start = ((f32[4]{0}), f32[4]{0}, u32[]) async-update(%early, %a)\n",
    )
    assert reports(text) == []


def test_header_without_signature_has_no_findings() -> None:
    """Check the computations that XLA printed up to jax 0.4."""
    text = MODULE
    for head in (
        "%double (x: f32[4]) -> f32[4]",
        "ENTRY %main (a: f32[4], n: s32[]) -> (f32[4], s32[])",
    ):
        text = replace_once(text, head, head.partition(" (")[0])
    assert reports(text) == []


def test_extracted_module_may_keep_another_entry_layout() -> None:
    """Check modules that libtpu extracts for SparseCore and that have the whole header."""
    text = replace_once(MODULE, "(f32[4]{0}, s32[]{:T(128)})->", "(f32[4]{0})->")
    assert reports(replace_once(text, "HloModule calls,", "HloModule extracted,")) == []


def test_last_computation_is_the_default_entry() -> None:
    assert reports(replace_once(MODULE, "ENTRY %main", "%main")) == []
    reported = reports(
        replace_once(MODULE, "ENTRY %main (a: f32[4], n: s32[]) -> (f32[4], s32[]) {\n", "")
    )
    assert [message for _, _, message in reported] == [
        "`a` is not in a computation: no computation header precedes it"
    ]
