"""Tests for HLO in Python files, and for the absence of results in the rest of the file."""

import pytest
from lsprotocol import types

from e2e.asking import definition, hover_facts, hover_text
from e2e.editor import Editor, OpenFile

_TEXT = '''\
import jax

TEXT = """HloModule m

ENTRY e {
  p = f32[8,128] parameter(0)
  ROOT t = f32[8,64] tanh(p)
}"""
LAST = "HloModule"
'''


def open_python(editor: Editor, text: str = _TEXT) -> OpenFile:
    return editor.open("file:///project/model.py", text, language="python")


async def test_instruction_has_facts_and_definition(any_editor: Editor) -> None:
    file = open_python(any_editor)
    facts = await hover_facts(file, "  ROOT t", "tanh")
    assert facts["title"] == "t tanh"
    found = await definition(file, "  ROOT t", "p)")
    assert found is not None
    assert (found.line, found.selected) == ("  p = f32[8,128] parameter(0)", "p")


async def test_diagnostics_follow_edits(any_editor: Editor) -> None:
    file = open_python(any_editor)
    assert await file.codes() == ["shape-mismatch"]
    file.substitute("f32[8,64]", "f32[8,128]")
    assert await file.codes() == []
    file.substitute("tanh(p)", "tanh(q)")
    file.edit(((0, 0), (0, 0), "# first\n"))
    (found,) = await file.diagnostics()
    assert (found.code, found.range.start.line) == ("undefined-instruction", 7)


async def test_rest_of_the_file_has_no_results(any_editor: Editor) -> None:
    file, client = open_python(any_editor), any_editor.client
    assert await hover_text(file, "import", "jax") == ""
    assert await hover_text(file, "LAST", "HloModule") == ""
    here, span = file.document, types.Range(types.Position(0, 0), types.Position(9, 0))
    options = types.FormattingOptions(2, insert_spaces=True)
    context = types.CodeActionContext([])
    for request in (
        client.text_document_document_symbol_async(types.DocumentSymbolParams(here)),
        client.text_document_folding_range_async(types.FoldingRangeParams(here)),
        client.text_document_formatting_async(types.DocumentFormattingParams(here, options)),
        client.text_document_range_formatting_async(
            types.DocumentRangeFormattingParams(here, span, options)
        ),
        client.text_document_code_action_async(types.CodeActionParams(here, span, context)),
        client.text_document_code_lens_async(types.CodeLensParams(here)),
        client.text_document_document_link_async(types.DocumentLinkParams(here)),
        client.text_document_inlay_hint_async(types.InlayHintParams(here, span)),
        client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(here)),
    ):
        assert not await any_editor.reply(request)


@pytest.mark.parametrize("text", ["", "x = 1\n", "class HloModule:\n    ENTRY = 1\n"])
async def test_file_without_hlo_has_no_diagnostics(neovim: Editor, text: str) -> None:
    file = open_python(neovim, text)
    if neovim.pulls_diagnostics:
        assert await file.diagnostics() == []
        return
    assert await hover_text(file, "") == ""
    dump = neovim.open("untitled:m.hlo", "HloModule m\n\nENTRY e {\n  a = b\n}\n")
    await dump.diagnostics()  # Diagnostics of the file would arrive before these.
    assert neovim.all_published(file.uri) == []
