"""Tests for linked editing of instruction names."""

import re

import pytest
from lsprotocol import types
from pygls.protocol import default_converter

from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.rename_and_formatting import linked_editing_ranges, rename
from lsp.opened import DUMP, at, context
from program.test_renaming import MODULE


async def linked_ranges(text: str, position: types.Position) -> list[types.Range]:
    found = decode(linked_editing_ranges(await context(text), position))
    return [] if found is None else list(found.ranges)


def decode(reply: Json | None) -> types.LinkedEditingRanges | None:
    """Return the reply as a client decodes it."""
    ranges: types.LinkedEditingRanges | None = default_converter().structure(
        reply, types.LinkedEditingRanges | None
    )
    return ranges


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("  %a = f32[] p", "a"), ("  ROOT %r = ", "a, f"), ("%sum (a", "a:"),
        ("  %c = f32[] reduce", "b), "), ("    %b), //", "b"), ("  %d = f32[] call", "d ="),
    ],
)  # fmt: skip
async def test_linked_ranges_match_rename_edits(line: str, word: str) -> None:
    request = await context(MODULE)
    position = at(MODULE, line, word)
    document = types.TextDocumentIdentifier(request.file.uri)
    edit = rename(request, types.RenameParams(document, position, "new"))
    (edits,) = (edit.changes or {}).values()
    found = decode(linked_editing_ranges(request, position))
    assert found is not None
    assert list(found.ranges) == [text_edit.range for text_edit in edits]
    lines = MODULE.split("\n")
    names = {lines[r.start.line][r.start.character : r.end.character] for r in found.ranges}
    assert len(names) == 1
    assert re.fullmatch(found.word_pattern or "", names.pop())


@pytest.mark.parametrize(
    ("line", "word"), [("%sum (a", "sum"), ("  %d = f32[] call", "call"), ("HloModule", "m,")]
)
async def test_computations_and_labels_are_not_linked(line: str, word: str) -> None:
    assert await linked_ranges(MODULE, at(MODULE, line, word)) == []


async def test_names_that_cannot_be_renamed_are_not_linked() -> None:
    text = MODULE.replace("  %b = f32[] parameter(1)\n", "  %a = f32[] parameter(1)\n", 1)
    position = at(text, "  %a = f32[] p", "a")
    params = types.RenameParams(types.TextDocumentIdentifier("untitled:dump"), position, "new")
    request = await context(text)
    with pytest.raises(RequestFailedError):
        rename(request, params)
    assert await linked_ranges(text, position) == []


async def test_memory_files_have_no_linked_ranges() -> None:
    assert await linked_ranges(DUMP, at(DUMP, "  add, operand 0", "add")) == []
