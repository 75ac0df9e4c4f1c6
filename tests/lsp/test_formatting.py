"""Tests for formatting of documents, line ranges, and stdout dumps."""

from dataclasses import replace
from typing import Any

from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.rename_and_formatting import format_document, format_range
from hlo_lsp.lsp.session import Session
from hlo_lsp.text.document import Document, Encoding
from lsp.opened import DUMP, context, context_in, item

FORMATTED = 'HloModule m\n\nENTRY %e (a: f32[]) -> f32[] {\n  %a = f32[] parameter(0), n="é𝄞", k=v\n  ROOT %b = f32[] negate(%a)\n}\n'  # noqa: E501
UNFORMATTED = FORMATTED.replace(", k=v", ",k=v").replace("  ROOT %b = ", "ROOT   %b = ")


def apply_edits(text: str, edits: list[Any], encoding: Encoding) -> str:
    """Return the text after edits that a client applies from the end."""
    document = Document(text)
    for edit in reversed(edits):
        start, end = (
            (place["line"], encoding.column(document.lines[place["line"]], place["character"]))
            for place in (edit["range"]["start"], edit["range"]["end"])
        )
        document.edit(start, end, edit["newText"])
    return document.text


async def test_document_edits_use_client_encoding() -> None:
    for encoding in Encoding:
        client = replace(Client(), encoding=encoding)
        edits = format_document(await context(UNFORMATTED, client))
        assert len(edits) == 3
        assert apply_edits(UNFORMATTED, edits, encoding) == FORMATTED


async def test_range_formatting_edits_only_its_lines() -> None:
    request = await context(UNFORMATTED)
    start = types.Position(3, 4)
    for end, count in (
        (types.Position(3, 4), 1), (types.Position(4, 0), 1), (types.Position(4, 1), 3),
        (types.Position(99, 0), 3),
    ):  # fmt: skip
        edits = format_range(request, types.Range(start, end))
        # A line includes its indentation.
        assert len(edits) == count


async def test_formatted_text_has_no_edits() -> None:
    assert format_document(await context(FORMATTED)) == []
    assert format_document(await context(DUMP)) == []


async def test_section_of_stdout_dump_is_formatted() -> None:
    text = f"noise  \n*** Begin a.txt ***\n{UNFORMATTED}*** End a.txt ***\n"
    edits = format_document(await context_at(text, 3))
    assert apply_edits(text, edits, Encoding.UTF16) == text.replace(UNFORMATTED, FORMATTED)


async def context_at(text: str, line: int) -> Any:
    """Return the request context of the section that contains a line."""
    session = Session()
    session.open(item("untitled:dump", text))
    return await context_in(session, types.TextDocumentIdentifier("untitled:dump"), line)
