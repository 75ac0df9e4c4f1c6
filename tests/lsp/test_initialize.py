"""Tests for the server capabilities that three editors receive."""

import pytest
from lsprotocol import types

from e2e.conftest import EditorPool
from e2e.editor import Editor
from hlo_lsp import __version__


async def test_supported_features_are_advertised(any_editor: Editor) -> None:
    capabilities = any_editor.result.capabilities
    assert capabilities.hover_provider
    assert capabilities.definition_provider
    assert capabilities.declaration_provider
    assert capabilities.type_definition_provider
    assert capabilities.references_provider
    assert capabilities.document_highlight_provider
    assert capabilities.document_symbol_provider
    assert capabilities.folding_range_provider
    assert capabilities.selection_range_provider
    assert capabilities.linked_editing_range_provider
    assert capabilities.document_formatting_provider
    assert capabilities.document_range_formatting_provider
    assert capabilities.code_lens_provider is not None
    assert capabilities.code_lens_provider.resolve_provider is True
    assert isinstance(capabilities.inlay_hint_provider, types.InlayHintOptions)
    assert capabilities.inlay_hint_provider.resolve_provider is True


async def test_semantic_tokens_support_full_delta_and_range(any_editor: Editor) -> None:
    capabilities = any_editor.result.capabilities.semantic_tokens_provider
    assert isinstance(capabilities, types.SemanticTokensOptions)
    assert list(capabilities.legend.token_types[:3]) == ["elementType", "opcode", "instruction"]
    assert list(capabilities.legend.token_modifiers) == ["declaration", "unused", "threadLocal"]
    assert capabilities.full == types.SemanticTokensFullDelta(delta=True)
    assert capabilities.range is True


async def test_unsupported_features_are_not_advertised(any_editor: Editor) -> None:
    capabilities = any_editor.result.capabilities
    assert capabilities.document_on_type_formatting_provider is None
    assert capabilities.inline_value_provider is None


async def test_document_sync_is_incremental(any_editor: Editor) -> None:
    sync = any_editor.result.capabilities.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert sync.open_close is True
    assert sync.change is types.TextDocumentSyncKind.Incremental


async def test_pull_diagnostics_depend_on_other_files(any_editor: Editor) -> None:
    diagnostics = any_editor.result.capabilities.diagnostic_provider
    assert isinstance(diagnostics, types.DiagnosticOptions)
    assert diagnostics.inter_file_dependencies is True
    assert diagnostics.workspace_diagnostics is True


async def test_code_actions_and_commands_are_advertised(any_editor: Editor) -> None:
    capabilities = any_editor.result.capabilities
    assert capabilities.code_action_provider == types.CodeActionOptions(
        code_action_kinds=(types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll),
        resolve_provider=True,
    )
    commands = capabilities.execute_command_provider
    assert commands is not None
    assert set(commands.commands) == {
        "hlo.explainRule",
        "hlo.applyEdit",
        "hlo.server.inspect",
        "hlo.server.check",
        "hlo.server.summary",
        "hlo.server.timeline",
        "hlo.server.timeSummary",
        "hlo.server.loadProfile",
        "hlo.server.compareProfiles",
        "hlo.server.restartIndex",
    }


async def test_server_info_has_name_and_version(any_editor: Editor) -> None:
    assert any_editor.result.server_info == types.ServerInfo("hlo-lsp", __version__)


@pytest.mark.parametrize(
    ("profile", "encoding"),
    [("visual_studio_code", "utf-16"), ("neovim@v0.11", "utf-8"), ("emacs", "utf-32")],
)
async def test_each_editor_gets_its_preferred_encoding(
    profile: str, encoding: str, editor_pool: EditorPool
) -> None:
    assert (await editor_pool.acquire(profile)).encoding == encoding
