"""Findings put right, explained and silenced, as editors do it."""

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor

Compiled = Callable[[str], Compile]
DAMAGE = ("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
WORKSPACE = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities()
    )
)


async def actions(file: OpenFile, found: types.Diagnostic) -> list[types.CodeAction]:
    context = types.CodeActionContext([found])
    params = types.CodeActionParams(file.document, found.range, context)
    answer = await file.editor.reply(file.editor.client.text_document_code_action_async(params))
    return [action for action in answer or () if isinstance(action, types.CodeAction)]


def make(file: OpenFile, edit: types.WorkspaceEdit | None) -> None:
    """Make the edits of one file as the editor does."""
    assert edit is not None
    changes = [*(edit.changes or {}).values()]
    for change in edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == file.version
        changes.append(list(change.edits))  # type: ignore[arg-type]
    for one in sorted((e for each in changes for e in each), key=lambda e: e.range.start)[::-1]:
        line = file.text.lines[one.range.start.line]
        start, end = (file.text.column(place) for place in (one.range.start, one.range.end))
        assert line[start - 1] in "=( "
        assert line[end] in ",) "
        file.edit(((one.range.start.line, start), (one.range.end.line, end), one.new_text))


async def test_a_size_is_put_right(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    file.substitute(*DAMAGE)
    (found,) = [one for one in await file.diagnostics() if one.code == "size-mismatch"]
    put = (await actions(file, found))[0]
    assert put.title == "Put `1024`"
    assert list(put.diagnostics or ()) == [found]
    make(file, put.edit)
    assert await file.codes() == []


async def test_all_right_numbers_at_once(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    file.substitute(*DAMAGE)
    file.substitute("Total bytes used: 40448", "Total bytes used: 40449")
    assert sorted(await file.codes()) == ["size-mismatch", "total-mismatch"]
    (found, *_) = [one for one in await file.diagnostics() if one.code == "size-mismatch"]
    fix_all = (await actions(file, found))[-1]
    assert fix_all.kind == "source.fixAll.hlo"
    if fix_all.edit is None:
        client = any_editor.client
        fix_all = await any_editor.reply(client.code_action_resolve_async(fix_all))
    make(file, fix_all.edit)
    assert await file.codes() == []


async def test_a_rule_is_explained(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    file.substitute(*DAMAGE)
    (found,) = [one for one in await file.diagnostics() if one.code == "size-mismatch"]
    shown, said = len(any_editor.client.shown_documents), len(any_editor.client.messages)
    await any_editor.reply(
        any_editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams("hlo.explainRule", arguments=[found.code])
        )
    )
    window = any_editor.client.capabilities and any_editor.client.capabilities.window
    if window and window.show_document and window.show_document.support:
        await any_editor.until(lambda: len(any_editor.client.shown_documents) > shown)
        document = any_editor.client.shown_documents[-1]
        assert document.selection is not None
        page = any_editor.text_of(document.uri)
        assert page.lines[document.selection.start.line] == "### size-mismatch"
    else:
        await any_editor.until(lambda: len(any_editor.client.messages) > said)
        assert any_editor.client.messages.pop().message.startswith("size-mismatch: ")


async def test_a_link_leads_to_the_text_about_the_rule(vscode: Editor, compiled: Compiled) -> None:
    file = vscode.open(compiled("one file").assignment)
    file.substitute(*DAMAGE)
    (found,) = [one for one in await file.diagnostics() if one.code == "size-mismatch"]
    assert found.code_description is not None
    uri, _, line = found.code_description.href.partition("#L")
    assert vscode.text_of(uri).lines[int(line) - 1] == "### size-mismatch"


async def test_a_silenced_rule_is_silent_at_once(any_editor: Editor, compiled: Compiled) -> None:
    path = compiled("one file").assignment
    file = any_editor.open(path)
    file.substitute(*DAMAGE)
    assert await file.codes() == ["size-mismatch"]
    settings = path.parent / "hlo-lsp.toml"
    settings.write_text('ignore = ["size-mismatch"]\n', "utf-8")
    event = types.FileEvent(settings.as_uri(), types.FileChangeType.Created)
    any_editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    if any_editor.pulls:
        assert await file.codes() == []
    else:
        await any_editor.until(lambda: any_editor.last_pushed(file.uri) == [])


async def test_all_dumps_of_a_folder(tmp_path: Path, compiled: Compiled) -> None:
    path = compiled("one file").assignment
    good = path.read_text("utf-8")
    path.with_name("damaged.txt").write_text(good.replace(*DAMAGE), "utf-8")
    async with editor(WORKSPACE, tmp_path / "log", folder=path.parent) as pulling:
        client = pulling.client
        params = types.WorkspaceDiagnosticParams([])
        report = await pulling.reply(client.workspace_diagnostic_async(params))
        codes = {
            item.uri.rpartition("/")[2]: [found.code for found in item.items]
            for item in report.items
            if isinstance(item, types.WorkspaceFullDocumentDiagnosticReport)
        }
        assert codes == {"damaged.txt": ["size-mismatch"]}
        ids = [types.PreviousResultId(item.uri, item.result_id or "") for item in report.items]
        again = await pulling.reply(
            client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(ids))
        )
        assert [item.kind for item in again.items] == ["unchanged"]
