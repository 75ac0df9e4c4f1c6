"""Tests for module texts in the forms of XLA's own tests, which have no findings."""

from pathlib import Path

import pytest

from checks.damage import found_in

_SPLIT = """\
// RUN: hlo-opt %s --split-input-file | FileCheck %s
HloModule m, is_scheduled=true

// CHECK-LABEL: %e
e {
  p = f32[8] parameter(0)
  // CHECK: tanh([[P:%.*]])
  t = f32[8] tanh(p) // CHECK-NOT: custom-call
}

// -----

HloModule m, is_scheduled=true

e {
  ROOT p = f32[8] parameter(0)
}
"""
_NAME_IN_KEYWORD = "HloModule Module\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"
_BLANKS_IN_LAYOUT = """\
HloModule m

ENTRY e (p: f32[2, 3]{1, 0}) -> (f32[2, 3]{1, 0}) {
  p = f32[2, 3]{1, 0} parameter(0)
  ROOT t = (f32[2, 3]{1, 0}) tuple(p)
}
"""
_COLON_AFTER_NAME = "HloModule m:\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"
_TABLES_IN_HEADER = """\
HloModule m, entry_computation_layout={()->f32[]}, origin_recovery_table={
  {"a"} : {"a__ovp0"}
},
debug_attributes={
  {"c"}:({log_mode=default,callback_id=123,partitioned=true})
}

ENTRY %e () -> f32[] {
  ROOT %c = f32[] constant(1), origin={{"c"}}
}
"""
_ELEMENT_OPERAND = """\
HloModule m

ENTRY %e (p: (f32[4], s32[])) -> f32[4] {
  %p = (f32[4]{0}, s32[]) parameter(0)
  ROOT %t = f32[4]{0} tanh(%p#0)
}
"""
_BOUND_LATER = """\
HloModule m

%double (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %twice = f32[4]{0} add(%x, %x)
}

ENTRY %e (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %start = ((f32[4]{0}), (), s32[]) async-start(%p), calls=%double
  ROOT %done = f32[4]{0} async-done(%start)
}
"""
_FORMS = [
    _SPLIT, _NAME_IN_KEYWORD, _BLANKS_IN_LAYOUT, _COLON_AFTER_NAME, _TABLES_IN_HEADER,
    _ELEMENT_OPERAND, _BOUND_LATER,
]  # fmt: skip


@pytest.mark.parametrize("text", _FORMS)
def test_form_of_xla_tests_has_no_findings(tmp_path: Path, text: str) -> None:
    (tmp_path / "test.hlo").write_text(text, "utf-8")
    assert found_in(tmp_path) == []


def test_findings_name_lines_of_the_whole_text(tmp_path: Path) -> None:
    text = _SPLIT.replace("ROOT p = f32[8] parameter(0)", "ROOT p = f32[8] negate(q)")
    (tmp_path / "test.hlo").write_text(text, "utf-8")
    ((_, finding),) = found_in(tmp_path)
    assert text.split("\n")[finding.spot.line - 1].endswith("negate(q)")
