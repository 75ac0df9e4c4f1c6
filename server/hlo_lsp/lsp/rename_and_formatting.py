"""Formatting, renaming, and linked editing: requests whose results change a text."""

from lsprotocol import types

from hlo_lsp.ide.formatting.formatting import format_module
from hlo_lsp.lsp.client import MAX_FULL_ANSWER_LINES, Json
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import RequestContext
from hlo_lsp.program.renaming import RenameError, linked_places, rename_places, rename_target_at

_WORD_PATTERN = r"[A-Za-z_][A-Za-z0-9_.\-]*"  # hlo_lexer.cc, IdentifierCharRegex


def format_document(context: RequestContext) -> list[Json]:
    """Return the edits that format a file. The widths and tabs of the client are ignored.

    Raises:
        RequestFailedError: the text is so long that the edits would block an editor.
    """
    if len(context.file.lines) > MAX_FULL_ANSWER_LINES:
        raise RequestFailedError(
            f"The text has more than {MAX_FULL_ANSWER_LINES:,} lines: format a selection."
        )
    return _edits(context, 0, None)


def format_range(context: RequestContext, span: types.Range) -> list[Json]:
    """Return the edits that format all lines of a range; an end at column 0 excludes its line.

    The range may begin before a section of the text, or after it.
    """
    begin = context.file.first_line
    first, end = span.start.line - begin, span.end.line - begin + (span.end.character > 0)
    end = max(end, first + 1)
    return [] if end <= 0 else _edits(context, max(first, 0), end)


def _edits(context: RequestContext, first: int, end: int | None) -> list[Json]:
    return [
        {
            "range": context.client.range_json(context.file, edit.start, edit.end),
            "newText": edit.text,
        }
        for edit in format_module(context.file, first, end)
    ]


def prepare_rename(
    context: RequestContext, position: types.Position
) -> types.PrepareRenamePlaceholder:
    """Return the name at a position, without ``%``.

    Raises:
        RequestFailedError: there is nothing to rename.
    """
    line, column = context.client.point(context.file, position)
    try:
        found = rename_target_at(context.file, line, column)
    except RenameError as error:
        raise RequestFailedError(str(error)) from None
    return types.PrepareRenamePlaceholder(context.client.range(found.place), found.name)


def rename(context: RequestContext, params: types.RenameParams) -> types.WorkspaceEdit:
    """Replace a name at every place of the file that refers to the same entity.

    Raises:
        RequestFailedError: there is nothing to rename, or the new name is not valid.
    """
    file = context.file
    line, column = context.client.point(file, params.position)
    try:
        places = rename_places(file, line, column, params.new_name)
    except RenameError as error:
        raise RequestFailedError(str(error)) from None
    new = params.new_name.removeprefix("%")
    edits = [types.TextEdit(context.client.range(place), new) for place in places]
    return context.client.workspace_edit({file.uri: edits}, context.session.version)


def linked_editing_ranges(context: RequestContext, position: types.Position) -> Json | None:
    """Return the definition and the uses of the instruction at a position, without ``%``.

    Returns None where renaming would fail, because the editor sends this request on its own.
    """
    try:
        places = linked_places(context.file, *context.client.point(context.file, position))
    except RenameError:
        return None
    if not places:
        return None
    return {
        "ranges": [context.client.place_range_json(place) for place in places],
        "wordPattern": _WORD_PATTERN,
    }
