"""Tests for inlay hints in real dumps."""

from collections.abc import Callable

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile

Compiled = Callable[[str], Compile]


async def hints(file: OpenFile) -> list[types.InlayHint]:
    last = len(file.text.lines) - 1
    span = types.Range(types.Position(0, 0), types.Position(last, 0))
    params = types.InlayHintParams(file.document, span)
    reply = await file.editor.reply(file.editor.client.text_document_inlay_hint_async(params))
    return list(reply or ())


def labeled_text(file: OpenFile, hint: types.InlayHint) -> str:
    """Return the text before a hint, and its label."""
    line = file.text.lines[hint.position.line]
    return f"{line[: file.text.column(hint.position)]}|{hint.label}"


async def test_module_hints_use_companion_files(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").module)
    found = await hints(file)
    labels = [labeled_text(file, hint) for hint in found]
    assert "  %fusion.9|256.0 KiB HBM" in labels
    assert any(each.endswith("|step 25") for each in labels)
    assert any("|padded " in each for each in labels)
    hint = next(hint for hint in found if str(hint.label) == "step 25")
    resolved = await any_editor.reply(any_editor.client.inlay_hint_resolve_async(hint))
    assert str(resolved.tooltip).startswith("runs at step 25 of ")
