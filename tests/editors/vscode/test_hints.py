"""Inlay hints: what is between the words on the screen."""

import re

from editors.vscode.dump import ASSIGNMENT, lines
from editors.vscode.host import Spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE


async def test_padded_values_say_how_large_they_are_without(reading: Window) -> None:
    path = reading.dump.path(ASSIGNMENT)
    found = [re.search(r"size=(\d+),.*: f32\[(\d+)\]", line) for line in lines(path)]
    # Rows of numbers alone: their bytes are easily said.
    padded = {
        line: 4 * int(one[2])
        for line, one in enumerate(found)
        if one and int(one[1]) > 4 * int(one[2])
    }
    first = min(padded)
    await reading.open(Spot(path, first, 0))
    whole = {"$range": [0, 0, len(found), 0]}
    hints = await until(
        lambda: reading.host.command("vscode.executeInlayHintProvider", uri(path), whole)
    )
    told = {each["position"][0]: each["label"] for each in hints}
    for line, size in padded.items():
        assert told[line] == f"padded from {size} B"

    async def row() -> str:
        shown = await reading.line(lines(path)[first].strip())
        return await shown.inner_text()

    await until(row, lambda text: text.rstrip().endswith(told[first].replace(" ", "\u00a0")))
