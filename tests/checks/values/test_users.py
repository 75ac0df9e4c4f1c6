"""Uses by the module text: who reads a value, and who only hands it on."""

from hlo_lsp.checks.values.uses import Users, users_of_module
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


def test_a_tuple_is_no_use_and_neither_is_what_takes_the_tuple_apart() -> None:
    positions = ["add.1", "pair {0}", "first", "copy.1 {0}"]
    assert _uses(*positions) == ["call.1 0 {0}", "call.1 1"]


def test_copy_and_get_tuple_element_read_the_table_of_a_tuple() -> None:
    assert _uses("pair {}") == ["call.1 0 {}", "copy.1 0 {}", "first 0 {}"]


def test_a_root_that_holds_the_value_counts_even_if_it_is_a_tuple() -> None:
    assert _uses("call.1", "out {1}") == ["out 1"]
    assert _uses("call.1") == []


def test_the_last_instruction_is_the_root_where_none_is_marked() -> None:
    assert _uses("call.1", "out {1}", text=MODULE.replace("ROOT ", "")) == ["out 1"]


def test_positions_of_another_module_have_no_uses() -> None:
    assert "add.2" not in _users(MODULE)
    assert _uses("add.2") == []


def test_a_name_that_is_there_twice_is_known_to_be() -> None:
    assert _users(MODULE.replace("%first =", "%pair =")).doubled == {"pair"}


def _users(text: str) -> Users:
    return users_of_module(DumpFile.of_text(text).module)


def _uses(*positions: str, text: str = MODULE) -> list[str]:
    found = _users(text).rows([f"  {position}" for position in positions])
    return sorted(row.strip().replace(", operand", "") for row in found)
