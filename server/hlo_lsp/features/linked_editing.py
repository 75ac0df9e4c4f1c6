"""textDocument/linkedEditingRange: an instruction's name, edited everywhere at once."""

from lsprotocol import types

from hlo_lsp.analysis.module.rename import RenameError, linked
from hlo_lsp.features.session import Asked
from hlo_lsp.features.wire import Json, range_of

_NAME = r"[A-Za-z_][A-Za-z0-9_.\-]*"  # hlo_lexer.cc, IdentifierCharRegex


def linked_ranges(asked: Asked, position: types.Position) -> Json | None:
    """The definition and the uses of the instruction here, without signs.

    None where renaming would be refused: nobody asked for it, so nobody is told why.
    """
    try:
        places = linked(asked.file, *asked.convert.column(asked.file, position))
    except RenameError:
        return None
    if not places:
        return None
    return {"ranges": [range_of(asked.convert, place) for place in places], "wordPattern": _NAME}
