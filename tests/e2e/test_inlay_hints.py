"""Inlay hints of real dumps, as each editor asks for them."""

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


def around(file: OpenFile, hint: types.InlayHint) -> str:
    """Return the text before a hint, and its label."""
    line = file.text.lines[hint.position.line]
    return f"{line[: file.text.column(hint.position)]}|{hint.label}"


async def test_hints_of_a_module_know_its_neighbours(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("tpu").module)
    found = await hints(file)
    seen = [around(file, hint) for hint in found]
    assert "  %fusion.9|256.0 KiB HBM" in seen
    assert any(each.endswith("|step 25") for each in seen)
    assert any("|padded " in each for each in seen)
    hint = next(hint for hint in found if str(hint.label) == "step 25")
    resolved = await any_editor.reply(any_editor.client.inlay_hint_resolve_async(hint))
    assert str(resolved.tooltip).startswith("runs at step 25 of ")
