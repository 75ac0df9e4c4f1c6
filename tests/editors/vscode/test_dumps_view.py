"""Tests for the view *HLO Dumps*."""

from contextlib import suppress
from pathlib import Path

from playwright.async_api import TimeoutError as TookTooLong

from editors.conftest import Compile
from editors.vscode.conftest import copied
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = VSCODE
VIEW = ".tree-explorer-viewlet-tree-view"
_AGAIN = 1_000  # milliseconds until a click is repeated
ROW = f"{VIEW} .monaco-list-row"


async def rows(window: Window) -> list[str]:
    """Return the rows of the view, each as one line."""
    return [" ".join(text.split()) for text in await window.texts(ROW)]


async def expand(window: Window, label: str) -> None:
    row = window.page.locator(ROW, has_text=label).first
    await row.click()
    await until(lambda: row.get_attribute("aria-expanded"), lambda state: state == "true")


async def choose(window: Window, label: str, title: str) -> None:
    """Run a command of the context menu of a row."""
    await window.page.locator(ROW, has_text=label).first.click(button="right")
    item = window.page.locator(".context-view .action-label", has_text=title)

    async def clicked() -> bool:
        # VS Code ignores a click that comes right after the menu.
        with suppress(TookTooLong):
            await item.click(timeout=_AGAIN)
        left: int = await item.count()
        return left == 0

    await until(clicked)


async def test_compile_shows_files_and_buffers(dump: Compile, window: Window) -> None:
    await window.host.command("hlo.dumps.focus")
    await until(lambda: rows(window), lambda shown: shown[:1] == ["jit_mlp_trainHBM peak 1.61 MiB"])
    await expand(window, "jit_mlp_train")
    await expand(window, "largest buffers")
    await until(
        lambda: rows(window),
        lambda shown: (
            {"buffer assignment", "after optimizations"} <= set(shown)
            and any("1.00 MiB · f32[" in row for row in shown)
        ),
    )
    await window.page.locator(ROW, has_text="buffer assignment").first.click()
    await until(window.front, lambda front: front[0] == dump.path(ASSIGNMENT))


async def test_menu_opens_memory_summary(dump: Compile, window: Window) -> None:
    await window.host.command("hlo.dumps.focus")
    await choose(window, "jit_mlp_train", "Memory Summary")
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: any("Memory Summary" in tab["label"] for tab in tabs),
    )
    assert dump.path(ASSIGNMENT).is_file()


async def test_view_follows_files(folder: Path, compile_v5e: Compile, window: Window) -> None:
    await window.host.command("hlo.dumps.focus")
    welcome = window.page.locator(".welcome-view-content:visible")
    await until(welcome.all_inner_texts, lambda texts: "xla_dump_to" in "".join(texts))
    copied(compile_v5e, folder)
    await until(lambda: rows(window), lambda shown: any("jit_mlp_train" in row for row in shown))
