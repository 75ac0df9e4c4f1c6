"""textDocument/definition, declaration and typeDefinition."""

from collections.abc import Callable

from lsprotocol import types

from hlo_lsp.analysis import navigation
from hlo_lsp.analysis.subject import Found
from hlo_lsp.features.session import Asked
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place


def definition(asked: Asked, position: types.Position) -> types.Location | None:
    """The entry of a value, the line of an instruction."""
    return _go(asked, position, navigation.definition)


def declaration(asked: Asked, position: types.Position) -> types.Location | None:
    """The allocation line."""
    return _go(asked, position, navigation.declaration)


def type_definition(asked: Asked, position: types.Position) -> types.Location | None:
    """The entry of the value that flows through an instruction."""
    return _go(asked, position, navigation.type_definition)


def _go(
    asked: Asked, position: types.Position, where: Callable[[DumpSet, Found], Place | None]
) -> types.Location | None:
    found = asked.at(position)
    place = None if found is None else where(asked.dump, found)
    return None if place is None else asked.convert.location(place)
