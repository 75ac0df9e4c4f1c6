"""textDocument/prepareRename and textDocument/rename."""

from lsprotocol import types

from hlo_lsp.lsp.positions import Json, range_of
from hlo_lsp.lsp.request import RefusedError
from hlo_lsp.lsp.session import Asked
from hlo_lsp.program.renaming import RenameError, linked, renamable_at, renamed


def prepare_rename(asked: Asked, position: types.Position) -> types.PrepareRenamePlaceholder:
    """The name at a position, without its sign.

    Raises:
        RefusedError: there is nothing that can be renamed.
    """
    line, column = asked.convert.column(asked.file, position)
    try:
        found = renamable_at(asked.file, line, column)
    except RenameError as error:
        raise RefusedError(str(error)) from None
    return types.PrepareRenamePlaceholder(asked.convert.range(found.place), found.name)


def rename(asked: Asked, params: types.RenameParams, version: int | None) -> types.WorkspaceEdit:
    """The new name at every place of the file that names the same thing.

    ``version`` is the client's version of the file.

    Raises:
        RefusedError: there is nothing that can be renamed, or not so.
    """
    file = asked.file
    line, column = asked.convert.column(file, params.position)
    try:
        places = renamed(file, line, column, params.new_name)
    except RenameError as error:
        raise RefusedError(str(error)) from None
    new = params.new_name.removeprefix("%")
    edits = [types.TextEdit(asked.convert.range(place), new) for place in places]
    if not asked.client.versions_edits:
        return types.WorkspaceEdit(changes={file.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(file.uri, version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


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
