"""textDocument/selectionRange."""

from lsprotocol import types

from hlo_lsp.analysis.cursor.selection import Extent, selections
from hlo_lsp.features.session import Asked, Session
from hlo_lsp.features.wire import Json


async def selection_ranges(
    session: Session, params: types.SelectionRangeParams
) -> list[Json] | None:
    """What may be selected around each position; nothing there where no dump is."""
    found: list[Json] = []
    knows = False
    for position in params.positions:
        asked = await session.ask(params.text_document, position.line)
        knows = knows or asked is not None
        found.append(_nothing(position) if asked is None else _selection(asked, position))
    return found if knows else None


def _selection(asked: Asked, position: types.Position) -> Json:
    selection: Json = {}
    for extent in reversed(selections(asked.file, *asked.convert.column(asked.file, position))):
        selection = {"range": _range(asked, extent), **({"parent": selection} if selection else {})}
    return selection


def _range(asked: Asked, extent: Extent) -> Json:
    units, file = asked.convert.encoding.units, asked.file
    start, end = (
        {"line": file.first_line + line, "character": units(file.lines[line], column)}
        for line, column in extent
    )
    return {"start": start, "end": end}


def _nothing(position: types.Position) -> Json:
    place = {"line": position.line, "character": position.character}
    return {"range": {"start": place, "end": place}}
