"""Formatting as clients ask for it: of a whole text, of some lines, of texts of several files."""

from dataclasses import replace
from typing import Any

from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.rename_and_formatting import format_document, format_range
from hlo_lsp.lsp.session import Session
from hlo_lsp.text.document import Document, Encoding
from lsp.opened import DUMP, context, item

GOOD = 'HloModule m\n\nENTRY %e (a: f32[]) -> f32[] {\n  %a = f32[] parameter(0), n="é𝄞", k=v\n  ROOT %b = f32[] negate(%a)\n}\n'  # noqa: E501
BAD = GOOD.replace(", k=v", ",k=v").replace("  ROOT %b = ", "ROOT   %b = ")


def applied(text: str, edits: list[Any], encoding: Encoding) -> str:
    """Return the text after edits that a client applies from the end."""
    document = Document(text)
    for edit in reversed(edits):
        start, end = (
            (place["line"], encoding.column(document.lines[place["line"]], place["character"]))
            for place in (edit["range"]["start"], edit["range"]["end"])
        )
        document.edit(start, end, edit["newText"])
    return document.text


async def test_the_whole_text_in_units_of_the_client() -> None:
    for encoding in Encoding:
        client = replace(Client(), encoding=encoding)
        edits = await format_document(await context(BAD, client))
        assert len(edits) == 3
        assert applied(BAD, edits, encoding) == GOOD


async def test_some_lines() -> None:
    opened = await context(BAD)
    start = types.Position(3, 4)
    for end, count in (
        (types.Position(3, 4), 1), (types.Position(4, 0), 1), (types.Position(4, 1), 3),
        (types.Position(99, 0), 3),
    ):  # fmt: skip
        found = await format_range(opened, types.Range(start, end))
        # The margin of a line is in front of it, and belongs to it.
        assert len(found) == count


async def test_nothing_to_do() -> None:
    assert await format_document(await context(GOOD)) == []
    assert await format_document(await context(DUMP)) == []


async def test_a_file_in_a_longer_text() -> None:
    text = f"noise  \n*** Begin a.txt ***\n{BAD}*** End a.txt ***\n"
    edits = await format_document(await asked_in(text, 3))
    assert applied(text, edits, Encoding.UTF16) == text.replace(BAD, GOOD)


async def asked_in(text: str, line: int) -> Any:
    """Return the file that contains a line of a text."""
    session = Session()
    session.open(item("untitled:dump", text))
    return await session.context(types.TextDocumentIdentifier("untitled:dump"), line)
