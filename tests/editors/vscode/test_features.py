"""One visit to each feature that VS Code renders from standard answers of the server.

Tests of the protocol prove what is in the answers.
"""

import re

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, MODULE, VALUES, lines
from editors.vscode.host import hover, places, problems, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import LENS, Window
from hlo_lsp import __version__

pytestmark = vscode(1)
MODE = "[id='status.editor.mode']"
CRUMB = ".breadcrumbs-control .monaco-breadcrumb-item"
OUTLINE = ".outline-pane .monaco-list-row"
PEEKED = ".reference-zone-widget"
SQUIGGLE = ".editor-instance .squiggly-error"
ACTION = ".action-widget .monaco-list-row"


async def test_assignment_has_hover_hints_lenses_outline_and_places(
    dump: Compile, window: Window
) -> None:
    path, values = dump.path(ASSIGNMENT), dump.path(VALUES)
    assert await window.open(path) == "xla-buffer-assignment"
    label = "assignment · jit_mlp_train · module_0000"  # the names of files differ at their ends
    assert await window.page.locator(".tab.active .label-name").inner_text() == label
    await until(window.shown(MODE), ["XLA Buffer Assignment"].__eq__)
    row = await window.line("value: <179 params_2__0_.1 @0>")
    padded = "padded\u00a0from\u00a020.0\u00a0KiB"  # a hint has no ordinary blanks
    await until(row.inner_text, lambda text: padded in text)
    await window.host.command("outline.focus")
    # The size is a detail, apart.
    first = ["BufferAssignment", "allocation 0512 B"]
    await until(window.shown(OUTLINE), lambda rows: rows[:2] == first)

    await window.open(spot(path, "<235 ^fusion @1>"))
    shown = await window.hovered("fusion")
    assert shown.startswith("1.00 MiB in VMEM · steps ")
    assert "**" not in shown  # it is shown as markdown
    await window.open(spot(path, "^allocation 25:"))
    lens = window.page.locator(f"{LENS} a", has_text=re.compile(r"\d+ values, "))
    await window.click(lens, f"{PEEKED} .ref-tree .monaco-list-row")
    await window.page.keyboard.press("Escape")

    at = spot(dump.path(LIVE_RANGE), "    ^copy-start.1{0}:")
    entry = (values, lines(values).index("<237 copy-start.1{0} @0>"))
    await window.open(at)
    await until(lambda: places(window.host, "Definition", at), [entry].__eq__)
    await window.page.keyboard.press("F12")
    await until(window.front, lambda front: front == (values, "<237 copy-start.1{0} @0>"))
    await window.press("Shift+F12", f"{PEEKED} .peekview-title")


async def test_module_has_breadcrumbs_calls_and_rename(dump: Compile, window: Window) -> None:
    at = spot(dump.path(MODULE), "  %^fusion.40 = f32[64,256]{1,0:T(8,128)} fusion(")
    assert await window.open(at) == "hlo"
    path = [dump.folder.name, at.path.name, "fused_computation.7", "fusion.40"]
    await until(window.shown(CRUMB), path.__eq__)

    expected, count = re.subn(r"%fusion\.40\b", "%halves", at.path.read_text("utf-8"))
    assert count == 2
    await until(lambda: hover(window.host, at))
    box = await window.press("F2", ".rename-box input")
    assert await box.input_value() == "fusion.40"
    await box.fill("halves")
    await window.page.keyboard.press("Enter")
    await until(lambda: window.host.ask("text", uri(at.path)), lambda text: text == expected)

    await window.open(spot(at.path, "\n%^bitcast_fusion.1 ("))
    await window.page.keyboard.press("Shift+Alt+h")
    tree = window.shown(".part.sidebar .monaco-list-row")
    await until(tree, lambda rows: rows[:1] == ["bitcast_fusion.1"] and len(rows) == 2)


async def test_typed_problem_is_shown_ignored_and_corrected(dump: Compile, window: Window) -> None:
    right, wrong = "<235 fusion @1> (size=1048576,", "<235 fusion @1> (size=1048577,"
    at = spot(dump.path(ASSIGNMENT), f"{right[:-1]}^,")
    await window.open(at)
    await window.line(right)
    await window.page.locator(".editor-instance .view-line", has_text="<235").first.click()
    await window.open(at)
    await window.page.keyboard.press("Backspace")
    await window.page.keyboard.press("7")
    await window.line(wrong)
    squiggle = window.page.locator(SQUIGGLE)
    await squiggle.first.wait_for()
    (found,) = await problems(window.host, at.path)
    assert found["code"]["value"] == "size-mismatch"
    await window.page.locator("[id='status.languageStatus']").hover()
    expected = {"1 problem in this file", f"hlo-lsp {__version__}"}
    await until(
        window.shown(".hover-language-status"),
        lambda texts: all(any(part in each for each in texts) for part in expected),
    )

    await window.host.configure({"hlo.check.ignore": ["size-mismatch"]})
    await until(squiggle.count, lambda count: count == 0)
    await window.host.configure({"hlo.check.ignore": []})
    await squiggle.first.wait_for()
    await window.open(at)
    await window.press("Control+.", ACTION)
    await window.page.locator(ACTION, has_text="Change to 1048576").click()
    await window.line(right)
    await until(lambda: problems(window.host, at.path), lambda found: found == [])
