"""What does not add up: squiggles in the text, the Problems panel, and what puts it right."""

import pytest

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, printed
from editors.vscode.host import problems, spot
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
RIGHT, WRONG = "<235 fusion @1> (size=1048576,", "<235 fusion @1> (size=1048577,"
SQUIGGLE = ".editor-instance .squiggly-error"


@pytest.fixture
def damaged(dump: Compile) -> Compile:
    """A size that is not that of the shape."""
    path = dump.path(ASSIGNMENT)
    text = path.read_text("utf-8")
    assert text.count(RIGHT) == 1
    path.write_text(text.replace(RIGHT, WRONG), "utf-8")
    return dump


async def test_a_wrong_size_is_underlined_and_listed(damaged: Compile, window: Window) -> None:
    at = spot(damaged.path(ASSIGNMENT), "<235 fusion @1> (size=^1048577,")
    await window.open(at)
    (found,) = await until(lambda: problems(window.host, at.path))
    message = "size is 1,048,577 B, but the shape takes 1,048,576 B: padded to T(8,128)"
    assert (found["message"], found["code"]["value"]) == (message, "size-mismatch")
    assert found["range"] == [at.line, at.column, at.line, at.column + len("1048577")]
    await window.page.locator(SQUIGGLE).wait_for()

    await window.page.keyboard.press("Control+Shift+m")
    panel = window.shown(".markers-panel .monaco-list-row")
    rows = [" ".join(row.split()) for row in await until(panel, lambda rows: len(rows) >= 3)]
    assert rows[0] == f"{at.path.name} 1"
    assert rows[1] == f"{message} hlo-lsp size-mismatch [Ln {at.line + 1}, Col {at.column + 1}]"
    assert rows[2].endswith("this shape takes 1,048,576 B (1.00 MiB)")


async def test_the_right_number_is_put_in_from_the_light_bulb(
    damaged: Compile, window: Window
) -> None:
    at = spot(damaged.path(ASSIGNMENT), "<235 fusion @1> (size=^1048577,")
    await window.open(at)
    await window.page.locator(SQUIGGLE).wait_for()
    await window.press("Control+.", ".action-widget .monaco-list-row")
    await window.page.locator(".action-widget .monaco-list-row", has_text="Put `1048576`").click()

    await window.line(RIGHT)
    await until(lambda: problems(window.host, at.path), lambda found: found == [])
    await window.page.locator(SQUIGGLE).wait_for(state="detached")
    await window.page.keyboard.press("Control+s")

    async def saved() -> bool:
        return printed(at.path, "<235 fusion @1>").size == 1_048_576

    await until(saved)
