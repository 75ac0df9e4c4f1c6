"""Tests for names that a module text omits, and memory files have."""

from async_spellings import SPELLINGS, compile_of
from hlo_lsp.checks.values.positions import is_named


def test_text_without_computations_may_have_any_name() -> None:
    spelling = next(one for one in SPELLINGS if one.opcode == "slice")
    found = {}
    for text in (spelling.short, spelling.dumped):
        dump, file = compile_of(text)
        found[file.module.omitted_count] = is_named(dump, "q.1")
    assert found == {2: True, 0: False}
