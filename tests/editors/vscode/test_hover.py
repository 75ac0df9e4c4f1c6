"""Tests for hovers, on the screen and in the API."""

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, live, printed
from editors.vscode.host import hover, spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)


async def test_hover_describes_value(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    value = printed(at.path, "<235 fusion @1>")
    first, last = live(dump.path(LIVE_RANGE), "fusion{}")
    await window.open(at)
    # Facts of companion files come after they are read.
    await until(lambda: hover(window.host, at), lambda card: "- **live range** " in card)
    shown = await window.hovered("fusion")
    assert shown.startswith("1.00 MiB in VMEM · steps ")
    assert f"padded size {value.size:,} B (1.00 MiB): fits T(8,128)" in shown.splitlines()
    assert f"live range {first}-{last} ({last - first} steps)" in shown
    assert "**" not in shown  # it is shown as markdown
