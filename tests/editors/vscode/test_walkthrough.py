"""The walkthrough opens the dump that came with the extension."""

from pathlib import Path

from editors.vscode.host import Spot, hover
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
STEPS = ".gettingStartedContainer .getting-started-step"


async def test_its_first_step_opens_a_buffer_assignment(window: Window) -> None:
    await window.host.command(
        "workbench.action.openWalkthrough", "hlo-lsp.hlo-lsp#firstDump", False
    )
    titles = await until(window.shown(f"{STEPS} .step-title"), lambda told: len(told) == 5)
    print(titles)
    await window.page.screenshot(path="/tmp/w/walk1.png")
    button = window.page.locator(
        f"{STEPS}.expanded .monaco-button", has_text="Open the Buffer Assignment"
    )
    await button.click()
    path, line = await until(window.front)
    extension = Path((await window.host.ask("extension", "hlo-lsp.hlo-lsp"))["path"])
    assert path.parent == extension / "bundled" / "dump"
    assert (path.name.endswith("-buffer-assignment.txt"), line) == (True, "BufferAssignment:")
    at = Spot(path, 1, 0)
    assert "512 B" in await until(lambda: hover(window.host, at))
    await window.page.screenshot(path="/tmp/w/walk2.png")
