"""Requests for code actions, and the application of their edits."""

from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from e2e.editor import Editor, OpenFile
from e2e.text import Text

Kind = str | types.CodeActionKind


async def code_actions(file: OpenFile, found: types.Diagnostic) -> list[types.CodeAction]:
    """Return the code actions for a diagnostic."""
    answer = await _request_code_actions(file, found.range, types.CodeActionContext([found]))
    assert not any(isinstance(action, types.Command) for action in answer)
    return [action for action in answer if isinstance(action, types.CodeAction)]


async def code_action_commands(file: OpenFile, found: types.Diagnostic) -> list[types.Command]:
    """Return the commands for a diagnostic, for a client without code action literals."""
    answer = await _request_code_actions(file, found.range, types.CodeActionContext([found]))
    assert not any(isinstance(action, types.CodeAction) for action in answer)
    return [action for action in answer if isinstance(action, types.Command)]


async def source_actions(file: OpenFile, kind: Kind = "source.fixAll") -> list[types.CodeAction]:
    """Return the actions of a kind for the whole text, as an editor requests them before saving."""
    end = file.text.position(len(file.text.lines) - 1, len(file.text.lines[-1]))
    context = types.CodeActionContext([], [kind], types.CodeActionTriggerKind.Automatic)
    answer = await _request_code_actions(file, types.Range(types.Position(0, 0), end), context)
    return [action for action in answer if isinstance(action, types.CodeAction)]


async def apply_action(editor: Editor, action: types.CodeAction) -> types.WorkspaceEdit:
    """Resolve an action if necessary, apply its edit, and return the edit."""
    if action.edit is None:
        assert action.data is not None
        action = await editor.reply(editor.client.code_action_resolve_async(action))
    assert action.edit is not None
    apply_edit(editor, action.edit)
    return action.edit


def apply_edit(editor: Editor, edit: types.WorkspaceEdit) -> None:
    """Apply edits to open files in the editor, and to other files on disk."""
    assert (edit.changes is None) != (edit.document_changes is None)
    for uri, changes in (edit.changes or {}).items():
        _apply_text_edits(editor, uri, list(changes))
    for change in edit.document_changes or ():
        if isinstance(change, types.CreateFile):
            _path(change.uri).touch()
            continue
        assert isinstance(change, types.TextDocumentEdit)
        uri = change.text_document.uri
        file = editor.files.get(uri)
        assert change.text_document.version == (None if file is None else file.version)
        _apply_text_edits(editor, uri, list(change.edits))  # type: ignore[arg-type]


async def _request_code_actions(
    file: OpenFile, span: types.Range, context: types.CodeActionContext
) -> list[types.CodeAction | types.Command]:
    params = types.CodeActionParams(file.document, span, context)
    client = file.editor.client
    reply = await file.editor.reply(client.text_document_code_action_async(params))
    return list(reply or ())


def _apply_text_edits(editor: Editor, uri: str, edits: list[types.TextEdit]) -> None:
    file = editor.files.get(uri)
    text = editor.text_of(uri)
    for one in sorted(edits, key=lambda one: one.range.start, reverse=True):
        start, end = (_line_and_column(text, each) for each in (one.range.start, one.range.end))
        if file is None:
            text = text.with_edit(start, end, one.new_text)
        else:
            file.edit((start, end, one.new_text))
    if file is None:
        _path(uri).write_text(text.whole, "utf-8")


def _line_and_column(text: Text, position: types.Position) -> tuple[int, int]:
    return position.line, text.column(position)


def _path(uri: str) -> Path:
    path = to_fs_path(uri)
    assert path is not None
    return Path(path)
