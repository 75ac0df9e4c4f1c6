"""Hover, on the screen and as extensions see it."""

from editors.conftest import Compile
from editors.vscode.host import hover, spot
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE


async def test_it_tells_what_a_value_is(dump: Compile, window: Window) -> None:
    at = spot(dump.path("-buffer-assignment"), "<235 ^fusion @1>")
    await window.open(at)
    told = await until(lambda: hover(window.host, at))
    assert "1,946,112 B" in told
