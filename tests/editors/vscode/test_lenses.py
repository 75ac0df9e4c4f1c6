"""Tests for code lenses and clicks on them."""

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, lines
from editors.vscode.host import Spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import eventually
from editors.vscode.window import Window

pytestmark = vscode(1)
LENS = ".editor-instance .codelens-decoration"


async def test_click_shows_places(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    text = lines(path)
    head = next(n for n, line in enumerate(text) if line.startswith("allocation 25:"))
    values = [line for line in text[head + 1 :] if line.startswith(" value: ")]
    await window.open(Spot(path, head, 0))
    lens = window.page.locator(f"{LENS} a", has_text=f"{len(values)} values, ")
    await window.click(lens, ".reference-zone-widget .ref-tree .monaco-list-row")
    first = " ".join(values[0].split())

    async def listed() -> None:
        (title, *_) = await window.texts(".reference-zone-widget .peekview-title")
        assert f"({len(values)})" in title
        (row, *_) = await window.texts(".reference-zone-widget .ref-tree .monaco-list-row")
        assert row in first, "each row is a part of its line"

    await eventually(listed)


async def test_click_goes_to_only_place(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    await window.open(path)
    lens = window.page.locator(f"{LENS} a", has_text="whole program, last read at step 50")
    await window.click(lens, ".tab.active[aria-label*='after_optimizations.txt']")


async def test_first_lens_opens_summary(dump: Compile, window: Window) -> None:
    await window.open(dump.path(ASSIGNMENT))
    lens = window.page.locator(f"{LENS} a", has_text="at the peak, step").first
    await window.click(lens, ".tab[aria-label*='Memory Summary']")
