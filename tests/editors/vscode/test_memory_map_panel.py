"""The memory map beside the editor."""

from pathlib import Path

from playwright.async_api import FrameLocator

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, MODULE
from editors.vscode.host import hover, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.memory_map import memory_map
from lsp.test_comparison import write_dump
from reports.example import STEM
from stats.test_measured_programs import written_profile

pytestmark = vscode(1)
_POINT = """(root, name) => {
  const point = root.memoryMap.pointOf(name);
  const bounds = root.querySelector(".overlay").getBoundingClientRect();
  return point && { x: point.x - bounds.left, y: point.y - bounds.top };
}"""


async def _shown(dump: Compile, window: Window) -> FrameLocator:
    """Open the buffer assignment and the panel; return the page in the panel."""
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await window.open(at)
    await until(lambda: hover(window.host, at))
    page = await _panel(window)
    await until(lambda: _selected(page), lambda name: name == "fusion")
    return page


async def _panel(window: Window) -> FrameLocator:
    await window.run("HLO: Memory Map")
    page = window.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
    await page.locator(".memory-map[data-boxes]").wait_for()
    return page


async def _selected(page: FrameLocator) -> str:
    return await page.locator(".memory-map").get_attribute("data-selected") or ""


async def test_cursor_highlights_the_box(dump: Compile, window: Window) -> None:
    page = await _shown(dump, window)
    workspace = DumpWorkspace()
    data = memory_map(workspace.compile_of(workspace.file(dump.path(ASSIGNMENT))))
    assert f"{len(data['boxes']['id']):,} buffers" in await page.locator(".subtitle").inner_text()
    await window.open(spot(dump.path(MODULE), "  %^fusion.15 = "))
    await until(lambda: _selected(page), lambda name: name == "fusion.15")


async def test_card_is_the_hover_and_click_shows_the_line(dump: Compile, window: Window) -> None:
    page = await _shown(dump, window)
    point = await page.locator(".memory-map").evaluate(_POINT, "fusion")
    await page.locator(".overlay").hover(position=point)
    card = page.locator(".card .editor-hover")
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    (title, *_) = (await hover(window.host, at)).splitlines()
    await until(card.inner_text, lambda text: text.startswith(title.strip("*`")))

    point = await page.locator(".memory-map").evaluate(_POINT, "fusion.15")
    await page.locator(".overlay").click(position=point)
    await until(lambda: _selected(page), lambda name: name == "fusion.15")
    # The panel keeps the focus, and VS Code knows no active editor meanwhile.
    await window.host.command("workbench.action.focusFirstEditorGroup")
    await until(window.front, lambda front: " fusion.15 @" in front[1])


async def test_edit_reloads_the_map(dump: Compile, window: Window) -> None:
    page = await _shown(dump, window)
    await window.host.command("workbench.action.focusActiveEditorGroup")
    at = spot(dump.path(ASSIGNMENT), "<235 fusion @1> (size=^1048576,")
    await window.open(at)
    point = await page.locator(".memory-map").evaluate(_POINT, "fusion")
    await window.page.keyboard.type("9")
    await until(
        lambda: page.locator(".memory-map").evaluate(_POINT, "fusion"),
        lambda now: now is not None and now != point,
    )


async def test_chip_of_the_settings_replaces_that_of_the_dump(
    dump: Compile, window: Window
) -> None:
    page = await _shown(dump, window)
    await page.get_by_label("Axis").select_option("least time on TPU v5e")
    await window.host.configure({"hlo.chip": "v6e"})
    await page.get_by_label("Axis").select_option("least time on TPU v6e")
    assert "least time on TPU v6e" in await page.locator(".subtitle").inner_text()


async def test_loaded_profile_shows_measured_times(folder: Path, window: Window) -> None:
    dump = write_dump(folder / "dump")
    # Problems of a file stay in VS Code if it is deleted right after it is closed.
    await window.host.configure({"hlo.check.ignore": ["size-mismatch", "sibling-missing"]})
    profile = written_profile(folder / "host.xplane.pb", 1, "jit_f", a=10, c=30)
    await window.open(dump / f"{STEM}-buffer-assignment.txt")
    page = await _panel(window)
    await window.host.command("hlo.loadProfile", uri(profile))
    await page.get_by_label("Axis").select_option("measured time")
    await until(page.locator(".subtitle").inner_text, lambda text: "measured time 40.0 µs" in text)
