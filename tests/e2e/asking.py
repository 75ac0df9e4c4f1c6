"""Requests of an editor, with results in readable forms."""

from itertools import chain

from lsprotocol import types

from e2e.editor import OpenFile

Symbol = types.DocumentSymbol | types.SymbolInformation


async def request_hover(file: OpenFile, position: types.Position) -> types.Hover | None:
    """Return the hover at a position, and assert that the editor supports its format."""
    editor = file.editor
    found = await editor.reply(
        editor.client.text_document_hover_async(types.HoverParams(file.document, position))
    )
    if found is not None:
        assert isinstance(found.contents, types.MarkupContent)
        capabilities = editor.client.capabilities
        hover = capabilities and capabilities.text_document and capabilities.text_document.hover
        formats = (hover and hover.content_format) or [types.MarkupKind.PlainText]
        assert found.contents.kind in formats
    return found


async def hover_text(file: OpenFile, beginning: str, word: str = "") -> str:
    """Return the hover of a word in the line with this beginning, or an empty string."""
    found = await request_hover(file, file.text.at(beginning, word))
    return found.contents.value if found else ""  # type: ignore[union-attr]


async def symbols(file: OpenFile) -> list[Symbol]:
    """Return the outermost symbols of the outline."""
    params = types.DocumentSymbolParams(file.document)
    found = await file.editor.reply(file.editor.client.text_document_document_symbol_async(params))
    return list(found or ())


async def symbol_names(file: OpenFile) -> list[str]:
    """Return the names of all symbols, each before its children."""
    return list(chain.from_iterable(map(_names, await symbols(file))))


async def folds(file: OpenFile) -> list[tuple[str, str]]:
    """Return the first and the last line of every folding range."""
    params = types.FoldingRangeParams(file.document)
    found = await file.editor.reply(file.editor.client.text_document_folding_range_async(params))
    lines = file.text.lines
    return [(lines[fold.start_line], lines[fold.end_line]) for fold in found or ()]


async def code_lens_titles(file: OpenFile) -> list[tuple[str, str]]:
    """Return the lines with a code lens, and the resolved titles."""
    client, reply = file.editor.client, file.editor.reply
    found = await reply(client.text_document_code_lens_async(types.CodeLensParams(file.document)))
    titles = []
    for lens in found or ():
        resolved = await reply(client.code_lens_resolve_async(lens))
        assert resolved.command is not None
        titles.append((file.text.lines[lens.range.start.line], resolved.command.title))
    return titles


def _names(symbol: Symbol) -> list[str]:
    children = symbol.children if isinstance(symbol, types.DocumentSymbol) else ()
    return [symbol.name, *chain.from_iterable(map(_names, children or ()))]
