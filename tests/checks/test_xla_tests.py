"""Module texts in the forms of XLA's own tests, which have no findings."""

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


@pytest.mark.parametrize("text", [_SPLIT, _NAME_IN_KEYWORD, _BLANKS_IN_LAYOUT])
def test_form_of_xla_tests_has_no_findings(tmp_path: Path, text: str) -> None:
    (tmp_path / "test.hlo").write_text(text, "utf-8")
    assert found_in(tmp_path) == []


def test_findings_name_lines_of_the_whole_text(tmp_path: Path) -> None:
    text = _SPLIT.replace("ROOT p = f32[8] parameter(0)", "ROOT p = f32[8] negate(q)")
    (tmp_path / "test.hlo").write_text(text, "utf-8")
    ((_, finding),) = found_in(tmp_path)
    assert text.split("\n")[finding.spot.line - 1].endswith("negate(q)")
