"""textDocument/prepareRename and textDocument/rename."""

from lsprotocol import types

from hlo_lsp.lsp.positions import Json, place_range_json
from hlo_lsp.lsp.request import RequestFailedError
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.program.renaming import RenameError, linked_places, rename_places, rename_target_at


def prepare_rename(
    asked: RequestContext, position: types.Position
) -> types.PrepareRenamePlaceholder:
    """The name at a position, without its sign.

    Raises:
        RefusedError: there is nothing that can be renamed.
    """
    line, column = asked.convert.column(asked.file, position)
    try:
        found = rename_target_at(asked.file, line, column)
    except RenameError as error:
        raise RequestFailedError(str(error)) from None
    return types.PrepareRenamePlaceholder(asked.convert.range(found.place), found.name)


def rename(
    asked: RequestContext, params: types.RenameParams, version: int | None
) -> types.WorkspaceEdit:
    """The new name at every place of the file that names the same thing.

    ``version`` is the client's version of the file.

    Raises:
        RefusedError: there is nothing that can be renamed, or not so.
    """
    file = asked.file
    line, column = asked.convert.column(file, params.position)
    try:
        places = rename_places(file, line, column, params.new_name)
    except RenameError as error:
        raise RequestFailedError(str(error)) from None
    new = params.new_name.removeprefix("%")
    edits = [types.TextEdit(asked.convert.range(place), new) for place in places]
    if not asked.client.versions_edits:
        return types.WorkspaceEdit(changes={file.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(file.uri, version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


_WORD_PATTERN = r"[A-Za-z_][A-Za-z0-9_.\-]*"  # hlo_lexer.cc, IdentifierCharRegex


def linked_editing_ranges(asked: RequestContext, position: types.Position) -> Json | None:
    """The definition and the uses of the instruction here, without signs.

    None where renaming would be refused: nobody asked for it, so nobody is told why.
    """
    try:
        places = linked_places(asked.file, *asked.convert.column(asked.file, position))
    except RenameError:
        return None
    if not places:
        return None
    return {
        "ranges": [place_range_json(asked.convert, place) for place in places],
        "wordPattern": _WORD_PATTERN,
    }
