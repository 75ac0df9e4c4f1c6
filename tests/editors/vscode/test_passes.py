"""Tests for the commands *Previous Pass* and *Next Pass*."""

from pathlib import Path

from editors.vscode.host import spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window
from pass_texts import written

pytestmark = vscode(1)


async def test_next_pass_shows_same_instruction(folder: Path, window: Window) -> None:
    texts = written(folder)
    await window.open(spot(texts[0], "ROOT %^r = "))
    await window.choose("Next Pass")
    _, line = await until(window.front, lambda front: front[0] == texts[1])
    assert line.startswith("  ROOT %r = ")
    await window.choose("Previous Pass")
    await until(window.front, lambda front: front[0] == texts[0])
    await window.choose("Previous Pass")
    await window.notification("first text of the compile")
