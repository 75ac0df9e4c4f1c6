"""Tests for selection ranges."""

from typing import Any

from lsprotocol import types

from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.symbols import selection_ranges
from lsp.opened import DUMP, at, item

URI = "untitled:dump"


async def selection_chains(text: str, *positions: types.Position) -> list[list[Any]] | None:
    """Return the ranges of each position as (line, column, line, column), smallest first."""
    session = Session()
    session.open(item(URI, text))
    params = types.SelectionRangeParams(types.TextDocumentIdentifier(URI), list(positions))
    found = await selection_ranges(session, params)
    return None if found is None else [list(_range_tuples(one)) for one in found]


def _range_tuples(selection: Any) -> Any:
    while selection is not None:
        start, end = selection["range"]["start"], selection["range"]["end"]
        yield start["line"], start["character"], end["line"], end["character"]
        selection = selection.get("parent")


async def test_each_position_has_a_chain() -> None:
    lines = DUMP.split("\n")
    found = await selection_chains(DUMP, at(DUMP, "    x{}:0-3", "0-3"), types.Position(0, 3))
    assert found is not None
    row = lines.index("    x{}:0-3")
    assert found[0][:3] == [(row, 8, row, 9), (row, 8, row, 11), (row, 4, row, 11)]
    assert found[1][:2] == [(0, 0, 0, 16), (0, 0, 0, 17)]
    assert found[0][-1] == found[1][-1] == (0, 0, len(lines) - 1, 0)


async def test_selection_columns_use_client_encoding() -> None:
    text = "BufferAssignment:\n      ├── 𝄞/a (33.3%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)\n"  # noqa: E501
    found = await selection_chains(text, types.Position(1, 12))
    assert found is not None
    assert (1, 10, 1, 14) in found[0]


async def test_positions_without_elements_have_empty_ranges() -> None:
    text = f"noise\n*** Begin a.txt ***\n{DUMP}*** End a.txt ***\n"
    found = await selection_chains(text, types.Position(0, 2), types.Position(2, 2))
    assert found is not None
    assert found[0] == [(0, 2, 0, 2)]
    assert found[1][:2] == [(2, 0, 2, 16), (2, 0, 2, 17)]
    assert await selection_chains("plain text", types.Position(0, 2)) is None
    assert await selection_chains(DUMP, types.Position(9999, 0)) is not None
