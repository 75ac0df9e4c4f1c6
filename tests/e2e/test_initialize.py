"""What the server says it can do, to three editors."""

from pathlib import Path

import pytest
from lsprotocol import types

from e2e.editor import Editor, editor
from hlo_lsp import __version__


async def test_everything_of_the_server_is_offered(any_editor: Editor) -> None:
    offered = any_editor.result.capabilities
    assert offered.hover_provider
    assert offered.definition_provider
    assert offered.declaration_provider
    assert offered.type_definition_provider
    assert offered.references_provider
    assert offered.document_highlight_provider
    assert offered.document_symbol_provider
    assert offered.folding_range_provider
    assert offered.selection_range_provider
    assert offered.linked_editing_range_provider
    assert offered.document_formatting_provider
    assert offered.document_range_formatting_provider
    assert offered.code_lens_provider is not None
    assert offered.code_lens_provider.resolve_provider is True
    assert isinstance(offered.inlay_hint_provider, types.InlayHintOptions)
    assert offered.inlay_hint_provider.resolve_provider is True


async def test_tokens_are_offered_full_delta_and_range(any_editor: Editor) -> None:
    offered = any_editor.result.capabilities.semantic_tokens_provider
    assert isinstance(offered, types.SemanticTokensOptions)
    assert list(offered.legend.token_types[:3]) == ["elementType", "opcode", "instruction"]
    assert list(offered.legend.token_modifiers) == ["declaration", "unused", "threadLocal"]
    assert offered.full == types.SemanticTokensFullDelta(delta=True)
    assert offered.range is True


async def test_nothing_is_offered_that_is_not_there(any_editor: Editor) -> None:
    offered = any_editor.result.capabilities
    assert offered.document_on_type_formatting_provider is None
    assert offered.inline_value_provider is None


async def test_documents_are_synchronised_by_what_changes(any_editor: Editor) -> None:
    sync = any_editor.result.capabilities.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert sync.open_close is True
    assert sync.change is types.TextDocumentSyncKind.Incremental


async def test_pull_diagnostics_depend_on_other_files(any_editor: Editor) -> None:
    diagnostics = any_editor.result.capabilities.diagnostic_provider
    assert isinstance(diagnostics, types.DiagnosticOptions)
    assert diagnostics.inter_file_dependencies is True
    assert diagnostics.workspace_diagnostics is True


async def test_findings_can_be_put_right_explained_and_silenced(any_editor: Editor) -> None:
    offered = any_editor.result.capabilities
    assert offered.code_action_provider == types.CodeActionOptions(
        code_action_kinds=(types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll),
        resolve_provider=True,
    )
    commands = offered.execute_command_provider
    assert commands is not None
    assert set(commands.commands) == {
        "hlo.explainRule",
        "hlo.applyEdit",
        "hlo.server.inspect",
        "hlo.server.check",
        "hlo.server.summary",
        "hlo.server.timeline",
        "hlo.server.restartIndex",
    }


async def test_server_says_who_it_is(any_editor: Editor) -> None:
    assert any_editor.result.server_info == types.ServerInfo("hlo-lsp", __version__)


@pytest.mark.parametrize(
    ("profile", "encoding"),
    [("visual_studio_code", "utf-16"), ("neovim@v0.11", "utf-8"), ("emacs", "utf-32")],
)
async def test_each_editor_gets_its_preferred_encoding(
    profile: str, encoding: str, tmp_path: Path
) -> None:
    async with editor(profile, tmp_path / "log") as running:
        assert running.encoding == encoding
