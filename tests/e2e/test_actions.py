"""Findings put right, explained and silenced, as editors do it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from e2e.acting import actions, choose, commands, make, on_save
from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor

Compiled = Callable[[str], Compile]
DAMAGE = ("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
TOTAL = ("Total bytes used: 40448 (39.5KiB)", "Total bytes used: 40449 (39.5KiB)")
# What is put right by its first action: the damage, the code, what the action is called.
PUT_RIGHT = {
    "a size": (*DAMAGE, "size-mismatch", "Change to `1024`"),
    "a total": (*TOTAL, "total-mismatch", "Change to `40448 (39.5KiB)`"),
    "a step": ("    9:add_add_fusion", "    90:add_add_fusion", "schedule-numbering",
        "Change to `9`",
    ),
    "a cumulative sum": (
        "(cumulative: 48 bytes)", "(cumulative: 49 bytes)", "peak-cumulative", "Change to `48`",
    ),
}  # fmt: skip


async def told(file: OpenFile, code: str) -> types.Diagnostic:
    """Return the only diagnostic with a code."""
    (found,) = [one for one in await file.diagnostics() if one.code == code]
    return found


@pytest.mark.parametrize("name", PUT_RIGHT)
async def test_right_number_is_put_in(any_editor: Editor, compiled: Compiled, name: str) -> None:
    old, new, code, title = PUT_RIGHT[name]
    file = any_editor.open(compiled("one file").assignment)
    whole = file.text.whole
    file.substitute(old, new)
    found = await told(file, code)
    put = (await actions(file, found))[0]
    assert (put.title, put.kind) == (title, types.CodeActionKind.QuickFix)
    assert list(put.diagnostics or ()) == [found]
    await choose(any_editor, put)
    assert file.text.whole == whole
    assert await file.codes() == []


async def test_removable_text_is_faded_if_supported(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    line = file.text.line("    8:xor.5")
    file.edit(((line, 0), (line, 0), file.text.lines[line] + "\n"))
    found = (await file.diagnostics())[0]
    assert any(action.title.startswith("Remove") for action in await actions(file, found))
    capabilities = any_editor.client.capabilities
    assert capabilities is not None
    assert capabilities.text_document is not None
    published = capabilities.text_document.publish_diagnostics
    assert published is not None
    can = published.tag_support is not None
    assert found.tags == ((types.DiagnosticTag.Unnecessary,) if can else None)


async def test_all_right_numbers_at_once(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    whole = file.text.whole
    for old, new, *_ in (PUT_RIGHT[name] for name in ("a size", "a total", "a cumulative sum")):
        file.substitute(old, new)
    (fix_all,) = await on_save(file)
    assert (fix_all.title, fix_all.kind) == ("Fix all derivable values", "source.fixAll.hlo")
    edit = await choose(any_editor, fix_all)
    assert file.text.whole == whole
    assert await file.codes() == []
    assert await on_save(file) == []
    assert edit.document_changes is not None or edit.changes is not None


async def test_fix_all_covers_all_sections(any_editor: Editor, compiled: Compiled) -> None:
    good = compiled("one file").assignment.read_text("utf-8")
    bad = good.replace(*DAMAGE).replace(*TOTAL)
    parts = [
        f"*** Begin module_000{number}.f.buffer-assignment.txt ***\n{text}"
        f"*** End module_000{number}.f.buffer-assignment.txt ***\n"
        for number, text in enumerate((bad, good, bad))
    ]
    file = any_editor.open("untitled:stdout", "".join(parts))
    assert sorted(await file.codes()) == ["size-mismatch"] * 2 + ["total-mismatch"] * 2
    (fix_all,) = await on_save(file)
    assert fix_all.title == "Fix all derivable values"
    await choose(any_editor, fix_all)
    assert file.text.whole == "".join(parts).replace(*DAMAGE[::-1]).replace(*TOTAL[::-1])
    assert await file.codes() == []


async def test_rule_is_explained(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    file.substitute(*DAMAGE)
    found = await told(file, "size-mismatch")
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


async def silence(file: OpenFile) -> types.CodeAction | None:
    """Return the action that ignores the rule on sizes."""
    found = await told(file, "size-mismatch")
    titles = {action.title: action for action in await actions(file, found)}
    return next((titles[title] for title in titles if title.startswith("Ignore")), None)


async def test_rule_is_silenced_for_a_folder(any_editor: Editor, compiled: Compiled) -> None:
    """By a new file, where the client makes files; nobody need tell the server of it."""
    path = compiled("one file").assignment
    file = any_editor.open(path)
    file.substitute(*DAMAGE)
    action = await silence(file)
    capabilities = any_editor.client.capabilities
    workspace = capabilities and capabilities.workspace
    edits = workspace and workspace.workspace_edit
    operations = (edits and edits.document_changes and edits.resource_operations) or ()
    assert (action is not None) == (types.ResourceOperationKind.Create in operations)
    if action is None:
        return
    assert action.title == f"Ignore `size-mismatch` in folder `{path.parent.name}`"
    await choose(any_editor, action)
    settings = path.with_name("hlo-lsp.toml")
    assert settings.read_text("utf-8") == 'ignore = ["size-mismatch"]\n'
    await gone(file)


async def gone(file: OpenFile) -> None:
    """Wait until nothing is wrong with a file any more."""
    if file.editor.pulls:
        assert await file.codes() == []
    else:
        await file.editor.until(lambda: file.editor.last_pushed(file.uri) == [])


async def test_server_applies_edits_for_command_only_clients(
    tmp_path: Path, compiled: Compiled
) -> None:
    capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(apply_edit=True)
    )
    async with editor(capabilities, tmp_path / "log") as plain:
        made: list[types.WorkspaceEdit] = []

        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            made.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

        plain.client.feature(types.WORKSPACE_APPLY_EDIT)(apply)
        file = plain.open(compiled("one file").assignment)
        whole = file.text.whole
        file.substitute(*DAMAGE)
        put, *_ = await commands(file, await told(file, "size-mismatch"))
        params = types.ExecuteCommandParams(put.command, arguments=put.arguments)
        await plain.reply(plain.client.workspace_execute_command_async(params))
        (edit,) = made
        assert edit.document_changes is None
        make(plain, edit)
        assert file.text.whole == whole
        assert await file.codes() == []
