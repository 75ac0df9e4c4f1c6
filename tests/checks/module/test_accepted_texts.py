"""Texts that XLA prints or parses, in forms that its dumps seldom have: none is accused."""

import pytest

from checks.damage import reports

JSON_OVER_LINES = """\
HloModule m

ENTRY %e (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  ROOT %c = f32[4]{0} custom-call(%a), custom_call_target="foo", backend_config={
  "a": {
    "b": 1
  }
}
}
"""
SETTINGS_OVER_LINES = """\
HloModule m

ENTRY %e (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  ROOT %c = f32[4]{0} custom-call(%a), custom_call_target="foo", backend_config={a = 1,
   b = 2}
}
"""
KERNEL_OVER_LINES = r"""
HloModule ptx_test, entry_computation_layout={()->f32[]}

ENTRY %main () -> f32[] {
  %a = f32[] constant(3)
  ROOT %out = f32[] custom-call(%a), custom_call_target="__gpu$xla.gpu.ptx", backend_config={
          name = "add_kernel",
          kernel_data = ".version 7.0\n.entry add_kernel(\n    .param .u64 input_a)\n{\n  ret;\n}",
          grid_x = 1, grid_y = 1, grid_z = 1,
          output_indices = [2]
        }
}
"""
NAMED_SHARDING = """\
HloModule module

ENTRY entry {
  %param = f32[128,64] parameter(0), sharding={mesh['x'=2,'y'=2] [{'x', 'y'}, {}]}
  ROOT %copy = f32[128,64] copy(%param), sharding={mesh['x'=2,'y'=2] [{'x'}, {'y'}]}
}
"""
QUOTED_MODULE = """\
HloModule m, entry_computation_layout={(s32[4,8]{1,0})->s32[4,8]{1,0}}, origin_recovery_table={
  {"orig"} : {"orig__ovp1"},
  "
    HloModule recovery, entry_computation_layout={(s32[4,8]{1,0})->s32[8,4]{1,0}}

    ENTRY %reshape (p1: s32[4,8]) -> s32[8,4] {
      %p1 = s32[4,8]{1,0} parameter(0)
      ROOT %r = s32[8,4]{1,0} reshape(%p1), metadata={op_name="f"}
    }


  "
  {"orig__ovp1"} : {"orig__ovp0"}
}


ENTRY %main (p: s32[4,8]) -> s32[4,8] {
  %p = s32[4,8]{1,0} parameter(0)
  ROOT %opt = s32[4,8]{1,0} add(%p, %p), origin={{"orig__ovp0"}}
}
"""
BRACE_AFTER_ROOT = """\
  HloModule m

  ENTRY e {
    %a = f16[3, 5] parameter(0)
    ROOT %dot = f16[3, 3] dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={1}}"""
BLANKS_AROUND_ARROW = """\
HloModule m, entry_computation_layout={(f32[70,70], f32[70,70]{1,0}) -> f32[70,70]}

ENTRY e {
  a = f32[70,70] parameter(0)
  b = f32[70,70] parameter(1)
  ROOT d = f32[70,70] add(a, b)
}
"""
NO_BLANK_AFTER_SHAPE = """\
HloModule m

ENTRY main {
  a = f32[100, 200]parameter(0)
  ROOT b = f32[100, 200] copy(a)
}
"""
LONG_RULE = """\
HloModule m

%helper {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT add = s32[] add(a, b)
}

// ----------------------
ENTRY %main (x: s32[], y: s32[]) -> s32[] {
  %x = s32[] parameter(0)
  %y = s32[] parameter(1)
  ROOT %c = s32[] call(%x, %y), to_apply=%helper
}
"""


@pytest.mark.parametrize(
    "text",
    [
        JSON_OVER_LINES, SETTINGS_OVER_LINES, KERNEL_OVER_LINES, NAMED_SHARDING, QUOTED_MODULE,
        BRACE_AFTER_ROOT, BLANKS_AROUND_ARROW, NO_BLANK_AFTER_SHAPE, LONG_RULE,
    ],
)  # fmt: skip
def test_texts_that_xla_parses_have_no_finding(text: str) -> None:
    assert reports(text) == []


def test_damaged_settings_end_at_the_next_instruction() -> None:
    text = SETTINGS_OVER_LINES.replace("   b = 2}\n", "   b = 2\n  %d = f32[4]{0} negate(%e)\n")
    assert [report[-1] for report in reports(text)] == [
        "this `{` is not closed",
        "undefined instruction `e` in `e`",
    ]
