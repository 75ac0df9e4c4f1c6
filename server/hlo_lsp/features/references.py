"""textDocument/references and documentHighlight."""

from lsprotocol import types

from hlo_lsp.analysis.cursor.references import declared_and_mentioned
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import Json, locations, range_of


def references(
    asked: Asked, position: types.Position, *, with_declaration: bool
) -> list[Json] | None:
    """All mentions in all files of the compile."""
    found = asked.at(position)
    if found is None:
        return None
    declared, mentioned = declared_and_mentioned(asked.dump, found)
    return locations(asked.convert, [*declared, *mentioned] if with_declaration else mentioned)


def highlight(asked: Asked, position: types.Position) -> list[Json] | None:
    """The mentions in this file: declarations as writes, the rest as reads."""
    found = asked.at(position)
    if found is None:
        return None
    kinds = (types.DocumentHighlightKind.Write.value, types.DocumentHighlightKind.Read.value)
    return [
        {"range": range_of(asked.convert, place), "kind": kind}
        for kind, places in zip(kinds, declared_and_mentioned(asked.dump, found), strict=True)
        for place in places
        if place.file is asked.file
    ]
