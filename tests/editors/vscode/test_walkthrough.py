"""Tests for the walkthrough "Read your first memory dump" with the bundled dump."""

import json
from functools import partial
from pathlib import Path

from editors.client import FOLDER as CLIENT
from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, MODULE, lines
from editors.vscode.host import Spot, hover
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
STEP = ".gettingStartedContainer .getting-started-step"
# By the title of the step: its button, the file that it opens, how the line begins.
LEADS = {
    "Open a buffer assignment": ("Open the Buffer Assignment", ASSIGNMENT, "BufferAssignment:"),
    "Inspect a value": ("Go to a Value", ASSIGNMENT, " value: <1375 fusion.2 @0> "),
    "Follow a value": ("Open the Module", MODULE, "ENTRY %main"),
    "Find the peak": ("Show the Peak", LIVE_RANGE, "  Live ranges at "),
}


async def walk(window: Window) -> None:
    """Open the walkthrough."""
    await window.host.command(
        "workbench.action.openWalkthrough", "hlo-lsp.hlo-lsp#firstDump", False
    )


def headings_by_title() -> dict[str, str]:
    """Return the first line of the page of each step."""
    manifest = json.loads((CLIENT / "package.json").read_text("utf-8"))
    (walkthrough,) = manifest["contributes"]["walkthroughs"]
    return {
        step["title"]: lines(CLIENT / step["media"]["markdown"])[0].removeprefix("# ")
        for step in walkthrough["steps"]
    }


async def active_path(window: Window, suffix: str, beginning: str) -> Path | None:
    """Return the active file if it has this suffix and the line with the cursor begins so."""
    path, line = await window.front()
    is_active = path.name.endswith(f"after_optimizations{suffix}.txt") and line.startswith(
        beginning
    )
    return path if is_active else None


async def test_each_step_opens_its_file(window: Window) -> None:
    extension = Path((await window.host.ask("extension", "hlo-lsp.hlo-lsp"))["path"])
    await walk(window)
    await until(
        window.shown(f"{STEP} .step-title"),
        lambda texts: len(texts) == 8 and texts[:4] == [*LEADS],
    )
    # Walkthroughs show markdown in a frame, and that in another.
    beside = window.page.frame_locator("iframe.webview").frame_locator("#active-frame")
    headings = headings_by_title()
    for title, (button, suffix, beginning) in LEADS.items():
        await walk(window)
        await window.page.locator(f"{STEP} .step-title", has_text=title).click()
        await beside.locator("h1", has_text=headings[title]).wait_for()
        step = window.page.locator(f"{STEP}.expanded", has_text=title)
        await step.locator(".monaco-button", has_text=button).click()
        path = await until(partial(active_path, window, suffix, beginning))
        assert path is not None
        assert path.parent == extension / "bundled" / "dump"
    folder = extension / "bundled" / "dump"
    (assignment,) = folder.glob("*-buffer-assignment.txt")
    beginning = LEADS["Inspect a value"][2]
    line = next(n for n, text in enumerate(lines(assignment)) if text.startswith(beginning))
    text = await until(
        lambda: hover(window.host, Spot(assignment, line, len(" value: <1375 "))),
        lambda text: "train.py" in text,
    )
    assert f"{(folder / 'train.py').as_uri()}#L41" in text
