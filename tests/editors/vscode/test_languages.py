"""Tests for the detection of languages by file name and content."""

import shutil
from pathlib import Path

from editors.vscode.host import Spot, hover
from editors.vscode.marks import VSCODE
from editors.vscode.processes import is_served
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
KINDS = {
    "": ("hlo", "HLO"),
    "-buffer-assignment": ("xla-buffer-assignment", "XLA Buffer Assignment"),
    "-buffer-assignment-values": ("xla-values", "XLA Used Values"),
    "-live-range": ("xla-live-range", "XLA Live Ranges"),
    "-memory-usage-report": ("xla-memory-report", "XLA Memory Report"),
}


async def test_name_determines_language(reading: Window) -> None:
    for suffix, (language, title) in KINDS.items():
        assert await reading.open(reading.dump.path(suffix)) == language
        shown = reading.shown("[id='status.editor.mode']")
        await until(shown, [title].__eq__)


async def test_content_determines_language(
    folder: Path, corpus_small: Path, window: Window
) -> None:
    path = folder / "notes.txt"
    shutil.copy(corpus_small / "samples" / "sample_000.txt", path)
    await window.open(path)
    shown = window.shown("[id='status.editor.mode']")
    await until(shown, lambda modes: modes == ["XLA Buffer Assignment"])
    assert await until(lambda: hover(window.host, Spot(path, 1, 0)))


async def test_other_texts_start_no_server(folder: Path, window: Window) -> None:
    path = folder / "todo.txt"
    path.write_text("allocation of time: none\n", "utf-8")
    await window.open(path)
    await until(
        lambda: window.host.ask("extension", "hlo-lsp.hlo-lsp"), lambda state: state["isActive"]
    )
    assert await window.texts("[id='status.editor.mode']") == ["Plain Text"]
    assert await hover(window.host, Spot(path, 0, 0)) == ""
    assert not is_served(window)
