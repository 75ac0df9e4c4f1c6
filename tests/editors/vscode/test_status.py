"""Tests for the language status item."""

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import problems
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window
from hlo_lsp import __version__

pytestmark = vscode(1)
RIGHT = "<235 fusion @1> (size=1048576,"


async def test_status_shows_version_and_problems(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    path.write_text(path.read_text("utf-8").replace(RIGHT, RIGHT.replace("76", "77")), "utf-8")
    await window.open(path)
    await until(lambda: problems(window.host, path), lambda found: len(found) == 1)
    item = window.page.locator("[id='status.languageStatus']")
    await item.hover()
    expected = {"1 problem in this file", f"hlo-lsp {__version__}"}
    await until(
        window.shown(".hover-language-status"),
        lambda texts: all(any(part in each for each in texts) for part in expected),
    )
