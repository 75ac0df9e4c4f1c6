"""textDocument/prepareRename, rename, and linkedEditingRange."""

from lsprotocol import types

from hlo_lsp.lsp.positions import Json, place_range_json
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.program.renaming import RenameError, linked_places, rename_places, rename_target_at


def prepare_rename(
    context: RequestContext, position: types.Position
) -> types.PrepareRenamePlaceholder:
    """Return the name at a position, without ``%``.

    Raises:
        RequestFailedError: there is nothing to rename.
    """
    line, column = context.converter.column(context.file, position)
    try:
        found = rename_target_at(context.file, line, column)
    except RenameError as error:
        raise RequestFailedError(str(error)) from None
    return types.PrepareRenamePlaceholder(context.converter.range(found.place), found.name)


def rename(
    context: RequestContext, params: types.RenameParams, version: int | None
) -> types.WorkspaceEdit:
    """Replace a name at every place of the file that refers to the same entity.

    ``version`` is the client's version of the file.

    Raises:
        RequestFailedError: there is nothing to rename, or the new name is not valid.
    """
    file = context.file
    line, column = context.converter.column(file, params.position)
    try:
        places = rename_places(file, line, column, params.new_name)
    except RenameError as error:
        raise RequestFailedError(str(error)) from None
    new = params.new_name.removeprefix("%")
    edits = [types.TextEdit(context.converter.range(place), new) for place in places]
    if not context.client.can_version_edits:
        return types.WorkspaceEdit(changes={file.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(file.uri, version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


_WORD_PATTERN = r"[A-Za-z_][A-Za-z0-9_.\-]*"  # hlo_lexer.cc, IdentifierCharRegex


def linked_editing_ranges(context: RequestContext, position: types.Position) -> Json | None:
    """Return the definition and the uses of the instruction at a position, without ``%``.

    Returns None where renaming would fail, because the editor sends this request on its own.
    """
    try:
        places = linked_places(context.file, *context.converter.column(context.file, position))
    except RenameError:
        return None
    if not places:
        return None
    return {
        "ranges": [place_range_json(context.converter, place) for place in places],
        "wordPattern": _WORD_PATTERN,
    }
