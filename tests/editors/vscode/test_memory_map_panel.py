"""The memory map beside the editor."""

from playwright.async_api import FrameLocator

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, MODULE
from editors.vscode.host import hover, spot
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.memory_map import memory_map

pytestmark = VSCODE
_POINT = """(root, name) => {
  const point = root.memoryMap.pointOf(name);
  const bounds = root.querySelector(".overlay").getBoundingClientRect();
  return point && { x: point.x - bounds.left, y: point.y - bounds.top };
}"""


async def _shown(window: Window) -> FrameLocator:
    """Open the buffer assignment and the panel; return the page in the panel."""
    at = spot(window.dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    await window.run("HLO: Memory Map")
    page = window.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
    await page.locator(".memory-map[data-boxes]").wait_for()
    return page


async def _selected(page: FrameLocator) -> str:
    return await page.locator(".memory-map").get_attribute("data-selected") or ""


async def test_panel_shows_the_boxes_of_the_dump(reading: Window) -> None:
    page = await _shown(reading)
    workspace = DumpWorkspace()
    data = memory_map(workspace.set_of(workspace.file(reading.dump.path(ASSIGNMENT))))
    assert f"{len(data['boxes']['id']):,} buffers" in await page.locator(".subtitle").inner_text()


async def test_cursor_highlights_the_box(reading: Window) -> None:
    page = await _shown(reading)
    await until(lambda: _selected(page), lambda name: name == "fusion")
    await reading.open(spot(reading.dump.path(MODULE), "  %^fusion.15 = "))
    await until(lambda: _selected(page), lambda name: name == "fusion.15")


async def test_click_shows_the_line_in_the_editor(reading: Window) -> None:
    page = await _shown(reading)
    await until(lambda: _selected(page), lambda name: name == "fusion")
    point = await page.locator(".memory-map").evaluate(_POINT, "fusion.15")
    await page.locator(".overlay").click(position=point)
    await until(lambda: _selected(page), lambda name: name == "fusion.15")
    # The panel keeps the focus, and VS Code knows no active editor meanwhile.
    await reading.host.command("workbench.action.focusFirstEditorGroup")
    await until(reading.front, lambda front: " fusion.15 @" in front[1])


async def test_card_is_the_hover_of_the_editor(reading: Window) -> None:
    page = await _shown(reading)
    await until(lambda: _selected(page), lambda name: name == "fusion")
    point = await page.locator(".memory-map").evaluate(_POINT, "fusion")
    await page.locator(".overlay").hover(position=point)
    card = page.locator(".card .editor-hover")
    at = spot(reading.dump.path(ASSIGNMENT), "<235 ^fusion @1>")

    async def equal() -> None:
        (title, *_) = (await hover(reading.host, at)).splitlines()
        assert (await card.inner_text()).startswith(title.strip("*`"))

    await eventually(equal)


async def test_edit_reloads_the_map(dump: Compile, window: Window) -> None:
    page = await _shown(window)
    await window.host.command("workbench.action.focusActiveEditorGroup")
    at = spot(dump.path(ASSIGNMENT), "<235 fusion @1> (size=^1048576,")
    await window.open(at)
    point = await page.locator(".memory-map").evaluate(_POINT, "fusion")
    await window.page.keyboard.type("9")
    await until(
        lambda: page.locator(".memory-map").evaluate(_POINT, "fusion"),
        lambda now: now is not None and now != point,
    )
