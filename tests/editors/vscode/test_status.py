"""Tests for the language status item."""

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import problems
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window
from hlo_lsp import __version__

pytestmark = VSCODE
RIGHT = "<235 fusion @1> (size=1048576,"


async def test_status_shows_version_and_problems(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    path.write_text(path.read_text("utf-8").replace(RIGHT, RIGHT.replace("76", "77")), "utf-8")
    await window.open(path)
    found = await until(lambda: problems(window.host, path))
    assert len(found) == 1  # size-mismatch
    item = window.page.locator("[id='status.languageStatus']")
    await item.hover()
    shown = await until(
        window.shown(".hover-language-status"),
        lambda texts: any("1 problem in this file" in each for each in texts),
    )
    assert any(f"hlo-lsp {__version__}" in each for each in shown)
