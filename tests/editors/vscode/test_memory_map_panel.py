"""The memory map beside the editor."""

from playwright.async_api import FrameLocator

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, MODULE
from editors.vscode.host import hover, spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
_POINT = """(root, name) => {
  const point = root.memoryMap.pointOf(name);
  const bounds = root.querySelector(".overlay").getBoundingClientRect();
  return point && { x: point.x - bounds.left, y: point.y - bounds.top };
}"""


async def panel(window: Window) -> FrameLocator:
    """Open the panel, and return the page in it."""
    await window.run("HLO: Memory Map")
    page = window.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
    await page.locator(".memory-map[data-boxes]").wait_for()
    return page


async def _selected(page: FrameLocator) -> str:
    return await page.locator(".memory-map").get_attribute("data-selected") or ""


async def test_panel_follows_cursor_and_shows_lines(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    page = await panel(window)
    await until(lambda: _selected(page), lambda name: name == "fusion")
    await window.open(spot(dump.path(MODULE), "  %^fusion.15 = "))
    await until(lambda: _selected(page), lambda name: name == "fusion.15")

    point = await page.locator(".memory-map").evaluate(_POINT, "fusion")
    await page.locator(".overlay").hover(position=point)
    card = page.locator(".card")
    await until(card.inner_text, lambda text: text.startswith("fusion") and "kept for" in text)
    await page.locator(".overlay").click(position=point)
    # The panel keeps the focus, and VS Code knows no active editor meanwhile.
    await window.host.command("workbench.action.focusFirstEditorGroup")
    await until(window.front, lambda front: " fusion @" in front[1] or "%fusion =" in front[1])


async def test_panel_follows_edits_and_settings(dump: Compile, window: Window) -> None:
    at = spot(dump.path(ASSIGNMENT), "<235 fusion @1> (size=^1048576,")
    await window.open(at)
    await until(lambda: hover(window.host, spot(at.path, "<235 ^fusion @1>")))
    page = await panel(window)
    await page.get_by_label("Axis").select_option("least time on TPU v5e")
    await window.host.configure({"hlo.chip": "v6e"})
    await page.get_by_label("Axis").select_option("least time on TPU v6e")
    point = await page.locator(".memory-map").evaluate(_POINT, "fusion")
    await window.host.command("workbench.action.focusFirstEditorGroup")
    await window.open(at)
    await window.page.keyboard.type("9")
    await until(
        lambda: page.locator(".memory-map").evaluate(_POINT, "fusion"),
        lambda now: now is not None and now != point,
    )
