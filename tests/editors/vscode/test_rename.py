"""Tests for rename in a module."""

import re

from editors.conftest import Compile
from editors.vscode.dump import MODULE
from editors.vscode.host import hover, spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE


async def test_f2_renames_instruction_and_uses(dump: Compile, window: Window) -> None:
    at = spot(dump.path(MODULE), "  %^fusion.40 = f32[64,256]{1,0:T(8,128)} fusion(")
    before = at.path.read_text("utf-8")
    expected, count = re.subn(r"%fusion\.40\b", "%halves", before)
    assert count == 2
    await window.open(at)
    await window.line("%fusion.40,")
    await until(lambda: hover(window.host, at))
    await window.press("F2", ".rename-box input")
    assert await window.page.locator(".rename-box input").input_value() == "fusion.40"
    await window.page.locator(".rename-box input").fill("halves")
    await window.page.keyboard.press("Enter")

    await window.line("%halves = f32[64,256]{1,0:T(8,128)} fusion(")
    await window.line("%halves,")
    await until(lambda: window.host.ask("text", uri(at.path)), lambda text: text == expected)


async def test_name_in_use_is_refused(dump: Compile, window: Window) -> None:
    at = spot(dump.path(MODULE), "  %^fusion.40 = f32[64,256]{1,0:T(8,128)} fusion(")
    before = at.path.read_text("utf-8")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    await window.press("F2", ".rename-box input")
    await window.page.locator(".rename-box input").fill("fusion.45")
    await window.page.keyboard.press("Enter")
    selector = ".notification-list-item-message, .monaco-editor-overlaymessage .message"
    await until(window.shown(selector), lambda texts: any("fusion.45" in each for each in texts))
    assert await window.host.ask("text", uri(at.path)) == before
