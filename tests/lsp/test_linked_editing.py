"""The places that change together while the name of an instruction is edited."""

import re

import pytest
from lsprotocol import types
from pygls.protocol import default_converter

from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.rename_and_formatting import linked_editing_ranges, rename
from lsp.opened import DUMP, at, context
from program.test_renaming import MODULE


async def linked(text: str, position: types.Position) -> list[types.Range]:
    found = read(linked_editing_ranges(await context(text), position))
    return [] if found is None else list(found.ranges)


def read(reply: Json | None) -> types.LinkedEditingRanges | None:
    """Return the reply as a client reads it."""
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
async def test_the_places_are_those_that_rename_would_change(line: str, word: str) -> None:
    opened = await context(MODULE)
    position = at(MODULE, line, word)
    document = types.TextDocumentIdentifier(opened.file.uri)
    edit = rename(opened, types.RenameParams(document, position, "new"))
    (edits,) = (edit.changes or {}).values()
    found = read(linked_editing_ranges(opened, position))
    assert found is not None
    assert list(found.ranges) == [one.range for one in edits]
    lines = MODULE.split("\n")
    names = {lines[r.start.line][r.start.character : r.end.character] for r in found.ranges}
    assert len(names) == 1
    assert re.fullmatch(found.word_pattern or "", names.pop())


@pytest.mark.parametrize(
    ("line", "word"), [("%sum (a", "sum"), ("  %d = f32[] call", "call"), ("HloModule", "m,")]
)
async def test_computations_and_other_words_are_not_linked(line: str, word: str) -> None:
    assert await linked(MODULE, at(MODULE, line, word)) == []


async def test_names_that_cannot_be_renamed_are_not_linked() -> None:
    text = MODULE.replace("  %b = f32[] parameter(1)\n", "  %a = f32[] parameter(1)\n", 1)
    position = at(text, "  %a = f32[] p", "a")
    params = types.RenameParams(types.TextDocumentIdentifier("untitled:dump"), position, "new")
    opened = await context(text)
    with pytest.raises(RequestFailedError):
        rename(opened, params)
    assert await linked(text, position) == []


async def test_memory_files_have_no_names_to_edit() -> None:
    assert await linked(DUMP, at(DUMP, "  add, operand 0", "add")) == []
