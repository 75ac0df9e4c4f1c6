"""Tests for diagnostics in the text and in the Problems panel, and for fixes."""

from typing import Any

import pytest

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import problems, spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
RIGHT, WRONG = "<235 fusion @1> (size=1048576,", "<235 fusion @1> (size=1048577,"
SQUIGGLE = ".editor-instance .squiggly-error"


@pytest.fixture
def damaged(dump: Compile) -> Compile:
    """Write a size that does not match its shape."""
    path = dump.path(ASSIGNMENT)
    text = path.read_text("utf-8")
    assert text.count(RIGHT) == 1
    path.write_text(text.replace(RIGHT, WRONG), "utf-8")
    return dump


async def test_wrong_size_is_underlined_and_listed(damaged: Compile, window: Window) -> None:
    at = spot(damaged.path(ASSIGNMENT), "<235 fusion @1> (size=^1048577,")
    await window.open(at)
    message = "size is 1,048,577 B, but the shape takes 1,048,576 B: padded to T(8,128)"
    (found,) = await until(
        lambda: problems(window.host, at.path),
        lambda problems: [each["message"] for each in problems] == [message],
    )
    assert found["code"]["value"] == "size-mismatch"
    assert found["range"] == [at.line, at.column, at.line, at.column + len("1048577")]
    await window.page.locator(SQUIGGLE).wait_for()

    await window.page.keyboard.press("Control+Shift+m")
    panel = window.shown(".markers-panel .monaco-list-row")
    expected = [
        f"{at.path.name}{damaged.folder.name} 1",
        f"{message} hlo-lsp size-mismatch [Ln {at.line + 1}, Col {at.column + 1}]",
        f"{at.path.name} [Ln {at.line + 1}, Col {found_shape(found)}] : "
        "this shape takes 1,048,576 B (1.00 MiB)",
    ]
    # The panel also lists the other files of the folder.
    await until(panel, lambda rows: "\n".join(expected) in "\n".join(map(on_one_line, rows)))


def on_one_line(row: str) -> str:
    return " ".join(row.split())


def found_shape(problem: dict[str, Any]) -> int:
    """Return the column, from 1, of the related information of a problem."""
    (related,) = problem["relatedInformation"]
    column: int = related["location"]["range"][1]
    return column + 1


async def test_light_bulb_corrects_number(damaged: Compile, window: Window) -> None:
    at = spot(damaged.path(ASSIGNMENT), "<235 fusion @1> (size=^1048577,")
    await window.open(at)
    await window.page.locator(SQUIGGLE).wait_for()
    await window.press("Control+.", ".action-widget .monaco-list-row")
    await window.page.locator(
        ".action-widget .monaco-list-row", has_text="Change to `1048576`"
    ).click()

    await window.line(RIGHT)
    await until(lambda: problems(window.host, at.path), lambda found: found == [])
    await window.page.locator(SQUIGGLE).wait_for(state="detached")
    await window.page.keyboard.press("Control+s")

    async def saved() -> bool:  # while it is being written it may be empty
        return "<235 fusion @1> (size=1048576," in at.path.read_text("utf-8")

    await until(saved)
