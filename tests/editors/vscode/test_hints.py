"""Tests for inlay hints on the screen."""

import re

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, lines
from editors.vscode.host import Spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE


async def test_padded_values_show_logical_size(reading: Window) -> None:
    path = reading.dump.path(ASSIGNMENT)
    found = [re.search(r"size=(\d+),.*: f32\[(\d+)\]", line) for line in lines(path)]
    # Rows with numbers only, whose sizes are known.
    padded = {
        line: 4 * int(one[2])
        for line, one in enumerate(found)
        if one and int(one[1]) > 4 * int(one[2])
    }
    first = min(padded)
    await reading.open(Spot(path, first, 0))
    whole = {"$range": [0, 0, len(found), 0]}

    async def labels() -> set[tuple[int, str]]:
        hints = await reading.host.command("vscode.executeInlayHintProvider", uri(path), whole)
        return {(each["position"][0], each["label"]) for each in hints}

    expected = {(line, f"padded from {size} B") for line, size in padded.items()}
    await until(labels, expected.issubset)
    label = f"padded from {padded[first]} B"

    async def row() -> str:
        shown = await reading.line(lines(path)[first].strip())
        return str(await shown.inner_text())

    await until(row, lambda text: label.replace(" ", "\u00a0") in text)


async def test_setting_disables_hints_at_once(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    await window.open(path)
    row = await window.line("value: <11 reduce_sum.40 @0>")
    await until(row.inner_text, lambda text: "padded\u00a0from" in text)
    await window.host.ask("set", "hlo", "inlayHints.paddedSize", False)
    await until(row.inner_text, lambda text: text.endswith("f32[]{:T(128)}"))
    await window.host.ask("set", "hlo", "inlayHints.paddedSize", True)
    await until(row.inner_text, lambda text: "padded\u00a0from" in text)
