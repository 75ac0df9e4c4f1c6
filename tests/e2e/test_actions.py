"""Tests for code actions: quick fixes, fix all, rule explanations, and ignored rules."""

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.acting import (
    apply_action,
    apply_edit,
    code_action_commands,
    code_actions,
    source_actions,
)
from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile, editor

Compiled = Callable[[str], Compile]
DAMAGE = ("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
TOTAL = ("Total bytes used: 40448 (39.5KiB)", "Total bytes used: 40449 (39.5KiB)")


async def only_diagnostic(file: OpenFile, code: str) -> types.Diagnostic:
    """Return the only diagnostic with a code."""
    (found,) = [one for one in await file.diagnostics() if one.code == code]
    return found


async def test_quick_fix_corrects_number(neovim: Editor, compiled: Compiled) -> None:
    file = neovim.open(compiled("one file").assignment)
    whole = file.text.whole
    file.substitute(*DAMAGE)
    found = await only_diagnostic(file, "size-mismatch")
    fix = (await code_actions(file, found))[0]
    assert (fix.title, fix.kind) == ("Change to `1024`", types.CodeActionKind.QuickFix)
    assert list(fix.diagnostics or ()) == [found]
    await apply_action(neovim, fix)
    assert file.text.whole == whole
    assert await file.codes() == []


async def test_fix_all_covers_all_sections(neovim: Editor, compiled: Compiled) -> None:
    good = compiled("one file").assignment.read_text("utf-8")
    bad = good.replace(*DAMAGE).replace(*TOTAL)
    parts = [
        f"*** Begin module_000{number}.f.buffer-assignment.txt ***\n{text}"
        f"*** End module_000{number}.f.buffer-assignment.txt ***\n"
        for number, text in enumerate((bad, good, bad))
    ]
    file = neovim.open("untitled:stdout", "".join(parts))
    assert sorted(await file.codes()) == ["size-mismatch"] * 2 + ["total-mismatch"] * 2
    (fix_all,) = await source_actions(file)
    assert fix_all.title == "Fix all derivable values"
    await apply_action(neovim, fix_all)
    assert file.text.whole == "".join(parts).replace(*DAMAGE[::-1]).replace(*TOTAL[::-1])
    assert await file.codes() == []


async def test_rule_is_explained(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("one file").assignment)
    file.substitute(*DAMAGE)
    found = await only_diagnostic(file, "size-mismatch")
    client = any_editor.client
    document_count, message_count = len(client.shown_documents), len(client.messages)
    await any_editor.reply(
        any_editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams("hlo.explainRule", arguments=[found.code])
        )
    )
    window = any_editor.client.capabilities and any_editor.client.capabilities.window
    if window and window.show_document and window.show_document.support:
        await any_editor.wait_until(lambda: len(client.shown_documents) > document_count)
        document = any_editor.client.shown_documents[-1]
        assert document.selection is not None
        page = any_editor.text_of(document.uri)
        assert page.lines[document.selection.start.line] == "### size-mismatch"
    else:
        await any_editor.wait_until(lambda: len(client.messages) > message_count)
        assert any_editor.client.messages.pop().message.startswith("size-mismatch: ")


async def test_server_applies_edits_for_command_only_clients(
    tmp_path: Path, compiled: Compiled
) -> None:
    capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(apply_edit=True)
    )
    async with editor(capabilities, tmp_path / "log") as plain:
        edits: list[types.WorkspaceEdit] = []

        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            edits.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

        plain.client.feature(types.WORKSPACE_APPLY_EDIT)(apply)
        file = plain.open(compiled("one file").assignment)
        whole = file.text.whole
        file.substitute(*DAMAGE)
        command, *_ = await code_action_commands(file, await only_diagnostic(file, "size-mismatch"))
        params = types.ExecuteCommandParams(command.command, arguments=command.arguments)
        await plain.reply(plain.client.workspace_execute_command_async(params))
        (edit,) = edits
        assert edit.document_changes is None
        apply_edit(plain, edit)
        assert file.text.whole == whole
        assert await file.codes() == []
