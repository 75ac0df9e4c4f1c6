"""The rows of the view *HLO Dumps*."""

from contextlib import suppress

from playwright.async_api import TimeoutError as TookTooLong

from editors.vscode.waiting import until
from editors.vscode.window import Window

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
