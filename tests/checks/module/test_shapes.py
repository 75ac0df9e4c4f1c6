"""Tests for result shapes of instructions, which follow from the operands."""

import pytest

from checks.damage import findings, related, reports

HEAD = """\
HloModule shapes

ENTRY %main {
  %a = f32[8,4]{1,0} parameter(0)
  %b = bf16[8,4]{0,1:T(8,128)(2,1)S(1)} parameter(1)
  %i = s32[8,4]{1,0} parameter(2)
  %p = pred[8,4]{1,0} parameter(3)
  %s = f32[] constant(0)
  %q = pred[] constant(true)
  %z = c64[8,4]{1,0} parameter(4)
  %d = f32[<=8,4]{1,0} parameter(5)
  %n = f32[4,8]{1,0} parameter(6)
  %t = (f32[8,4]{1,0}, (s32[], token[])) parameter(7)
  %copying = (f32[8,4]{1,0:S(1)}, f32[8,4]{1,0}, u32[]{:S(2)}) copy-start(%a)
"""


def module(line: str) -> str:
    return f"{HEAD}  ROOT %r = {line}\n}}\n"


LEGAL = (
    "f32[8,4]{0,1} add(%a, %a)",
    "bf16[8,4] maximum(%a, %b)",  # libtpu mixes precisions.
    "f32[8,4] add(%a, %d)",  # A dynamic dimension matches its bound.
    "f32[8,4] convert(%i)",
    "pred[8,4] compare(%a, %b), direction=LT",
    "f32[8,4] select(%p, %a, %b)",
    "f32[8,4] select(%q, %a, %a)",
    "f32[8,4] clamp(%s, %a, %s)",
    "f32[8,4] clamp(%a, %a, %b)",
    "f32[8,4] abs(%z)",
    "f32[8,4] real(%z)",
    "c64[8,4] complex(%a, %a)",
    "pred[8,4] is-finite(%a)",
    "bf16[8,4] copy(%a)",
    "f32[4,8] bitcast(%a)",
    "(f32[8,4]{1,0}, /*index=1*/s32[8,4]) tuple(%a, %i)",
    "() tuple()",
    "f32[8,4]{0,1} get-tuple-element(%t), index=0",
    "(s32[], token[]) get-tuple-element(%t), index=1",
    "f32[8,4]{1,0:S(1)} copy-done(%copying)",
    "f32[8,4] opt-barrier(%a)",
    "add(%a, %i)",  # no shape is printed: nothing to compare
    "f32[8,4] add(f32[8,4] negate(%a), %a)",  # inline operand
    "f32[?,4] add(%a, %a)",
)


@pytest.mark.parametrize("line", LEGAL)
def test_legal_shapes_have_no_findings(line: str) -> None:
    assert reports(module(line)) == []


WRONG = (
    ("f32[8,5] add(%a, %a)",
     "`a` is `f32[8,4]`, but the result is `f32[8,5]`: `add` keeps the shape"),
    ("f32[8,4] add(%a, %n)",
     "`n` is `f32[4,8]`, but the result is `f32[8,4]`: `add` keeps the shape"),
    ("f32[8,4] add(%a, %i)",
     "`i` is `s32[8,4]`, but the result is `f32[8,4]`: `add` keeps the shape"),
    ("f32[8,4] add(%a, %s)", "`s` is `f32[]`, but the result is `f32[8,4]`: `add` keeps the shape"),
    ("f32[8,4] add(%a, %t)",
     "`t` is a tuple of 2 elements, but the result is `f32[8,4]`: `add` keeps the shape"),
    ("f32[8,4] add(%a, %z)",
     "`z` is `c64[8,4]`, but the result is `f32[8,4]`: `add` keeps the shape"),
    ("f32[8,5] convert(%i)",
     "`i` is `s32[8,4]`, but the result is `f32[8,5]`: `convert` keeps the dimensions"),
    ("f32[8,4] compare(%a, %a), direction=LT", "`compare` returns `pred`, not `f32[8,4]`"),
    ("pred[8,4] compare(%a, %i), direction=LT",
     "`i` is `s32[8,4]`, but `a` is `f32[8,4]`: both sides have one type"),
    ("f32[8,4] select(%a, %a, %a)", "`a` is `f32[8,4]`; `select` needs `pred`"),
    ("f32[8,4] select(%p, %a, %i)",
     "`i` is `s32[8,4]`, but the result is `f32[8,4]`: `select` keeps the shape"),
    ("f32[8,4] clamp(%s, %n, %s)",
     "`n` is `f32[4,8]`, but the result is `f32[8,4]`: `clamp` keeps the shape"),
    ("f32[8,4] opt-barrier(%n)",
     "`n` is `f32[4,8]`, but the result is `f32[8,4]`: `opt-barrier` keeps the shape of its "
     "operand"),
    ("(f32[8,4], s32[8,4]) tuple(%a)",
     "the shape is a tuple of 2 elements, but `tuple` has 1 operand"),
    ("f32[8,4] tuple(%a)", "the shape is `f32[8,4]`, but `tuple` has 1 operand"),
    ("(f32[8,4], s32[8]) tuple(%a, %i)",
     "`i` is `s32[8,4]`, but element 1 of the tuple is `s32[8]`"),
    ("((f32[8,4], (s32[], f32[]))) tuple(%t)",
     "`t` is `token[]` at index {1,1}, but element 0 of the tuple is `f32[]` at index {1,1}"),
    ("f32[8] get-tuple-element(%t), index=0",
     "the result is `f32[8]`, but element 0 of `t` is `f32[8,4]`"),
    ("f32[8,4] get-tuple-element(%t), index=2", "no element 2: `t` is a tuple of 2 elements"),
    ("f32[8,4] get-tuple-element(%a), index=0", "`a` is `f32[8,4]`, not a tuple"),
    ("f32[8] copy-done(%copying)",
     "the result is `f32[8]`, but element 0 of `copying` is `f32[8,4]`"),
    ("(f32[8], f32[8,4], u32[]) copy-start(%a)",
     "`a` is `f32[8,4]`, but element 0 of the result is `f32[8]`"),
)  # fmt: skip


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_wrong_shapes_are_reported(line: str, message: str) -> None:
    reported = reports(module(line))
    assert [code for code, _, _ in reported] == ["shape-mismatch"] * len(reported)
    assert {sentence for _, _, sentence in reported} == {message}


def test_done_has_the_shape_in_its_start() -> None:
    start = "%start = (f32[8,4]{1,0}, f32[16,4]{1,0}) all-gather-start(%a), dimensions={0}"
    reported = reports(module(f"f32[8] all-gather-done(%start)\n  {start}"))
    assert {sentence for code, _, sentence in reported if code == "shape-mismatch"} == {
        "the result is `f32[8]`, but element 1 of `start` is `f32[16,4]`"
    }


def test_finding_is_at_the_operand_with_both_shapes() -> None:
    (found,) = findings(module("f32[8,4]{1,0} add(%a, f32[4,8]{1,0} %n)"))
    assert reports(module("f32[8,4]{1,0} add(%a, f32[4,8]{1,0} %n)"))[0][1] == (
        "15:   ROOT %r = f32[8,4]{1,0} add(%a, f32[4,8]{1,0} %»n«)"
    )
    assert related(found) == [
        ("12:   %n = »f32[4,8]{1,0}« parameter(6)", "the shape of `n`"),
        ("15:   ROOT %r = »f32[8,4]{1,0}« add(%a, f32[4,8]{1,0} %n)", "the shape of the result"),
    ]


def test_finding_is_on_the_line_of_the_operand() -> None:
    reported = reports(module("f32[8,4]{1,0} add(\n    %a,\n    %n)"))
    assert [place for _, place, _ in reported] == ["17:     %»n«)"]


def test_comparison_of_three_operands_is_reported() -> None:
    text = module("pred[8,4] compare(%a, %unknown, %a), direction=LT")
    found = {finding.code for finding in findings(text)}
    assert found == {"operand-count", "undefined-instruction"}


def test_invalid_shape_is_reported_once() -> None:
    reported = reports(module("f32[8,4 add(%a, %n)"))
    assert [code for code, _, _ in reported] == ["syntax"]


def test_equal_instructions_are_checked_by_the_shapes_of_their_operands() -> None:
    line = "f32[8,4]{1,0} add(%a, %"
    lines = [line + "a)", line + "n)", line + "a)", line + "n)", line + "x)"]
    body = "".join(f"  %r.{number} = {text}\n" for number, text in enumerate(lines))
    found = [(code, place.split(":")[0]) for code, place, _ in reports(f"{HEAD}{body}}}\n")]
    wrong = ["shape-mismatch", "shape-mismatch", "undefined-instruction"]
    assert found == list(zip(wrong, ["16", "18", "19"], strict=True))
