"""The grammars: what the reader of expressions takes from a file."""

import pytest

from hlo_lsp.syntax.grammar import _DEFINITION, _GRAMMAR_FOLDER, _PART, Grammar


@pytest.mark.parametrize("name", sorted(path.stem for path in _GRAMMAR_FOLDER.glob("*.lark")))
def test_both_readers_find_the_same_definitions(name: str) -> None:
    grammar = Grammar(name)
    of_lark = {str(name) for name, *_ in grammar._for_lark.rule_defs}
    of_lark |= {str(name) for name, _ in grammar._for_lark.term_defs}
    assert {one for one in of_lark if "__" not in one} <= grammar._definitions.keys()
    for _, text in _DEFINITION.findall(grammar._text):
        assert not _PART.sub("", text).strip(), text
