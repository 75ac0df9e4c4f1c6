"""Tests for references and highlights."""

from pathlib import Path

from lsprotocol import types
from pygls.protocol import default_converter

from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.navigation import highlight, references
from hlo_lsp.lsp.session import Session
from hlo_lsp.text import disk
from lsp.opened import DUMP, at, context, context_in, item, split_dump

LINES = DUMP.split("\n")
DECLARATION_LINES = [" value: <2 add @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}", "<2 add @1>"]
MENTION_LINES = [
    "  add",
    "  mul, operand 0",
    "  mul, operand 1",
    "    add{}:1-2",
    "    add{}: 16 bytes (cumulative: 16 bytes)",
]


async def reference_lines(position: types.Position, *, with_declaration: bool) -> list[str] | None:
    reference_context = types.ReferenceContext(with_declaration)
    document = types.TextDocumentIdentifier("untitled:dump")
    found = references(
        await context(), types.ReferenceParams(reference_context, document, position)
    )
    return None if found is None else [LINES[start_line(location)] for location in found]


def start_line(location: Json) -> int:
    number: int = location["range"]["start"]["line"]
    return number


async def test_labels_and_line_ends_have_no_references() -> None:
    assert not await reference_lines(at(DUMP, "Used values"), with_declaration=True)
    assert not await reference_lines(types.Position(10**6, 0), with_declaration=True)
    assert not highlight(await context(), types.Position(10**6, 0))


async def test_highlights_distinguish_declarations_from_mentions() -> None:
    found = highlight(await context(), at(DUMP, "    add{}:1-2"))
    assert found is not None
    highlights = default_converter().structure(found, list[types.DocumentHighlight])
    kinds = types.DocumentHighlightKind
    assert [(LINES[h.range.start.line], h.kind) for h in highlights] == [
        *((line, kinds.Write) for line in DECLARATION_LINES),
        *((line, kinds.Read) for line in MENTION_LINES),
    ]
    names = {
        LINES[h.range.start.line][h.range.start.character : h.range.end.character]
        for h in highlights
    }
    assert names == {"<2 add @1>", "add", "add{}", "mul"}


async def test_highlights_exclude_companion_files(tmp_path: Path) -> None:
    path = split_dump(tmp_path)["-live-range"]
    text = disk.read_document(path).text
    session = Session()
    session.open(item(path.as_uri(), text))
    found = await context_in(session, types.TextDocumentIdentifier(path.as_uri()))
    assert found is not None
    highlights = highlight(found, at(text, "    add{}:1-2"))
    assert highlights is not None
    assert [text.split("\n")[start_line(h)] for h in highlights] == MENTION_LINES[3:]
