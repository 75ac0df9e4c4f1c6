"""Tests for definitions, references, and calls on the screen."""

import re

from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, MODULE, VALUES, lines
from editors.vscode.host import places, spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window

pytestmark = VSCODE
PEEKED = ".reference-zone-widget"


async def test_f12_jumps_from_live_range_to_entry(reading: Window) -> None:
    values = reading.dump.path(VALUES)
    at = spot(reading.dump.path(LIVE_RANGE), "    ^copy-start.1{0}:")
    entry = lines(values).index("<237 copy-start.1{0} @0>")
    await reading.open(at)
    await until(
        lambda: places(reading.host, "Definition", at), lambda found: found == [(values, entry)]
    )
    await reading.page.keyboard.press("F12")
    await until(reading.front, lambda front: front == (values, "<237 copy-start.1{0} @0>"))
    await until(reading.cursor, lambda cursor: cursor[0] == entry + 1)
    await reading.line("<237 copy-start.1{0} @0>")


async def test_references_peek_into_all_files(reading: Window) -> None:
    at = spot(reading.dump.path(ASSIGNMENT), "<237 ^copy-start.1{0} @0>")
    await reading.open(at)
    module, values = reading.dump.path(MODULE), reading.dump.path(VALUES)
    mentions = {
        (module, line)
        for line, text in enumerate(lines(module))
        if re.search(r"%copy-start\.1\b|^  ROOT %tuple\.7 ", text)
    }
    count = 0

    async def complete() -> None:
        nonlocal count
        found = await places(reading.host, "Reference", at)
        assert mentions == {place for place in found if place[0] == module}
        assert (values, lines(values).index("<237 copy-start.1{0} @0>")) in found
        assert {path for path, _ in found} >= {
            reading.dump.path(each) for each in (ASSIGNMENT, LIVE_RANGE)
        }
        count = len(found)

    await eventually(complete)
    await reading.page.keyboard.press("Shift+F12")
    await until(
        reading.shown(f"{PEEKED} .peekview-title"),
        lambda titles: f"References ({count})" in " ".join(" ".join(titles).split()),
    )


async def test_call_tree_of_computations(reading: Window) -> None:
    at = spot(reading.dump.path(MODULE), "\n%^bitcast_fusion.1 (")
    callers = [
        line
        for line in reading.dump.path(MODULE).read_text("utf-8").split("\n}")
        if re.search(r"calls=%bitcast_fusion\.1\b", line)
    ]
    (caller,) = re.findall(r"^%([\w.]+) \(", "\n".join(callers), re.MULTILINE)
    await reading.open(at)
    await until(
        lambda: reading.host.ask("calls", uri(at.path), at.position, "Incoming"),
        lambda calls: calls == {"item": "bitcast_fusion.1", "calls": [caller]},
    )

    await reading.page.keyboard.press("Shift+Alt+h")
    tree = reading.shown(".part.sidebar .monaco-list-row")
    await until(tree, ["bitcast_fusion.1", caller].__eq__)


async def test_call_tree_of_instruction_is_dataflow(reading: Window) -> None:
    at = spot(reading.dump.path(MODULE), "  %^fusion.40 = f32[64,256]{1,0:T(8,128)} fusion(")
    await reading.open(at)
    expected = [
        {"item": "fusion.40", "calls": ["param_0.25"]},
        {"item": "fusion.40", "calls": ["convolution.17"]},
    ]

    async def calls() -> list[object]:
        directions = ("Incoming", "Outgoing")
        return [
            await reading.host.ask("calls", uri(at.path), at.position, each) for each in directions
        ]

    await until(calls, lambda found: found == expected)
