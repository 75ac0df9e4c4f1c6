"""Names in dumps and of files that look like markup or commands are only text in VS Code."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Dialog, Locator

from editors.compared import changed_copy
from editors.conftest import Compile
from editors.vscode.conftest import copied
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.dump_rows import ROW, expand, rows
from editors.vscode.host import hover, spot
from editors.vscode.large import LIMIT_LINES
from editors.vscode.marks import vscode
from editors.vscode.scenes import compare
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window
from hostile.payload import NAME_PAYLOAD, with_payload

pytestmark = vscode(1)
_ACTIVE = "img[src=x], [onerror], a[href^='command:'], a[data-href^='command:'], a[href*=evil]"
_POINT = """(root, name) => {
  const point = root.memoryMap.pointOf(name);
  const bounds = root.querySelector(".overlay").getBoundingClientRect();
  return point && { x: point.x - bounds.left, y: point.y - bounds.top };
}"""


@pytest.fixture
def hostile(folder: Path, compile_v5e: Compile) -> Compile:
    """Return a compile with hostile texts in a folder with a hostile name."""
    (folder / NAME_PAYLOAD).mkdir()
    compile_ = copied(compile_v5e, folder / NAME_PAYLOAD)
    for path in compile_.folder.iterdir():
        if path.suffix == ".txt":
            path.write_text(with_payload(path.read_text("utf-8")), "utf-8")
    return compile_


@asynccontextmanager
async def no_dialog(window: Window) -> AsyncIterator[None]:
    """Check that the page opens no dialog, as the payloads do if they run."""
    dialogs: list[str] = []

    async def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        await dialog.dismiss()

    window.page.on("dialog", note)
    yield
    window.page.remove_listener("dialog", note)
    assert dialogs == []


async def assert_text(part: Locator, text: str = "onerror=alert") -> None:
    """Wait for the text of a payload in a part of a page, which has no element of it."""

    async def shown() -> None:
        assert text in await part.inner_text()

    await eventually(shown)
    active = await part.locator(_ACTIVE).evaluate_all("found => found.map(one => one.outerHTML)")
    assert active == []


async def test_memory_map_and_notification_show_hostile_names_as_text(
    hostile: Compile, window: Window
) -> None:
    at = spot(hostile.path(ASSIGNMENT), "<235 ^fusion @1>")
    async with no_dialog(window):
        await window.open(at)
        await until(lambda: hover(window.host, at), lambda text: "onerror" in text)
        await window.run("HLO: Memory Map")
        page = window.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
        await page.locator(".memory-map[data-boxes]").wait_for()
        point = await page.locator(".memory-map").evaluate(_POINT, "fusion")
        await page.locator(".overlay").hover(position=point)
        await page.locator(".card").wait_for()
        await page.get_by_label("Color by").select_option("scope")
        await assert_text(page.locator("body"))

        large = hostile.folder / f"{NAME_PAYLOAD}.txt"
        large.write_text("BufferAssignment:\n" + "\n" * LIMIT_LINES, "utf-8")
        await window.open(large)
        # VS Code itself also shows a message about the size, with a link.
        await assert_text(await window.notification("MiB"))


async def test_tree_and_comparison_show_hostile_names_as_text(
    hostile: Compile, folder: Path, tmp_path: Path, window: Window
) -> None:
    after = changed_copy(hostile, tmp_path / f"after {NAME_PAYLOAD}")
    text = after.path(ASSIGNMENT).read_text("utf-8")
    after.path(ASSIGNMENT).write_text(text.replace("(size=1048576,", "(size=2048576,"), "utf-8")
    # The server reads a file of its folder at once.
    shutil.copytree(after.folder, folder / after.folder.name)
    page = window.page
    await window.reload()  # a list without rows of earlier tests
    async with no_dialog(window):
        await window.host.command("hlo.dumps.focus")
        await until(lambda: rows(window), lambda shown: any("2 compiles" in r for r in shown))
        await expand(window, "jit_mlp_train")
        await assert_text(page.locator(ROW, has_text="after").first, "after [x](")
        await compare(window, "after", "jit_mlp_train")
        preview = page.frame_locator(".webview.ready").frame_locator("#active-frame")
        await assert_text(preview.locator("body"))
