"""Tests for code lenses and clicks on them."""

import re
from itertools import pairwise

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, lines
from editors.vscode.host import Spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import eventually
from editors.vscode.window import Window

pytestmark = VSCODE
LENS = ".editor-instance .codelens-decoration"


async def test_lenses_describe_allocations(reading: Window) -> None:
    path = reading.dump.path(ASSIGNMENT)
    text = lines(path)
    heads = [n for n, line in enumerate(text) if line.startswith("allocation ")] + [len(text)]
    await reading.open(path)

    async def described() -> None:
        lenses = await reading.host.command("vscode.executeCodeLensProvider", uri(path), 1000)
        titles = {each["range"][0]: each["command"]["title"] for each in lenses}
        for head, end in pairwise(heads):
            values = sum(line.startswith(" value: ") for line in text[head:end])
            assert re.match(rf"{values} values?, ", titles.get(head, ""))
        assert titles[0].startswith("HBM: ")
        shown = await reading.texts(LENS)
        assert len(shown) > 10
        assert titles[heads[0]] in shown
        assert set(shown) <= set(titles.values())

    await eventually(described)


async def test_click_shows_places(reading: Window) -> None:
    path = reading.dump.path(ASSIGNMENT)
    text = lines(path)
    head = next(n for n, line in enumerate(text) if line.startswith("allocation 25:"))
    values = [line for line in text[head + 1 :] if line.startswith(" value: ")]
    await reading.open(Spot(path, head, 0))
    lens = reading.page.locator(f"{LENS} a", has_text=f"{len(values)} values, ")
    await reading.click(lens, ".reference-zone-widget .ref-tree .monaco-list-row")
    first = " ".join(values[0].split())

    async def listed() -> None:
        (title, *_) = await reading.texts(".reference-zone-widget .peekview-title")
        assert f"({len(values)})" in title
        (row, *_) = await reading.texts(".reference-zone-widget .ref-tree .monaco-list-row")
        assert row in first, "each row is a part of its line"

    await eventually(listed)


async def test_click_goes_to_only_place(window: Window, dump: Compile) -> None:
    path = dump.path(ASSIGNMENT)
    await window.open(path)
    lens = window.page.locator(f"{LENS} a", has_text="steps 0-50, at the peak")
    await window.click(lens, ".tab.active[aria-label*='after_optimizations.txt']")


async def test_first_lens_opens_summary(window: Window, dump: Compile) -> None:
    await window.open(dump.path(ASSIGNMENT))
    lens = window.page.locator(f"{LENS} a", has_text="at the peak, step").first
    await window.click(lens, ".tab[aria-label*='Memory Summary']")
