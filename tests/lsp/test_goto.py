"""Tests for definitions, declarations, and type definitions."""

from collections.abc import Callable

import pytest
from lsprotocol import types

from hlo_lsp.lsp import navigation as goto
from hlo_lsp.lsp.session import RequestContext
from lsp.opened import DUMP, at, context

Goto = Callable[[RequestContext, types.Position], types.Location | list[types.Location] | None]


async def target_line_and_text(
    find_target: Goto, line: str, word: str = "", text: str = DUMP
) -> tuple[str, str] | None:
    """Return the line of the target and the text of its range, or None."""
    found = find_target(await context(text), at(text, line, word))
    if found is None:
        return None
    assert isinstance(found, types.Location)
    assert found.range.start.line == found.range.end.line
    target_line = text.split("\n")[found.range.start.line]
    return target_line, target_line[found.range.start.character : found.range.end.character]


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
@pytest.mark.parametrize("find_target", [goto.definition, goto.declaration, goto.type_definition])
async def test_labels_shapes_and_memory_spaces_have_no_target(
    find_target: Goto, line: str, word: str
) -> None:
    assert await target_line_and_text(find_target, line, word) is None
