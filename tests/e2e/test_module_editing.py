"""What editors ask while somebody edits module text: selections, linked names, formatting."""

from collections.abc import Callable, Sequence

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile

Compiled = Callable[[str], Compile]
OPTIONS = types.FormattingOptions(tab_size=4, insert_spaces=False)


def texts(file: OpenFile, ranges: Sequence[types.Range]) -> list[str]:
    """Return the texts of ranges within a line."""
    found = []
    for span in ranges:
        assert span.start.line == span.end.line
        line = file.text.lines[span.start.line]
        found.append(line[file.text.column(span.start) : file.text.column(span.end)])
    return found


async def test_selections_grow(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").module)
    places = [file.text.at("ENTRY %main.4", "main"), file.text.at("  %add.6", "add.6")]
    params = types.SelectionRangeParams(file.document, places)
    request = any_editor.client.text_document_selection_range_async(params)
    found = await any_editor.reply(request)
    assert found is not None
    assert len(found) == 2
    for place, first in zip(places, found, strict=True):
        assert texts(file, [first.range])[0] in {"main.4", "add.6"}
        step, count = first, 1
        assert step.range.start <= place <= step.range.end
        while step.parent is not None:
            assert step.parent.range != step.range
            assert step.parent.range.start <= step.range.start
            assert step.range.end <= step.parent.range.end
            step, count = step.parent, count + 1
        assert step.range.start == types.Position(0, 0)
        assert count > 3


async def test_a_name_at_all_its_places(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").module)
    params = types.LinkedEditingRangeParams(file.document, file.text.at("  %add.6", "add.6"))
    request = any_editor.client.text_document_linked_editing_range_async(params)
    found = await any_editor.reply(request)
    assert found is not None
    assert set(texts(file, found.ranges)) == {"add.6"}
    assert len(found.ranges) > 1


async def test_real_modules_need_no_formatting(any_editor: Editor, compiled: Compiled) -> None:
    for name in ("tpu", "cpu", "gpu"):
        file = any_editor.open(compiled(name).module)
        params = types.DocumentFormattingParams(file.document, OPTIONS)
        request = any_editor.client.text_document_formatting_async(params)
        assert not await any_editor.reply(request)


async def test_a_line_is_put_right(any_editor: Editor, compiled: Compiled) -> None:
    file = any_editor.open(compiled("tpu").module)
    whole = file.text.lines
    line = file.text.line("  %add.6")
    file.edit(((line, 0), (line, 2), "\t"))
    span = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    params = types.DocumentRangeFormattingParams(file.document, span, OPTIONS)
    request = any_editor.client.text_document_range_formatting_async(params)
    found = await any_editor.reply(request)
    assert found is not None
    (edit,) = found
    column = file.text.column(edit.range.start)
    file.edit(((line, column), (line, file.text.column(edit.range.end)), edit.new_text))
    assert file.text.lines == whole
