"""What is shown faintly: in module text what nobody uses, in memory files values."""

import pytest

from analysis import tiny
from hlo_lsp.ide.tokens.line_tokens import TokenModifier
from hlo_lsp.ide.tokens.semantic_tokens import semantic_tokens
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from ide.tokens.told import opened, said

MODULE = """\
HloModule m

%dead (p: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  ROOT %x = f32[] constant(0)
}

ENTRY %e (a: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %x = f32[] negate(%a)
  %before = f32[] negate(%a)
  %fused = f32[] fusion(%a), kind=kLoop, calls=%dead
  %call = f32[] call(%a), to_apply=%dead
  %out = token[] outfeed(%a)
  %print = () custom-call(%a), custom_call_target="p", custom_call_has_side_effect=true
  %y = f32[] negate(%a), control-predecessors={%before}
  ROOT %r = f32[] add(%a, %y)
}
"""


def faint(file: DumpFile, dump: DumpSet | None = None) -> dict[str, str]:
    found = said(file, dump or DumpSet([file]))
    return {name: what for name, what in found.items() if what != "none"}


def test_instructions_that_nobody_names_and_that_are_no_result() -> None:
    assert faint(opened(MODULE)) == {"%p": "unused", "%x": "unused", "%fused": "unused"}


def test_the_last_instruction_is_the_result_where_none_is_marked() -> None:
    text = MODULE.replace("ROOT ", "")
    assert set(faint(opened(text))) == {"%p", "%x", "%fused"}


def test_nothing_is_unused_before_names_are_learnt() -> None:
    assert faint(DumpFile.of_text(MODULE)) == {}


def test_a_use_takes_the_fading_away() -> None:
    file = opened(MODULE)
    line = file.lines.index("  %y = f32[] negate(%a), control-predecessors={%before}")
    file.changed(file.document.edit((line, 21), (line, 22), "fused"))
    file.refresh()
    assert set(faint(file)) == {"%p", "%x"}


def test_values_in_thread_local_allocations() -> None:
    dump = tiny.split()
    for part in (tiny.ASSIGNMENT, tiny.VALUES):
        assert faint(dump.file(part), dump.dump) == {"add.9": "thread_local"}
    assert faint(tiny.one_file().file(tiny.VALUES), tiny.one_file().dump)["add.9"] == "thread_local"


UNUSED = tiny.VALUES.text.replace(" uses:\n  negate.7, operand 0\n", " uses:\n  (none)\n")


@pytest.mark.parametrize(
    ("change", "is_unused"),
    [
        (("", ""), True),
        (("  (none)\n from instruction: %fusion =", "  \n from instruction: %fusion ="), False),
    ],
)
def test_values_without_uses(change: tuple[str, str], is_unused: bool) -> None:
    values = DumpFile.of_text(UNUSED.replace(*change), "values.txt")
    whole = tiny.split()
    assignment = whole.file(tiny.ASSIGNMENT)
    dump = DumpSet([values, assignment, whole.file(tiny.MODULE)])
    line = next(n for n, text in enumerate(assignment.lines) if text.startswith(" value: <5 "))
    found = [token for some in semantic_tokens(dump, assignment, line, line + 1) for token in some]
    assert [token.modifiers for token in found if token.modifiers] == [
        TokenModifier.DECLARATION | (TokenModifier.UNUSED if is_unused else TokenModifier.NONE)
    ]


def test_outputs_and_results_are_used_by_whoever_asked_for_them() -> None:
    dump = tiny.split()  # fusion.2 has no uses, and is the output of the program
    assert "fusion.2" not in faint(dump.file(tiny.VALUES), dump.dump)


def test_without_the_module_text_nobody_knows_what_a_result_is() -> None:
    values = DumpFile.of_text(UNUSED, "values.txt")
    dump = DumpSet([values, tiny.split().file(tiny.ASSIGNMENT)])
    assert set(faint(values, dump)) == {"add.9"}
