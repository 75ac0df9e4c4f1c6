"""Tests for the detection of languages by file name and content."""

import shutil
from pathlib import Path

from editors.conftest import Compile
from editors.vscode.host import Spot, hover
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
MODE = "[id='status.editor.mode']"
KINDS = {
    "": ("hlo", "HLO"),
    "-buffer-assignment": ("xla-buffer-assignment", "XLA Buffer Assignment"),
    "-buffer-assignment-values": ("xla-values", "XLA Used Values"),
    "-live-range": ("xla-live-range", "XLA Live Ranges"),
    "-memory-usage-report": ("xla-memory-report", "XLA Memory Report"),
}


async def test_name_determines_language(dump: Compile, window: Window) -> None:
    for suffix, (language, title) in KINDS.items():
        assert await window.open(dump.path(suffix)) == language
        await until(window.shown(MODE), [title].__eq__)


async def test_content_determines_language(
    folder: Path, corpus_small: Path, window: Window
) -> None:
    path = folder / "notes.txt"
    shutil.copy(corpus_small / "samples" / "sample_000.txt", path)
    await window.open(path)
    await until(window.shown(MODE), ["XLA Buffer Assignment"].__eq__)
    assert await until(lambda: hover(window.host, Spot(path, 1, 0)))
