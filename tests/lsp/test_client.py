"""Tests for the client flags that are read from capabilities."""

import pytest
from lsprotocol import types
from pytest_lsp import client_capabilities

from hlo_lsp.lsp.client import Client
from hlo_lsp.text.document import Encoding


def _client(
    *,
    document: types.TextDocumentClientCapabilities | None = None,
    workspace: types.WorkspaceClientCapabilities | None = None,
) -> Client:
    capabilities = types.ClientCapabilities(text_document=document, workspace=workspace)
    return Client.from_capabilities(capabilities, "utf-16")


def test_client_without_capabilities_gets_plain_replies() -> None:
    client = _client()
    assert not client.can_render_markdown
    assert not client.can_nest_symbols
    assert not client.can_pull_diagnostics
    assert not client.can_refresh_diagnostics
    assert not client.has_eager_lenses
    assert not client.can_show_related
    assert _client(document=types.TextDocumentClientCapabilities()) == client


@pytest.mark.parametrize("encoding", Encoding)
def test_client_has_negotiated_encoding(encoding: Encoding) -> None:
    assert Client.from_capabilities(types.ClientCapabilities(), encoding.value).encoding is encoding
    kind = types.PositionEncodingKind(encoding.value)
    assert Client.from_capabilities(types.ClientCapabilities(), kind).encoding is encoding


def test_diagnostic_refresh_is_a_workspace_capability() -> None:
    diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    workspace = types.WorkspaceClientCapabilities(diagnostics=diagnostics)
    document = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
    assert _client(document=document, workspace=workspace).can_refresh_diagnostics
    # A client that does not pull diagnostics has none to refresh.
    assert not _client(workspace=workspace).can_refresh_diagnostics


@pytest.mark.parametrize(
    ("options", "is_eager"),
    [
        ({"lensTexts": "at once"}, True),
        ({"lensTexts": "on screen"}, False),
        ({"lensTexts": 1}, False),
        ({}, False),
        (None, False),
        ("lensTexts", False),
        (["lensTexts"], False),
    ],
)
def test_lens_texts_option_selects_eager_lenses(options: object, is_eager: bool) -> None:
    client = Client.from_capabilities(types.ClientCapabilities(), "utf-16", options)
    assert client.has_eager_lenses is is_eager


@pytest.mark.parametrize(("limit", "expected"), [(5000, 5000), (None, 100_000), (0, 100_000)])
def test_folding_limit_comes_from_client(limit: int | None, expected: int) -> None:
    folding = types.FoldingRangeClientCapabilities(range_limit=limit)
    document = types.TextDocumentClientCapabilities(folding_range=folding)
    assert _client(document=document).max_folding_ranges == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "visual_studio_code",
            Client(
                max_folding_ranges=5000, can_insert_snippets=True, can_insert_or_replace=True,
                can_complete_in_markdown=True, can_show_signatures_in_markdown=True,
                has_parameter_offsets=True,
                can_version_edits=True, can_create_files=True, can_apply_edits=True,
                can_show_code_actions=True, can_prefer_actions=True, can_resolve_edits=True,
                can_show_documents=True, can_refresh_tokens=True, can_refresh_lenses=True,
            ),
        ),
        (
            "neovim@v0.11",
            Client(
                can_pull_diagnostics=True, can_insert_snippets=True, can_complete_in_markdown=True,
                can_show_signatures_in_markdown=True, has_parameter_offsets=True,
                can_link_rules=False,
                can_apply_edits=True, can_show_code_actions=True, can_prefer_actions=True,
                can_resolve_edits=True, can_show_documents=True, can_refresh_tokens=True,
                can_refresh_hints=True,
            ),
        ),
        (
            "emacs",
            Client(
                can_show_related=False, can_link_rules=False, has_parameter_offsets=True,
                can_version_edits=True, can_apply_edits=True, can_show_code_actions=True,
                can_prefer_actions=True,
            ),
        ),
    ],
)  # fmt: skip
def test_editor_capabilities_become_client_flags(name: str, expected: Client) -> None:
    assert Client.from_capabilities(client_capabilities(name), "utf-16") == expected
