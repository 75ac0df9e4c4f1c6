"""Tests for the required operands and attributes of opcodes."""

import pytest

from checks.damage import reports

HEAD = """\
HloModule attributes

%scalar (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}

ENTRY %main {
  %a = f32[4]{0} parameter(0)
  %zero = f32[] constant(0)
"""


def module(line: str) -> str:
    return f"{HEAD}  ROOT %r = {line}\n}}\n"


@pytest.mark.parametrize(
    "line",
    [
        "f32[] reduce(%a, %zero), dimensions={0}, to_apply=%scalar",
        "f32[4] concatenate(%a), dimensions={0}",
        "f32[4] all-reduce(%a, %a), to_apply=%scalar",
        "f32[] constant({1, 2, 3})",
        "f32[4] iota(), iota_dimension=0",
        "f32[4] add(%a, negate(%a))",
        "((f32[4]), f32[4], s32[]) slice-start(%a), slice={[0:4]}",
        'f32[4] custom-call(%a, %a), custom_call_target="f"',
        "f32[4] broadcast(%zero)",
        "u32[] partition-id()",
        "f32[] dot(%a, %a, %a), lhs_contracting_dims={0}, rhs_contracting_dims={0},"
        " block_scaling_config={lhs={scale_idx=2 strides=32 steps=1}}",
        "f32[] dot(%a, %a), lhs_contracting_dims={0}, rhs_contracting_dims={0},"
        " sparsity_config={lhs={sparsity=2x4 dimension=0 stride=1 idx=0}}",
    ],
)
def test_legal_attributes_have_no_findings(line: str) -> None:
    assert reports(module(line)) == []


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("f32[4] add(%a)", "f32[4] add(»%a«)", "`add` takes 2 operands (lhs, rhs), not 1"),
        ("f32[4] negate(%a, %a)", "f32[4] negate(»%a, %a«)",
         "`negate` takes 1 operand (operand), not 2"),
        ("f32[4] negate()", "f32[4] »negate«()", "`negate` takes 1 operand (operand), not 0"),
        ("f32[] dot(%a)", "f32[] dot(»%a«)",
         "`dot` takes at least 2 operands (lhs, rhs, others), not 1"),
        ("f32[4] iota(%a), iota_dimension=0", "f32[4] iota(»%a«), iota_dimension=0",
         "`iota` takes 0 operands, not 1"),
    ],
)  # fmt: skip
def test_wrong_operand_count_is_reported(line: str, place: str, message: str) -> None:
    assert reports(module(line)) == [("operand-count", f"12:   ROOT %r = {place}", message)]


@pytest.mark.parametrize(
    ("line", "opcode", "message"),
    [
        ("f32[] reduce(%a, %zero), to_apply=%scalar", "reduce", "`reduce` needs `dimensions`"),
        ('f32[] reduce(%a, %zero), to_apply=%scalar, metadata={op_name=" dimensions="}', "reduce",
         "`reduce` needs `dimensions`"),
        ("f32[4] fusion(%a)", "fusion", "`fusion` needs `kind` and `calls`"),
        ("f32[2,4] broadcast(%a)", "broadcast", "`broadcast` needs `dimensions`"),
        ("pred[4] compare(%a, %a)", "compare", "`compare` needs `direction`"),
        ("f32[4] conditional(%zero, %a)", "conditional",
         "`conditional` needs `branch_computations` or `true_computation` and "
         "`branch_computations` or `false_computation`"),
    ],
)  # fmt: skip
def test_missing_attribute_is_reported(line: str, opcode: str, message: str) -> None:
    place = line.replace(f" {opcode}(", f" »{opcode}«(", 1)
    assert reports(module(line)) == [("missing-attribute", f"12:   ROOT %r = {place}", message)]


def test_instruction_cut_in_bracket_is_a_syntax_error() -> None:
    assert [code for code, _, _ in reports(module("f32[] reduce(%a, %zero), dimensions={0"))] == [
        "syntax"
    ]
