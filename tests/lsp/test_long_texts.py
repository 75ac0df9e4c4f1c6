"""Tests for replies that omit details of long documents."""

import pytest
from lsprotocol import types

import marked_dump
from hlo_lsp.lsp import rename_and_formatting, symbols
from hlo_lsp.lsp.client import MAX_FULL_ANSWER_LINES, Json
from hlo_lsp.lsp.progress import RequestFailedError
from lsp.opened import context

TEXT = marked_dump.MODULE.text


def lengthen(text: str) -> str:
    return text + "\n" * MAX_FULL_ANSWER_LINES


async def test_long_document_outlines_computations_and_sections() -> None:
    whole, short = [symbols.document_symbols(await context(t)) for t in (TEXT, lengthen(TEXT))]
    assert any(leaf["kind"] == types.SymbolKind.Variable for top in whole for leaf in children(top))
    assert [top["name"] for top in short] == [top["name"] for top in whole]
    assert not [leaf for top in short for leaf in children(top)]
    assert [top["range"] for top in short] == [top["range"] for top in whole]


def children(symbol: Json) -> list[Json]:
    inner: list[Json] = symbol.get("children", [])
    return inner


async def test_long_document_is_formatted_only_by_range() -> None:
    text = lengthen(TEXT.replace("  ROOT ", " ROOT  "))
    request = await context(text)
    with pytest.raises(RequestFailedError, match="50,000 lines"):
        rename_and_formatting.format_document(request)
    lines = types.Range(types.Position(0, 0), types.Position(TEXT.count("\n"), 0))
    assert rename_and_formatting.format_range(request, lines)
