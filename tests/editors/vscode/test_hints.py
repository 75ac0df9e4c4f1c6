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
    row = await window.line("value: <11 reduce_sum.40 @0>")
    padded = "padded\u00a0from\u00a04\u00a0B"  # a hint has no ordinary blanks
    await until(row.inner_text, lambda text: padded in text)
    await window.host.configure({"hlo.inlayHints.paddedSize": False})
    await until(row.inner_text, lambda text: text.endswith("f32[]{:T(128)}"))
    await window.host.configure({"hlo.inlayHints.paddedSize": True})
    await until(row.inner_text, lambda text: padded in text)
