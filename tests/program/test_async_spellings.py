"""Both spellings of asynchronous operations have the same meaning."""

import pytest

from async_spellings import SPELLINGS, AsyncSpelling, compile_of
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.compared_text import compared_texts
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.instruction_matching import match_instructions
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.program.transfers import async_operations, is_communication

of_each_spelling = pytest.mark.parametrize(
    "spelling", SPELLINGS, ids=[one.opcode for one in SPELLINGS]
)


@of_each_spelling
def test_spellings_have_equal_schedules(spelling: AsyncSpelling) -> None:
    assert _opcodes(_module(spelling.short)) == _opcodes(_module(spelling.dumped))


def _opcodes(module: ModuleIndex) -> list[tuple[str, str]]:
    scheduled = scheduled_instructions(module)
    assert scheduled is not None
    return [(module.opcode(one), one.shape) for one in scheduled]


@of_each_spelling
def test_spellings_have_equal_async_operations(spelling: AsyncSpelling) -> None:
    operations = _operations(_module(spelling.short))
    assert operations == _operations(_module(spelling.dumped))
    assert [kind for kind, *_ in operations] == [spelling.opcode]


def _operations(module: ModuleIndex) -> list[tuple[str, str, str, int, int, bool]]:
    return [
        (
            *(one.kind, one.start.name, one.done.name, one.bytes, one.work),
            is_communication(module, one.done),
        )
        for one in async_operations(module) or ()
    ]


@of_each_spelling
def test_spellings_match_without_changes(spelling: AsyncSpelling) -> None:
    matching = match_instructions(_module(spelling.short), _module(spelling.dumped))
    assert matching.share == 1
    assert not [node for node in matching.before.values() if node.is_changed]


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
