"""Tests for rename in a module."""

import re

from editors.conftest import Compile
from editors.vscode.dump import MODULE
from editors.vscode.host import hover, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)


async def test_f2_renames_instruction_and_uses(dump: Compile, window: Window) -> None:
    at = spot(dump.path(MODULE), "  %^fusion.40 = f32[64,256]{1,0:T(8,128)} fusion(")
    before = at.path.read_text("utf-8")
    expected, count = re.subn(r"%fusion\.40\b", "%halves", before)
    assert count == 2
    await window.open(at)
    await window.line("%fusion.40,")
    await until(lambda: hover(window.host, at))
    await rename(window, "fusion.45")
    message = ".notification-list-item-message, .monaco-editor-overlaymessage .message"
    # The name is in use.
    await until(window.shown(message), lambda texts: any("fusion.45" in each for each in texts))
    assert await window.host.ask("text", uri(at.path)) == before

    await rename(window, "halves")
    await window.line("%halves = f32[64,256]{1,0:T(8,128)} fusion(")
    await window.line("%halves,")
    await until(lambda: window.host.ask("text", uri(at.path)), lambda text: text == expected)


async def rename(window: Window, name: str) -> None:
    """Rename what is at the cursor."""
    box = await window.press("F2", ".rename-box input")
    assert await box.input_value() == "fusion.40"
    await box.fill(name)
    await window.page.keyboard.press("Enter")
