"""Tests for a values file of 60 MB, which VS Code does not share with extensions."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, VALUES
from editors.vscode.host import Host, hover, spot, uri
from editors.vscode.large import Train, notice, open_confirmed
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(2)
BYTES = 60_000_000
_READ_SECONDS = 240.0
VALUE = "<77458 arg_tuple.1{301} @0>"  # its entry is 30 MB into the file
SCHEME = "hlo-window:/lines "
BUSY = "[id='status.progress']"


@pytest.fixture
def train(train_l96: Path, folder: Path) -> Train:
    """Copy the companion files, and the first entries of the values file."""
    train = Train(train_l96).copied((ASSIGNMENT, LIVE_RANGE), folder)
    with Train(train_l96).path(VALUES).open("rb") as whole:
        head = whole.read(BYTES)
    train.path(VALUES).write_bytes(head[: head.rindex(b"\n<") + 1])
    return train


async def active(window: Window, line: str = VALUE) -> dict[str, Any]:
    """Return the active text, once it is a window on the file with the cursor at a line."""
    ask = window.host.ask
    found = await until(
        lambda: ask("active"),
        lambda it: it and it["file"].startswith("hlo-w") and it["line"] == line,
    )
    return {**found, "name": unquote(found["file"])}


async def reply_at(host: Host, what: str, shown: dict[str, Any], column: int) -> Any:
    """Return the hover at a column of the line with the cursor."""
    place = {"$position": [shown["selection"][0], column]}
    return await host.command(f"vscode.execute{what}Provider", uri(shown["file"]), place)


async def test_definition_and_advice_open_window_on_record(train: Train, window: Window) -> None:
    values, text = train.path(VALUES), train.path(VALUES).read_text("utf-8").split("\n")
    entry = text.index(VALUE)
    at = spot(train.path(ASSIGNMENT), " value: <77458 ^arg_tuple.1{301} @0> (size")
    await window.open(at)
    # The server may still read what another test has left.
    card = await until(
        lambda: hover(window.host, at), lambda card: "uses" in card, seconds=_READ_SECONDS
    )
    # A definition waits until the values are read.
    await until(
        window.shown(BUSY),
        lambda texts: "Reading" not in "".join(texts),
        seconds=_READ_SECONDS,
    )
    await window.page.keyboard.press("F12")
    shown = await active(window)
    assert shown["language"] == "xla-values"
    await window.line(VALUE)
    first, last = map(int, shown["name"].removeprefix(SCHEME).partition("/")[0].split("-"))
    assert first - 1 <= entry < last
    content = await window.host.ask("text", uri(shown["file"]))
    assert content.rstrip("\n").split("\n") == text[first - 1 : last]

    await window.page.keyboard.press("x")
    await window.page.locator(".monaco-editor-overlaymessage", has_text="read-only").wait_for()
    await window.page.keyboard.press("Escape")
    assert "**`arg_tuple.1{301}`**" in card
    assert "**`arg_tuple.1{301}`**" in await hovered(window, shown, VALUE.index("arg"))
    await window.hovered("arg_tuple.1{301}")

    (back, *_) = await reply_at(window.host, "Definition", shown, VALUE.index("arg"))
    assert (Path(back["uri"]), back["range"][0]) == (at.path, at.line)
    await window.host.command("hlo.nextWindow")
    following = await active(window, text[last])
    assert following["name"].startswith(f"{SCHEME}{last + 1}-")
    assert values.name in following["name"]

    await open_confirmed(window, values)
    message = "is 57 MiB. VS Code does not share files larger than 50 MiB with extensions"
    label, button = await notice(window, message)
    assert label == "Open Window at Line..."
    await button.click()
    box = window.page.locator(".quick-input-widget input.input")
    await box.fill("nowhere")
    await window.page.locator(".quick-input-widget", has_text="Enter a line number").wait_for()
    await box.fill(str(entry + 1))
    await window.accept()
    await active(window)


async def hovered(window: Window, shown: dict[str, Any], column: int) -> str:
    (found,) = await until(lambda: reply_at(window.host, "Hover", shown, column))
    return "\n\n".join(map(str, found["contents"]))
