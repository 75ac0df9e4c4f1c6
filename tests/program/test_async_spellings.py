"""Both spellings of asynchronous operations have the same meaning."""

import pytest

from async_spellings import SPELLINGS, AsyncSpelling, compile_of
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.compared_text import compared_texts
from hlo_lsp.program.dataflow import ModuleFlow

of_each_spelling = pytest.mark.parametrize(
    "spelling", SPELLINGS, ids=[one.opcode for one in SPELLINGS]
)


@of_each_spelling
def test_compared_texts_spell_as_dumps(spelling: AsyncSpelling) -> None:
    short, dumped = compared_texts(_module(spelling.short), _module(spelling.dumped))
    starts = [
        [line for line in text.lines if "-start(" in line or "-done(" in line]
        for text in (short, dumped)
    ]
    assert starts[0] == starts[1]


@of_each_spelling
def test_done_comes_from_the_started_operation(spelling: AsyncSpelling) -> None:
    module = _module(spelling.short)
    done = module.instructions.first("done")
    assert done is not None
    found = ModuleFlow(module).sources(done, ())
    assert [(one.name, path) for one, path, _ in found] == [("start", (1,))]


def _module(text: str) -> ModuleIndex:
    return compile_of(text)[1].module
