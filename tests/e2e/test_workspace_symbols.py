"""Workspace symbols: in the folders of the workspace and beside open files."""

import time
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, editor
from e2e.wire import PATIENCE

Compiled = Callable[[str], Compile]


async def find(editor: Editor, typed: str) -> list[types.SymbolInformation]:
    request = editor.client.workspace_symbol_async
    found = await editor.reply(request(types.WorkspaceSymbolParams(typed)))
    return [symbol for symbol in found or () if isinstance(symbol, types.SymbolInformation)]


async def found(editor: Editor, typed: str, name: str) -> list[types.SymbolInformation]:
    """Wait for symbols with this name, or names of files with this end, and return them."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:  # names are read in the background
        names = await find(editor, typed)
        symbols = [one for one in names if name in (one.name, f".{one.name.rpartition('.')[2]}")]
        if symbols:
            return symbols
    raise AssertionError(f"{name} is not found by {typed}")


def show(editor: Editor, added: list[Path], removed: list[Path]) -> None:
    def folders(paths: list[Path]) -> list[types.WorkspaceFolder]:
        return [types.WorkspaceFolder(path.as_uri(), path.name) for path in paths]

    event = types.WorkspaceFoldersChangeEvent(folders(added), folders(removed))
    editor.client.workspace_did_change_workspace_folders(
        types.DidChangeWorkspaceFoldersParams(event)
    )


async def test_beside_an_open_file(any_editor: Editor, compiled: Compiled) -> None:
    files = compiled("tpu")
    any_editor.open(files.live_range)
    symbols = await found(any_editor, "fus9", "fusion.9")
    places = {any_editor.spot(symbol.location) for symbol in symbols}
    assert {spot.selected for spot in places} == {"fusion.9"}
    assert files.module.name in {spot.file for spot in places}
    values = await found(any_editor, "fusion.9{}", "fusion.9{}")
    assert {any_editor.spot(symbol.location).selected for symbol in values} == {"<23 fusion.9 @0>"}
    modules = await found(any_editor, "jit_while", "jit_while_fn")
    assert {symbol.kind for symbol in modules} == {types.SymbolKind.Module}


async def test_folders_of_the_workspace_come_and_go(tmp_path: Path, compiled: Compiled) -> None:
    tpu, cpu = compiled("tpu"), compiled("cpu")
    async with editor("visual_studio_code", tmp_path / "log") as running:
        show(running, [tpu.folder], [])
        assert await found(running, "fusion.9", "fusion.9")
        assert await find(running, "ynn_fusion") == []
        show(running, [cpu.folder], [tpu.folder])
        assert await found(running, "ynn_fusion", "ynn_fusion")
        assert await find(running, "fusion.9{}") == []
