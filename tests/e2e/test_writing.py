"""Tests for completion and rename in real modules and in new text."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile

Compiled = Callable[[str], Compile]
_TAB_STOP = re.compile(r"\$\{\d+(?::((?:[^\\}]|\\.)*)|\|([^,|]*)[^|]*\|)\}|\$\d")


async def complete(
    file: OpenFile, line: int, column: int, trigger: str = ""
) -> dict[str, types.CompletionItem]:
    """Return the completion items at a position by label, in the order of the list."""
    kind = types.CompletionTriggerKind
    context = (
        types.CompletionContext(kind.TriggerCharacter, trigger)
        if trigger
        else types.CompletionContext(kind.Invoked)
    )
    found = await file.editor.reply(
        file.editor.client.text_document_completion_async(
            types.CompletionParams(file.document, file.text.position(line, column), context)
        )
    )
    if found is None:
        return {}
    assert isinstance(found, types.CompletionList)
    return {item.label: item for item in sorted(found.items, key=lambda item: item.sort_text or "")}


def append(file: OpenFile, line: int, typed: str) -> None:
    """Insert text at the end of a line."""
    end = line, len(file.text.lines[line])
    file.edit((end, end, typed))


async def accept(file: OpenFile, line: int, typed: str, label: str) -> None:
    """Insert text at the end of a line, and accept a completion with its default tab stops."""
    append(file, line, typed)
    items = await complete(file, line, len(file.text.lines[line]))
    assert label in items, list(items)[:20]
    edit: Any = items[label].text_edit
    span = edit.range if isinstance(edit, types.TextEdit) else edit.insert
    new = edit.new_text
    if items[label].insert_text_format is types.InsertTextFormat.Snippet:
        new = re.sub(r"\\(.)", r"\1", _TAB_STOP.sub(lambda stop: stop[1] or stop[2] or "", new))
    start = line, file.text.column(span.start)
    file.edit((start, (line, file.text.column(span.end)), new))


async def rename(file: OpenFile, beginning: str, word: str, new: str) -> types.WorkspaceEdit:
    """Return the edit that renames a word in the line with this beginning."""
    position = file.text.at(beginning, word)
    found = await file.editor.reply(
        file.editor.client.text_document_rename_async(
            types.RenameParams(file.document, position, new)
        )
    )
    assert found is not None
    return found


def apply(file: OpenFile, edit: types.WorkspaceEdit) -> None:
    """Apply an edit, and assert that it has the form that the editor supports."""
    capabilities = file.editor.client.capabilities
    workspace = capabilities and capabilities.workspace and capabilities.workspace.workspace_edit
    edits: list[Any]
    if workspace and workspace.document_changes:
        [change] = edit.document_changes or ()
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document == types.OptionalVersionedTextDocumentIdentifier(
            file.uri, file.version
        )
        edits = list(change.edits)
    else:
        assert edit.changes is not None
        edits = list(edit.changes[file.uri])
    column = file.text.column
    for item in reversed(edits):
        start, end = item.range.start, item.range.end
        file.edit(((start.line, column(start)), (end.line, column(end)), item.new_text))


async def test_module_is_written_with_completion_only(any_editor: Editor) -> None:
    file = any_editor.open("untitled:new", "")
    await accept(file, 0, "Hl", "HloModule")
    snippets = "name" in file.text.whole
    file.set_text(
        "HloModule m\n\n%sum (a: f32[], b: f32[]) -> f32[] {\n  %a = \n  %b = \n  \n}\n\n"
        "ENTRY %main (p: f32[4]) -> f32[] {\n  %p = \n  %zero = \n  \n}\n"
    )
    for line, number in ((3, 0), (4, 1)):
        await accept(file, line, "f", "f32")
        text = file.text.lines[line]
        assert text.endswith("f32[]")
        await accept(file, line, " para", "parameter")
        if not snippets:
            await accept(file, line, "(", str(number))
            append(file, line, ")")
        assert file.text.lines[line].endswith(f"parameter({number})")
    await accept(file, 5, "R", "ROOT")
    await accept(file, 5, "%s = f", "f32[]")
    await accept(file, 5, " add(", "%a")
    await accept(file, 5, ", b", "%b")
    append(file, 5, ")")
    file.change_line("  %p =", "  %p = f32[4]{0} parameter(0)")
    file.change_line("  %zero =", "  %zero = f32[] constant(0)")
    await accept(file, 11, "R", "ROOT")
    await accept(file, 11, "%r = f32[] re", "reduce")
    file.change_line("  ROOT %r", "  ROOT %r = f32[] reduce(")
    await accept(file, 11, "", "%p")
    await accept(file, 11, ", ", "%zero")
    await accept(file, 11, "), di", "dimensions")
    file.change_line("  ROOT %r", "  ROOT %r = f32[] reduce(%p, %zero), dimensions={0}")
    await accept(file, 11, ", to_apply=", "%sum")
    assert file.text.lines[5] == "  ROOT %s = f32[] add(%a, %b)"
    assert file.text.lines[11].endswith("%zero), dimensions={0}, to_apply=%sum")
    assert await file.codes() == []


@pytest.mark.parametrize("kind", ["instruction", "computation"])
async def test_rename_and_rename_back_restore_text(
    any_editor: Editor, compiled: Compiled, kind: str
) -> None:
    file = any_editor.open(compiled("tpu").module)
    before, codes = file.text.whole, await file.codes()
    fusion = next(text for text in file.text.lines if " fusion(" in text)
    word = re.search(r"calls=%([\w.\-]+)" if kind == "computation" else r"\(%([\w.\-]+)", fusion)
    assert word is not None
    position = file.text.position(file.text.line(fusion), word.start(1))
    prepared = await any_editor.reply(
        any_editor.client.text_document_prepare_rename_async(
            types.PrepareRenameParams(file.document, position)
        )
    )
    assert isinstance(prepared, types.PrepareRenamePlaceholder)
    assert prepared.placeholder == word[1]
    apply(file, await rename(file, fusion, word[1], "%quite.new"))
    assert file.text.whole.count("%quite.new") >= 2
    assert await file.codes() == codes
    line = next(text for text in file.text.lines if "%quite.new" in text)
    apply(file, await rename(file, line, "quite.new", word[1]))
    assert file.text.whole == before


async def test_refused_rename_returns_error(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").module)
    with pytest.raises(JsonRpcException, match="is a reserved word of HLO") as error:
        await rename(file, "ENTRY", "%", "f32")
    assert error.value.code == types.LSPErrorCodes.RequestFailed.value
    with pytest.raises(JsonRpcException, match="No instruction, computation, or parameter"):
        await rename(file, "HloModule", "HloModule", "f32")
