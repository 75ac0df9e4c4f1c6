"""Tests for definitions, references, and calls on the screen."""

import re

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, MODULE, VALUES, lines
from editors.vscode.host import places, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
PEEKED = ".reference-zone-widget"


async def test_f12_jumps_from_live_range_to_entry(dump: Compile, window: Window) -> None:
    values = dump.path(VALUES)
    at = spot(dump.path(LIVE_RANGE), "    ^copy-start.1{0}:")
    entry = lines(values).index("<237 copy-start.1{0} @0>")
    await window.open(at)
    await until(
        lambda: places(window.host, "Definition", at), lambda found: found == [(values, entry)]
    )
    await window.page.keyboard.press("F12")
    await until(window.front, lambda front: front == (values, "<237 copy-start.1{0} @0>"))
    await until(window.cursor, lambda cursor: cursor[0] == entry + 1)
    await window.line("<237 copy-start.1{0} @0>")


async def test_references_peek_into_all_files(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<237 ^copy-start.1{0} @0>")
    files = {dump.path(each) for each in (MODULE, VALUES, ASSIGNMENT, LIVE_RANGE)}
    await window.open(at)
    found = await until(
        lambda: places(window.host, "Reference", at),
        lambda found: files <= {path for path, _ in found},
    )
    await window.press("Shift+F12", f"{PEEKED} .peekview-title")
    await until(
        window.shown(f"{PEEKED} .peekview-title"),
        lambda titles: f"References ({len(found)})" in " ".join(" ".join(titles).split()),
    )


async def test_call_tree_of_computations(dump: Compile, window: Window) -> None:
    at = spot(dump.path(MODULE), "\n%^bitcast_fusion.1 (")
    callers = [
        line
        for line in dump.path(MODULE).read_text("utf-8").split("\n}")
        if re.search(r"calls=%bitcast_fusion\.1\b", line)
    ]
    (caller,) = re.findall(r"^%([\w.]+) \(", "\n".join(callers), re.MULTILINE)
    await window.open(at)
    await until(
        lambda: window.host.ask("calls", uri(at.path), at.position, "Incoming"),
        lambda calls: calls == {"item": "bitcast_fusion.1", "calls": [caller]},
    )

    await window.page.keyboard.press("Shift+Alt+h")
    tree = window.shown(".part.sidebar .monaco-list-row")
    await until(tree, ["bitcast_fusion.1", caller].__eq__)
