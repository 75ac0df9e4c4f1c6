"""The modifiers of unused instructions and values, and of thread-local values."""

import pytest

import marked_dump
from hlo_lsp.ide.tokens.line_tokens import TokenModifier
from hlo_lsp.ide.tokens.semantic_tokens import semantic_tokens
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from ide.tokens.helpers import declared_modifiers

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


def faded(file: DumpFile, dump: Compile | None = None) -> dict[str, str]:
    found = declared_modifiers(file, dump or Compile([file]))
    return {name: what for name, what in found.items() if what != "none"}


def test_instructions_without_users_are_unused() -> None:
    assert faded(DumpFile.of_text(MODULE)) == {"%p": "unused", "%x": "unused", "%fused": "unused"}


def test_last_instruction_is_the_implicit_root() -> None:
    text = MODULE.replace("ROOT ", "")
    assert set(faded(DumpFile.of_text(text))) == {"%p", "%x", "%fused"}


def test_used_instruction_is_not_unused() -> None:
    file = DumpFile.of_text(MODULE)
    line = file.lines.index("  %y = f32[] negate(%a), control-predecessors={%before}")
    file.changed(file.document.edit((line, 21), (line, 22), "fused"))
    file.refresh()
    assert set(faded(file)) == {"%p", "%x"}


def test_thread_local_values() -> None:
    dump = marked_dump.split()
    for part in (marked_dump.ASSIGNMENT, marked_dump.VALUES):
        assert faded(dump.file(part), dump.dump) == {"add.9": "thread_local"}
    assert (
        faded(marked_dump.one_file().file(marked_dump.VALUES), marked_dump.one_file().dump)["add.9"]
        == "thread_local"
    )


UNUSED = marked_dump.VALUES.text.replace(" uses:\n  negate.7, operand 0\n", " uses:\n  (none)\n")


@pytest.mark.parametrize(
    ("change", "is_unused"),
    [
        (("", ""), True),
        (("  (none)\n from instruction: %fusion =", "  \n from instruction: %fusion ="), False),
    ],
)
def test_values_without_uses(change: tuple[str, str], is_unused: bool) -> None:
    values = DumpFile.of_text(UNUSED.replace(*change), "values.txt")
    whole = marked_dump.split()
    assignment = whole.file(marked_dump.ASSIGNMENT)
    dump = Compile([values, assignment, whole.file(marked_dump.MODULE)])
    line = next(n for n, text in enumerate(assignment.lines) if text.startswith(" value: <5 "))
    found = [token for some in semantic_tokens(dump, assignment, line, line + 1) for token in some]
    assert [token.modifiers for token in found if token.modifiers] == [
        TokenModifier.DECLARATION | (TokenModifier.UNUSED if is_unused else TokenModifier.NONE)
    ]


def test_outputs_are_not_unused() -> None:
    dump = marked_dump.split()  # fusion.2 has no uses, and is the output of the program
    assert "fusion.2" not in faded(dump.file(marked_dump.VALUES), dump.dump)


def test_unused_values_require_module_text() -> None:
    values = DumpFile.of_text(UNUSED, "values.txt")
    dump = Compile([values, marked_dump.split().file(marked_dump.ASSIGNMENT)])
    assert set(faded(values, dump)) == {"add.9"}
