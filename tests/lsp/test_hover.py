"""Tests for the format and range of hovers."""

from dataclasses import replace

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.hover import hover, option_hover
from hlo_lsp.lsp.session import Session
from lsp.opened import DUMP, at, context, item
from marks import mark


async def hover_text(position: types.Position, text: str = DUMP) -> str | None:
    found = hover(await context(text), position)
    if found is None:
        return None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


@pytest.mark.parametrize(
    ("line", "word", "title"),
    [
        ("BufferAssignment", "", "**BufferAssignment**"),
        ("allocation 0", "allocation", "**allocation 0**"),
        ("allocation 0", "parameter 0", "**allocation 0**"),
        ("allocation 0", "f32[4]", "**`f32[4]`**"),
        ("allocation 1", "maybe-live-out", "**maybe-live-out**"),
        ("allocation 2", "1, prealloc", "**memory space 1: VMEM**"),
        ("allocation 2", "preallocated-temp", "**preallocated-temp**"),
        (" value: <2 add", "add", "**`add`**"),
        (" value: <2 add", "1>", "**memory space 1: VMEM**"),
        (" value: <2 add", "f32[4]", "**`f32[4]{0:T(128)S(1)}`**"),
        (" value: <2 add", "S(1)", "**memory space 1: VMEM**"),
        ("Total bytes", "", "**Total bytes used**"),
        ("Used values", "", "**Used values**"),
        ("<2 add @1>", "2 add", "**`add`**"),
        (" positions:", "", "**positions**"),
        ("  x", "x", "**`x` parameter**"),
        ("  add, operand 1", "add", "**`add`**"),
        (" from instruction: %add", "add", "**`add`**"),
        (" from instruction: %add", "f32[4]", "**`f32[4]{0:T(128)S(1)}`**"),
        (" from instruction: %mul", "%add,", "**`add`**"),
        ("HloLiveRange", "", "**HloLiveRange**"),
        ("    1:add", "add", "**`add`**"),
        ("    add{}:1-2", "add", "**`add`**"),
        ("    add{}:1-2", "1-2", "**`add`**"),
        ("    add{}: 16", "add", "**`add`**"),
        ("  Live ranges at", "Live", "**peak**"),
    ],
)
async def test_every_element_has_a_hover(line: str, word: str, title: str) -> None:
    text = await hover_text(at(DUMP, line, word))
    assert text is not None
    assert title in text.split("\n")[:3]  # A headline may come first.


@pytest.mark.parametrize("client", [Client(), replace(Client(), can_render_markdown=False)])
async def test_hover_format_is_supported_by_client(client: Client) -> None:
    found = hover(await context(client=client), at(DUMP, "    add{}:1-2"))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    markdown = client.can_render_markdown
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    assert found.contents.kind is kind
    assert ("**" in found.contents.value) is markdown
    assert "128 -> 128" not in found.contents.value
    assert "dim 0: 4 -> 128 by T(128)" in found.contents.value


@pytest.mark.parametrize("line", ["", "~~~", "    ", "12345"])
async def test_unreadable_line_has_no_hover(line: str) -> None:
    text = DUMP.replace("Used values:", line)
    number = DUMP.split("\n").index("Used values:")
    assert await hover_text(types.Position(number, 0), text) is None


async def test_position_after_the_text_has_no_hover() -> None:
    assert await hover_text(types.Position(10**6, 0)) is None
    assert await hover_text(types.Position(2**31 - 1, 2**31 - 1)) is None


async def test_hover_range_covers_the_cursor_target() -> None:
    marked = mark(
        """
        BufferAssignment:
        allocation 0: size 512, color 1, preallocated-temp:
         value: <7 u.1{0} (phi) @1> (size=512,offset=0): f32[4]{0:T(128)S(1)}
                ^^^^^^^^^^^^^^^^^^^ value                ^^^^^^^^^^^^^^^^^^^^ shape
                ^ id      ^^^^^ phi                                     ^^^^ space
                                 ^ color
        """
    )
    found = await context(marked.text)
    for name, place in marked.marks.items():
        whole = marked["value"] if name == "id" else place
        mark_hover = hover(found, types.Position(*place.position))
        assert mark_hover is not None
        assert mark_hover.range == types.Range(
            types.Position(whole.line, whole.start), types.Position(whole.line, whole.end)
        )


async def test_option_of_a_compile_has_hover() -> None:
    session, uri = Session(), "file:///m.cl_1.tpu_comp_env.txt"
    session.open(item(uri, "xla_a: 1\nxla_tpu_enable_async_all_to_all: false\n"))
    document = types.TextDocumentIdentifier(uri)
    found = option_hover(session, types.HoverParams(document, types.Position(1, 4)))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "Allows asynchronous all-to-alls." in found.contents.value
    assert found.range == types.Range(types.Position(1, 0), types.Position(1, 31))
    assert option_hover(session, types.HoverParams(document, types.Position(0, 4))) is None
