"""Tests for the uses of values according to the module text."""

from hlo_lsp.checks.values.uses import Users
from hlo_lsp.model.dump_file import DumpFile

MODULE = """\
HloModule jit_f, is_scheduled=true

ENTRY %main (p: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %add.1 = f32[8]{0} add(%p, %p)
  %pair = (f32[8]{0}, f32[8]{0}) tuple(%add.1, %p)
  %copy.1 = (f32[8]{0}, f32[8]{0}) copy(%pair)
  %first = f32[8]{0} get-tuple-element(%pair), index=0
  %call.1 = f32[8]{0} custom-call(%pair, %first), custom_call_target="f"
  ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%first, %call.1)
}
"""


def test_each_operand_is_a_use() -> None:
    assert _uses("p") == ["add.1 0", "add.1 1"]


def test_tuple_and_get_tuple_element_are_not_uses() -> None:
    positions = ["add.1", "pair {0}", "first", "copy.1 {0}"]
    assert _uses(*positions) == ["call.1 0 {0}", "call.1 1"]


def test_copy_and_get_tuple_element_use_the_tuple() -> None:
    assert _uses("pair {}") == ["call.1 0 {}", "copy.1 0 {}", "first 0 {}"]


def test_tuple_at_the_root_is_a_use() -> None:
    assert _uses("call.1", "out {1}") == ["out 1"]
    assert _uses("call.1") == []


def test_last_instruction_is_the_default_root() -> None:
    assert _uses("call.1", "out {1}", text=MODULE.replace("ROOT ", "")) == ["out 1"]


def test_positions_of_another_module_have_no_uses() -> None:
    assert "add.2" not in _users(MODULE)
    assert _uses("add.2") == []


def test_duplicate_name_is_ambiguous() -> None:
    users = _users(MODULE.replace("%first =", "%pair ="))
    assert [name for name in ("p", "pair", "out") if users.is_ambiguous(name)] == ["pair"]


def _users(text: str) -> Users:
    return Users(DumpFile.of_text(text).module)


def _uses(*positions: str, text: str = MODULE) -> list[str]:
    found = _users(text).rows([f"  {position}" for position in positions])
    return sorted(row.strip().replace(", operand", "") for row in found)
