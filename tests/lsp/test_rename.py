"""Tests for rename edits in the protocol."""

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.rename_and_formatting import prepare_rename, rename
from lsp.opened import DUMP, at, context
from lsp.test_completion import TEXT

GREEK = TEXT.replace("  %x = f32[4]{0}", "  /* ππ𝛑 */ %x = f32[4]{0}")


def rename_params(text: str, line: str, word: str, new: str) -> types.RenameParams:
    document = types.TextDocumentIdentifier("untitled:dump")
    return types.RenameParams(document, at(text, line, word), new)


def edit_tuples(found: types.WorkspaceEdit) -> list[tuple[int, int, int, str]]:
    assert found.changes is not None
    return [
        (edit.range.start.line, edit.range.start.character, edit.range.end.character, edit.new_text)
        for edit in found.changes["untitled:dump"]
    ]


async def test_prepare_rename_returns_name_and_range() -> None:
    found = prepare_rename(await context(TEXT), at(TEXT, "  ROOT %y", "%x"))
    span = types.Range(types.Position(4, 30), types.Position(4, 31))
    assert found == types.PrepareRenamePlaceholder(span, "x")


async def test_every_mention_is_edited_in_client_encoding() -> None:
    found = rename(await context(GREEK), rename_params(GREEK, "  ROOT %y", "%x", "%new"))
    assert edit_tuples(found) == [(2, 6, 7, "new"), (3, 14, 15, "new"), (4, 30, 31, "new")]


async def test_rename_edit_has_version_if_supported() -> None:
    request = await context(TEXT, Client(can_version_edits=True))
    found = rename(request, rename_params(TEXT, "  ROOT %r", "%r", "new"))
    document = types.OptionalVersionedTextDocumentIdentifier("untitled:dump", 1)
    span = types.Range(types.Position(10, 8), types.Position(10, 9))
    assert found == types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(document, [types.TextEdit(span, "new")])]
    )


async def test_invalid_rename_is_an_error_with_message() -> None:
    found = await context(TEXT)
    with pytest.raises(RequestFailedError, match="No instruction, computation, or parameter"):
        prepare_rename(found, types.Position(0, 0))
    with pytest.raises(RequestFailedError, match="already"):
        rename(found, rename_params(TEXT, "  ROOT %r", "%r", "p"))
    with pytest.raises(RequestFailedError) as error:
        prepare_rename(await context(DUMP), types.Position(2, 10))
    assert error.value.to_response_error() == types.ResponseError(
        types.LSPErrorCodes.RequestFailed.value, "Rename works only in HLO module text."
    )
