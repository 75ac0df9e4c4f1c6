"""Tests for inlay hints on the screen."""

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)


async def test_setting_disables_hints_at_once(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    await window.open(path)
    row = await window.line("value: <179 params_2__0_.1 @0>")
    padded = "padded\u00a0from\u00a020.0\u00a0KiB"  # a hint has no ordinary blanks
    await until(row.inner_text, lambda text: padded in text)
    await window.host.configure({"hlo.inlayHints.paddedSize": False})
    await until(row.inner_text, lambda text: text.endswith("f32[512,10]{0,1:T(8,128)}"))
    await window.host.configure({"hlo.inlayHints.paddedSize": True})
    await until(row.inner_text, lambda text: padded in text)
