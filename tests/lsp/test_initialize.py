"""Tests for what the server offers to a client."""

from collections.abc import Iterator

import pytest

from hlo_lsp import __version__
from hostile.editor import Editor, Json

OFFERED = {
    "hoverProvider", "definitionProvider", "declarationProvider", "typeDefinitionProvider",
    "implementationProvider", "referencesProvider", "documentHighlightProvider",
    "documentSymbolProvider", "foldingRangeProvider", "selectionRangeProvider",
    "linkedEditingRangeProvider", "documentFormattingProvider", "documentRangeFormattingProvider",
    "callHierarchyProvider", "workspaceSymbolProvider", "signatureHelpProvider",
}  # fmt: skip
COMMANDS = {
    "hlo.explainRule", "hlo.applyEdit", "hlo.server.inspect", "hlo.server.check",
    "hlo.server.summary", "hlo.server.timeline", "hlo.server.timeSummary",
    "hlo.server.loadProfile", "hlo.server.compareProfiles", "hlo.server.restartIndex",
}  # fmt: skip


@pytest.fixture(scope="module")
def offered() -> Iterator[Json]:
    """Yield the answer to ``initialize``."""
    editor = Editor()
    yield editor.offered
    editor.close()


def test_server_has_name_and_version(offered: Json) -> None:
    assert offered["serverInfo"] == {"name": "hlo-lsp", "version": __version__}


def test_supported_features_are_advertised(offered: Json) -> None:
    capabilities = offered["capabilities"]
    assert {name for name in OFFERED if capabilities.get(name)} == OFFERED
    assert capabilities["codeLensProvider"]["resolveProvider"] is True
    assert capabilities["inlayHintProvider"]["resolveProvider"] is True
    assert "documentOnTypeFormattingProvider" not in capabilities
    assert "inlineValueProvider" not in capabilities
    sync = capabilities["textDocumentSync"]
    assert (sync["openClose"], sync["change"]) == (True, 2)  # incremental
    tokens = capabilities["semanticTokensProvider"]
    assert tokens["legend"]["tokenTypes"][:3] == ["elementType", "opcode", "instruction"]
    assert tokens["legend"]["tokenModifiers"] == ["declaration", "unused", "threadLocal"]
    assert (tokens["full"], tokens["range"]) == ({"delta": True}, True)
    diagnostics = capabilities["diagnosticProvider"]
    assert (diagnostics["interFileDependencies"], diagnostics["workspaceDiagnostics"]) == (
        True,
        True,
    )
    actions = capabilities["codeActionProvider"]
    assert actions == {"codeActionKinds": ["quickfix", "source.fixAll"], "resolveProvider": True}
    assert set(capabilities["executeCommandProvider"]["commands"]) == COMMANDS
