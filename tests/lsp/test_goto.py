"""Definition, declaration and type definition."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.lsp import navigation as goto
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.text import disk
from lsp.opened import DUMP, at, context, item, split_dump

Goto = Callable[[RequestContext, types.Position], types.Location | list[types.Location] | None]


async def target(go: Goto, line: str, word: str = "", text: str = DUMP) -> tuple[str, str] | None:
    """Return the line of the target, and the text of its range."""
    found = go(await context(text), at(text, line, word))
    if found is None:
        return None
    assert isinstance(found, types.Location)
    assert found.range.start.line == found.range.end.line
    landed = text.split("\n")[found.range.start.line]
    return landed, landed[found.range.start.character : found.range.end.character]


async def test_type_definition_is_the_value_flowing_through() -> None:
    text = DUMP.replace("  x\n uses", "  x\n  gte\n uses").replace("0:x\n", "0:x\n    9:gte\n")
    assert await target(goto.type_definition, "    9:gte", "gte", text) == ("<1 x @0>", "<1 x @0>")
    assert await target(goto.type_definition, "    1:add", "add", text) == (
        "<2 add @1>", "<2 add @1>"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("Used values", ""),
        ("BufferAssignment", ""),
        (" positions", ""),
        ("allocation 2", "1, pre"),
        ("allocation 0", "f32[4]"),
        (" value: <2 add", "S(1)"),
    ],
)
@pytest.mark.parametrize("go", [goto.definition, goto.declaration, goto.type_definition])
async def test_words_shapes_and_spaces_lead_nowhere(go: Goto, line: str, word: str) -> None:
    assert await target(go, line, word) is None


async def test_live_range_leads_to_the_values_file(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    uri = paths["-live-range"].as_uri()
    text = disk.read_document(paths["-live-range"]).text
    session = Session()
    session.open(item(uri, text))
    found = await session.context(types.TextDocumentIdentifier(uri))
    assert found is not None
    position = at(text, "    add{}:1-2")
    landed = goto.definition(found, position)
    assert isinstance(landed, types.Location)
    assert landed.uri == paths["-buffer-assignment-values"].as_uri()
    declared = goto.declaration(found, position)
    assert isinstance(declared, types.Location)
    assert declared.uri == paths["-buffer-assignment"].as_uri()
