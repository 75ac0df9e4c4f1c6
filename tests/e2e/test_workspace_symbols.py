"""Tests for workspace symbols of files beside open files."""

import time
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor
from e2e.wire import TIMEOUT_SECONDS

Compiled = Callable[[str], Compile]


async def query_symbols(editor: Editor, query: str) -> list[types.SymbolInformation]:
    request = editor.client.workspace_symbol_async
    found = await editor.reply(request(types.WorkspaceSymbolParams(query)))
    return [symbol for symbol in found or () if isinstance(symbol, types.SymbolInformation)]


async def wait_for_symbols(editor: Editor, query: str, name: str) -> list[types.SymbolInformation]:
    """Wait for symbols with this name or file name extension, and return them."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:  # The server indexes names in the background.
        names = await query_symbols(editor, query)
        symbols = [one for one in names if name in (one.name, f".{one.name.rpartition('.')[2]}")]
        if symbols:
            return symbols
    raise AssertionError(f"{query} does not find {name}")


async def test_symbols_include_files_beside_open_file(
    any_editor: Editor, compiled: Compiled
) -> None:
    files = compiled("tpu")
    any_editor.open(files.live_range)
    symbols = await wait_for_symbols(any_editor, "fus9", "fusion.9")
    places = {any_editor.spot(symbol.location) for symbol in symbols}
    assert {spot.selected for spot in places} == {"fusion.9"}
    assert files.module.name in {spot.file for spot in places}
    values = await wait_for_symbols(any_editor, "fusion.9{}", "fusion.9{}")
    assert {any_editor.spot(symbol.location).selected for symbol in values} == {"<23 fusion.9 @0>"}
    modules = await wait_for_symbols(any_editor, "jit_while", "jit_while_fn")
    assert {symbol.kind for symbol in modules} == {types.SymbolKind.Module}


async def test_source_line_finds_its_buffers(neovim: Editor, tmp_path: Path) -> None:
    stem = "module_0001.jit_f.cl_1.after_optimizations"
    module = tmp_path / f"{stem}.txt"
    module.write_text(
        "HloModule jit_f, is_scheduled=true\n\n"
        "ENTRY %main (x: f32[4]) -> f32[4096] {\n"
        "  %x = f32[4]{0} parameter(0)\n"
        '  %small = f32[4]{0} negate(%x), metadata={source_file="/a/f.py" source_line=3}\n'
        "  ROOT %moved = f32[4096]{0} pad(%small, %small), padding=0_4092\n}\n"
    )
    (tmp_path / f"{stem}-buffer-assignment.txt").write_text(
        "BufferAssignment:\nallocation 0: size 16400, preallocated-temp:\n"
        " value: <1 small @0> (size=16,offset=0): f32[4]{0}\n"
        " value: <2 moved @0> (size=16384,offset=16): f32[4096]{0}\n"
    )
    neovim.open(module)
    symbols = await wait_for_symbols(neovim, "f.py:3", "f.py:3")
    owners = [(symbol.container_name or "").partition(" · ")[0] for symbol in symbols]
    assert owners == ["moved", "small"]
    assert neovim.spot(symbols[0].location).selected == "moved"
