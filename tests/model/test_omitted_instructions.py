"""Tests for names in memory files that the module text omits."""

from pathlib import Path

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.document import Document

MODULE = """\
HloModule m, is_scheduled=true

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %s = (f32[8]{0}, f32[8]{0}) sort(%p, %p), dimensions={0}
  %a = f32[8]{0} add(%s#1, %s#0)
  ROOT %c = f32[8]{0} copy(%s#1)
}
"""
VALUES = """\
Used values:
<0 p @0>
 positions:
  p
 uses:
  s, operand 0
  s, operand 1
 from instruction: %p = f32[8]{0} parameter(0)
<1 s{} @0>
 positions:
  s {}
 uses:
  first, operand 0 {}
  again, operand 0 {}
  second, operand 0 {}
 from instruction: %s = (f32[8]{0}, f32[8]{0}) sort(%p, %p), dimensions={0}
<2 s{0} @0>
 positions:
  s {0}
  first
 uses:
  a, operand 1
 from instruction: %s = (f32[8]{0}, f32[8]{0}) sort(%p, %p), dimensions={0}
<3 s{1} @0>
 positions:
  s {1}
  second
  again
 uses:
  a, operand 0
  c, operand 0
 from instruction: %s = (f32[8]{0}, f32[8]{0}) sort(%p, %p), dimensions={0}
<4 a @0>
 positions:
  a
 uses:
  (none)
 from instruction: %a = f32[8]{0} add(%second, %first)
"""


def opened(values: str | None) -> Compile:
    """Return the compile of the module and a values file."""
    workspace = DumpWorkspace()
    path = Path("/away/m.after_optimizations.txt")
    module = workspace.open(path.as_uri(), path, Document(MODULE))
    if values is not None:
        path = path.with_name("m.after_optimizations-buffer-assignment-values.txt")
        workspace.open(path.as_uri(), path, Document(values)).refresh()
    module.refresh()
    return workspace.compile_of(module)


def test_operands_and_positions_tell_the_elements() -> None:
    omitted = omitted_instructions(opened(VALUES))
    # `again` is no operand of an instruction that defines a value: its positions and uses tell.
    assert omitted.elements == {"second": "s#1", "first": "s#0", "again": "s#1"}
    assert {name: set(names) for name, names in omitted.names.items()} == {
        "s#0": {"first"},
        "s#1": {"second", "again"},
    }
    assert set(omitted.readers["s"]) == {"first", "second", "again"}
    assert not omitted.may_contain("other")


def test_name_leads_to_the_tuple() -> None:
    dump = opened(VALUES)
    found = dump.instruction("again")
    assert found is not None
    assert (found.record.name, found.line) == ("s#1", 4)


def test_position_that_nothing_uses_is_unknown() -> None:
    omitted = omitted_instructions(opened(VALUES.replace("  again\n", "  nobody\n")))
    assert "nobody" not in omitted.elements
    assert "again" not in omitted.elements


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(None, id="no values"),
        pytest.param(VALUES.replace("<2 s{0} @0>", "<2 s"), id="broken header"),
    ],
)
def test_other_names_are_possible_without_whole_values(values: str | None) -> None:
    assert omitted_instructions(opened(values)).may_contain("nobody")


def test_operand_without_position_is_unknown() -> None:
    omitted = omitted_instructions(opened(VALUES.replace("add(%second,", "add(%nobody,")))
    assert "nobody" not in omitted.elements
    assert omitted.elements["second"] == "s#1"
    assert omitted.may_contain("nobody")


def test_full_text_omits_nothing() -> None:
    assert not omitted_instructions(Compile([])).may_contain("get-tuple-element.1")
