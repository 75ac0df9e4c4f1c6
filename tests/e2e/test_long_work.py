"""Tests for edits and other requests during long requests about a values file of 6 MB."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types

from e2e.asking import folds, hover_text, symbol_names, symbols
from e2e.editor import Editor, OpenFile


@pytest.fixture
def values(train_l24: Path) -> Path:
    (path,) = train_l24.rglob("*-buffer-assignment-values.txt")
    return path


def assert_current_ranges(
    found: list[types.DocumentSymbol | types.SymbolInformation], file: OpenFile
) -> None:
    """Assert that the symbol of each entry selects its header in the current text."""
    lines = file.text.lines
    (entries,) = [symbol for symbol in found if symbol.name == "Used values"]
    assert isinstance(entries, types.DocumentSymbol)
    assert entries.children
    for entry in entries.children:
        selected = entry.selection_range
        line = lines[selected.start.line]
        assert line[selected.start.character : selected.end.character].startswith(f"<{entry.name}")


async def test_long_reply_includes_edits_made_meanwhile(neovim: Editor, values: Path) -> None:
    file = neovim.open("untitled:large", values.read_text("utf-8"))
    for count in (0, 2):
        long = asyncio.gather(symbols(file), folds(file), file.diagnostics())
        await asyncio.sleep(0.03 * count)
        file.edit(((0, 0), (0, 0), "\n" * (count + 1)))
        found, _, _ = await long
        assert found
    assert_current_ranges(await symbols(file), file)
    first = file.text.lines.index("Used values:") + 1
    assert await hover_text(file, file.text.lines[first])


async def test_hover_does_not_wait_for_long_replies(neovim: Editor, values: Path) -> None:
    file = neovim.open("untitled:large", values.read_text("utf-8"))
    header = file.text.lines[4]
    assert await hover_text(file, header)
    long = asyncio.ensure_future(symbol_names(file))
    await asyncio.sleep(0)
    assert await hover_text(file, header)
    assert not long.done()  # The later request has the earlier reply.
    assert len(await long) > 1000


async def test_long_request_does_not_delay_another_file(neovim: Editor, values: Path) -> None:
    file = neovim.open("untitled:large", values.read_text("utf-8"))
    small = neovim.open("untitled:small", "BufferAssignment:\n")
    long = asyncio.ensure_future(symbol_names(file))
    await asyncio.sleep(0)
    assert await hover_text(small, "BufferAssignment")
    assert not long.done()
    assert await long


async def test_closing_during_long_reply_causes_no_error(neovim: Editor, values: Path) -> None:
    file = neovim.open("untitled:large", values.read_text("utf-8"))
    long = asyncio.gather(symbols(file), folds(file), return_exceptions=True)
    await asyncio.sleep(0.05)
    file.close()
    assert not [found for found in await long if isinstance(found, BaseException)]
    again = neovim.open("untitled:large", "BufferAssignment:\n")
    assert await symbol_names(again) == ["BufferAssignment"]
