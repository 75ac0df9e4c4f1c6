"""textDocument/prepareRename and textDocument/rename."""

from lsprotocol import types

from hlo_lsp.analysis.module.rename import RenameError, renamable_at, renamed
from hlo_lsp.features.refusal import RefusedError
from hlo_lsp.features.session import Asked


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
