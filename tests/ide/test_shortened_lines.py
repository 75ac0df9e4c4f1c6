"""Hovers and navigation in snippets with dots in place of text."""

import pytest

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.navigation.definitions import definitions
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from ide.hover.facts import facts
from marks import mark

SNIPPET = mark(
    """
    fusion.5 = (bf16[2,8]{1,0}, bf16[4]{0}, ..., kind=kLoop, metadata={op_name="jit(f)/mul" source_file="/a/m.py" source_line=7}
    ^^^^^^^^ fusion
                ^^^^ array
                                                                                            ^ source
    ...
    element.1 = bf16[2,8]{1,0} get-tuple-element(fusion.5), index=0
                                                 ^^^^^^^^ operand
    sum.2 = ... add(element.1, element.1)
    ^^^^^ sum
                    ^^^^^^^^^ addend
    ROOT copy.3 = bf16[2,8]{1,0} copy(sum.2)
                                      ^^^^^ copied
    """  # noqa: E501
)
FILE = DumpFile.of_text(SNIPPET.text)
DUMP = Compile([FILE])


def _marked(places: list[Place]) -> list[str]:
    names = {place.position: name for name, place in SNIPPET.marks.items()}
    return [names[place.line, place.start] for place in places]


@pytest.mark.parametrize(
    ("name", "definition"),
    [("operand", "fusion"), ("copied", "sum"), ("sum", "sum"), ("fusion", "fusion")],
)
def test_definition_is_line_with_dots(name: str, definition: str) -> None:
    target = cursor_target_at(FILE, *SNIPPET[name].position)
    assert target is not None
    assert _marked(definitions(DUMP, target)) == [definition]


def test_operand_in_line_with_dots_has_definition() -> None:
    target = cursor_target_at(FILE, *SNIPPET["addend"].position)
    assert target is not None
    assert [place.line for place in definitions(DUMP, target)] == [2]


def test_references_include_line_with_dots() -> None:
    target = cursor_target_at(FILE, *SNIPPET["operand"].position)
    assert target is not None
    declared, mentioned = declarations_and_references(DUMP, target)
    assert (_marked(declared), _marked(mentioned)) == (["fusion"], ["operand"])


@pytest.mark.parametrize("name", ["fusion", "operand"])
def test_hover_shows_what_is_left(name: str) -> None:
    target = cursor_target_at(FILE, *SNIPPET[name].position)
    assert target is not None
    shown = facts(hover_card(DUMP, target))
    assert shown["op_name"] == "`jit(f)/mul`"
    assert shown["source"] == "/a/m.py:7"
    assert shown["users"] == "1: `element.1`"
    assert "text left out" in shown


def test_array_in_line_with_dots_has_hover() -> None:
    target = cursor_target_at(FILE, *SNIPPET["array"].position)
    assert target is not None
    assert facts(hover_card(DUMP, target))["logical size"] == "32 B"
