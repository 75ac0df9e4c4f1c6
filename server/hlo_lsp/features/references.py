"""textDocument/references and documentHighlight."""

from lsprotocol import types

from hlo_lsp.analysis.cursor.references import declared_and_mentioned
from hlo_lsp.features.session import Asked


def references(
    asked: Asked, position: types.Position, *, with_declaration: bool
) -> list[types.Location] | None:
    """All mentions in all files of the compile."""
    found = asked.at(position)
    if found is None:
        return None
    declared, mentioned = declared_and_mentioned(asked.dump, found)
    places = [*declared, *mentioned] if with_declaration else mentioned
    return [asked.convert.location(place) for place in places]


def highlight(asked: Asked, position: types.Position) -> list[types.DocumentHighlight] | None:
    """The mentions in this file: declarations as writes, the rest as reads."""
    found = asked.at(position)
    if found is None:
        return None
    kinds = (types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read)
    return [
        types.DocumentHighlight(asked.convert.range(place), kind)
        for kind, places in zip(kinds, declared_and_mentioned(asked.dump, found), strict=True)
        for place in places
        if place.file is asked.file
    ]
