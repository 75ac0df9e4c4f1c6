"""Tests for undefined, duplicate, and late definitions in module text."""

import pytest

from checks.damage import findings, related, replace_once, reports
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

MODULE = """\
HloModule names

%double (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %twice = f32[4]{0} add(%x, %x)
}

ENTRY %main (a: f32[4], b: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %sum = f32[4]{0} add(%a, %b)
  %late = f32[4]{0} negate(%b), control-predecessors={%sum}
  ROOT %call = f32[4]{0} fusion(%late), kind=kLoop, calls=%double
}
"""


def test_undefined_operand_is_reported() -> None:
    assert reports(replace_once(MODULE, "add(%a, %b)", "add(%a, %c)")) == [
        (
            "undefined-instruction",
            "11:   %sum = f32[4]{0} add(%a, %»c«)",
            "undefined instruction `c` in `main`",
        )
    ]


def test_operand_of_inline_instruction_is_checked() -> None:
    assert reports(replace_once(MODULE, "add(%a, %b)", "add(%a, negate(%b))")) == []
    assert reports(replace_once(MODULE, "add(%a, %b)", "add(%a, f32[4] negate(%c))")) == [
        (
            "undefined-instruction",
            "11:   %sum = f32[4]{0} add(%a, f32[4] negate(%»c«))",
            "undefined instruction `c` in `main`",
        )
    ]


def test_operand_of_another_computation_is_related() -> None:
    (found,) = findings(replace_once(MODULE, "add(%a, %b)", "add(%a, %x)"))
    assert found.message == "undefined instruction `x` in `main`"
    assert related(found) == [
        ("4:   %»x« = f32[4]{0} parameter(0)", "an instruction of this name is in `double`")
    ]


def test_undefined_control_predecessor_is_reported() -> None:
    assert reports(replace_once(MODULE, "{%sum}", "{%sun}")) == [
        (
            "undefined-instruction",
            "12:   %late = f32[4]{0} negate(%b), control-predecessors={%»sun«}",
            "undefined instruction `sun` in `main`",
        )
    ]


def test_computations_may_share_instruction_names() -> None:
    text = MODULE.replace("%twice", "%sum").replace("(x: f32[4]", "(a: f32[4]")
    assert reports(text.replace("%x", "%a")) == []


def test_users_of_a_broken_line_are_not_reported() -> None:
    for broken in (
        "%sum = f32[4]{0} add(%a",
        "%sum =",
        "%sum f32[4]{0} add(%a, %b)",
    ):
        codes = [
            code
            for code, _, _ in reports(replace_once(MODULE, "%sum = f32[4]{0} add(%a, %b)", broken))
        ]
        assert codes == ["syntax"], broken


def test_lines_after_broken_header_are_not_reported() -> None:
    text = replace_once(MODULE, "%double (x: f32[4]) -> f32[4] {", "%double (x: f32[4]) -> f32[4")
    assert [code for code, _, _ in reports(text)] == ["syntax"]


def test_operand_defined_later_is_reported() -> None:
    text = replace_once(MODULE, "add(%a, %b)", "add(%a, %late)").replace(
        ", control-predecessors={%sum}", ""
    )
    (found,) = findings(text)
    assert found.code == "use-before-definition"
    assert found.message == "`late` is used on line 11, but defined only on line 12"
    assert related(found) == [("12:   %»late« = f32[4]{0} negate(%b)", "`late` is defined here")]


def test_two_instructions_on_one_line_are_in_order() -> None:
    body = "%f { %x = f32[] parameter(0)  ROOT %y = f32[] negate(%x) }"
    assert reports(f"HloModule one\n\n{body}\n") == []
    body = "%f { ROOT %y = f32[] negate(%x)  %x = f32[] parameter(0) }"
    assert [code for code, _, _ in reports(f"HloModule one\n\n{body}\n")] == [
        "use-before-definition"
    ]


def test_undefined_computation_is_reported() -> None:
    assert reports(replace_once(MODULE, "calls=%double", "calls=%triple")) == [
        (
            "undefined-computation",
            "13:   ROOT %call = f32[4]{0} fusion(%late), kind=kLoop, calls=%»triple«",
            "undefined computation `triple`",
        )
    ]


def test_callees_of_a_triton_kernel_are_ignored() -> None:
    """Check the text of a Triton kernel, which contains only one computation."""
    assert (
        reports(
            """\
%triton_softmax (param: f32[8,256]) -> f32[256] {
  %param = f32[8,256]{1,0} parameter(0)
  %constant = f32[] constant(0)
  ROOT %reduce = f32[256]{0} reduce(%param, %constant), dimensions={0}, to_apply=%region_1.25
}
"""
        )
        == []
    )


def test_computation_defined_after_caller_is_reported() -> None:
    header, double, entry = MODULE.split("\n\n")
    (found,) = findings("\n\n".join([header, entry.rstrip("\n"), double]) + "\n")
    assert found.code == "use-before-definition"
    assert found.message == "computation `double` is called on line 8, but defined only on line 11"
    assert related(found) == [("11: %»double« (x: f32[4]) -> f32[4] {", "`double` is defined here")]


def test_recursive_computation_is_reported() -> None:
    text = replace_once(
        MODULE, "%twice = f32[4]{0} add(%x, %x)", "%twice = f32[4]{0} call(%x), to_apply=%double"
    )
    assert [(code, message) for code, _, message in reports(text)] == [
        ("use-before-definition", "`double` calls itself")
    ]


def test_duplicate_instruction_is_reported() -> None:
    (found,) = findings(
        replace_once(
            MODULE,
            "%b = f32[4]{0} parameter(1)",
            "%b = f32[4]{0} parameter(1)\n  %b = f32[4]{0} negate(%a)",
        )
    )
    assert found.code == "duplicate-name"
    assert found.message == "duplicate instruction `b` in `main`, first defined on line 10"
    assert found.place.line == 10
    assert related(found) == [("10:   %»b« = f32[4]{0} parameter(1)", "the first `b`")]


def test_duplicate_computation_is_reported() -> None:
    header, double, entry = MODULE.split("\n\n")
    (found,) = findings("\n\n".join([header, double, double, entry]))
    assert found.code == "duplicate-name"
    assert found.message == "duplicate computation `double`, first defined on line 3"
    assert related(found) == [("3: %»double« (x: f32[4]) -> f32[4] {", "the first `double`")]


INLINE = """\
HloModule inline

ENTRY main {
  a = f32[4]{0} parameter(0)
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(a, zero), dimensions={0}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] add(a, b)
  }
}
"""


def test_inline_computations_are_checked() -> None:
    assert reports(INLINE) == []
    assert reports(replace_once(INLINE, "add(a, b)", "add(a, zero)")) == [
        (
            "undefined-instruction",
            "9:     ROOT c = f32[] add(a, »zero«)",
            "undefined instruction `zero` in `sum.to_apply`",
        )
    ]
    assert reports(replace_once(INLINE, "b = f32[] parameter(1)", "a = f32[] parameter(1)"))[0] == (
        "duplicate-name",
        "8:     »a« = f32[] parameter(1)",
        "duplicate instruction `a` in `sum.to_apply`, first defined on line 7",
    )


ELEMENTS = """\
HloModule elements

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %s = (f32[4]{0}, f32[4]{0}) custom-call(%a), custom_call_target="f"
  ROOT %r = f32[4]{0} add(%s#0, s#1), control-predecessors={%s}
}
"""


def test_elements_of_tuples_are_defined() -> None:
    assert reports(ELEMENTS) == []


def test_element_of_undefined_tuple_is_reported() -> None:
    assert reports(replace_once(ELEMENTS, "%s#0", "%t#0")) == [
        (
            "undefined-instruction",
            "6:   ROOT %r = f32[4]{0} add(%»t#0«, s#1), control-predecessors={%s}",
            "undefined instruction `t` in `main`",
        )
    ]


def test_missing_element_is_reported() -> None:
    (found,) = findings(replace_once(ELEMENTS, "%s#0", "%s#2"))
    assert (found.code, found.message) == (
        "undefined-instruction",
        "no element `s#2`: `s` is a tuple of 2 elements",
    )
    ((place, _),) = related(found)
    assert place.startswith("5:   %s = »(f32[4]{0}, f32[4]{0})« ")


def test_element_of_array_is_reported() -> None:
    (found,) = findings(replace_once(ELEMENTS, "%s#0", "%a#0"))
    assert found.message == "no element `a#0`: `a` is `f32[4]`"


def test_element_of_own_result_is_reported() -> None:
    (found,) = findings(replace_once(ELEMENTS, "call(%a)", "call(%s#0)"))
    assert (found.code, found.message) == ("use-before-definition", "`s` uses its own result")


def test_element_of_wrong_shape_is_reported() -> None:
    (found,) = findings(replace_once(ELEMENTS, "= (f32[4]{0}, ", "= (f32[5]{0}, "))
    assert found.code == "shape-mismatch"
    assert "`s#0` is `f32[5]`" in found.message


def test_element_before_its_tuple_on_one_line_is_reported() -> None:
    text = (
        "HloModule m\n\nENTRY e { a = f32[] parameter(0) "
        "ROOT r = f32[] add(t#0, a) t = (f32[]) tuple(a) }\n"
    )
    assert [found.code for found in findings(text)] == ["use-before-definition"]


def test_predecessor_may_be_omitted_from_compact_text() -> None:
    assert reports(replace_once(ELEMENTS, "={%s}", "={%get-tuple-element.7}")) == []


LIVE_RANGES = """\
HloLiveRange (max 4):
  InstructionSequence:
    0:a
    1:s
    2:get-tuple-element.7
    3:r
  BufferLiveRange:
    a{}:0-4
  Live ranges at 3 (peak):
    a: 16 bytes
"""
USED_VALUES = """\
Total bytes used: 16 (16B)

Used values:
<0 a @0>
 positions:
  a
 uses:
  s, operand 0
 from instruction: %a = f32[4]{0} parameter(0)
"""


@pytest.mark.parametrize(("number", "is_reported"), [(7, False), (8, True)])
def test_predecessor_that_memory_files_lack_is_reported(number: int, *, is_reported: bool) -> None:
    module = replace_once(ELEMENTS, "={%s}", f"={{%get-tuple-element.{number}}}")
    texts = {
        "": module,
        "-live-range": LIVE_RANGES,
        "-buffer-assignment-values": USED_VALUES,
    }
    dump = Compile(
        [DumpFile.of_text(text, f"m.after_optimizations{end}.txt") for end, text in texts.items()]
    )
    found = [
        one.message for one in check(dump, dump.files[0]) if one.code == "undefined-instruction"
    ]
    assert found == ["undefined instruction `get-tuple-element.8` in `main`"] * is_reported
