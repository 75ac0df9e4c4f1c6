"""The rows of the view *HLO Dumps*."""

from contextlib import suppress

from editors.vscode.waiting import until
from editors.vscode.window import Window

VIEW = ".tree-explorer-viewlet-tree-view"
_AGAIN = 1_000  # milliseconds until a click is repeated
_EXPANDING = 5.0  # seconds in which a row has its children
ROW = f"{VIEW} .monaco-list-row"


async def rows(window: Window) -> list[str]:
    """Return the rows of the view, each as one line."""
    return [" ".join(text.split()) for text in await window.texts(ROW)]


async def show_view(window: Window) -> None:
    """Show the view, and wait until it is empty: files of another test were deleted before."""
    await window.host.command("hlo.dumps.focus")
    welcome = window.page.locator(".welcome-view-content:visible")
    await until(welcome.all_inner_texts, lambda texts: "xla_dump_to" in "".join(texts))


async def expand(window: Window, label: str) -> None:
    """Expand a row, which VS Code may have expanded before."""
    row = window.page.locator(ROW, has_text=label).first

    async def is_expanded() -> bool:
        return await row.get_attribute("aria-expanded") == "true"

    async def expanded() -> bool:
        if not await is_expanded():
            await row.click()
            with suppress(AssertionError):  # VS Code replaces rows while a view is loaded
                await until(is_expanded, seconds=_EXPANDING)
        return await is_expanded()

    await until(expanded)


async def choose(window: Window, label: str, title: str) -> None:
    """Run a command of the context menu of a row."""
    row = window.page.locator(ROW, has_text=label).first
    await window.choose_item(title, lambda: row.click(button="right", timeout=_AGAIN))
