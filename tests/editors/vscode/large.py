"""A real compile beyond the limits of VS Code."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Locator

from editors.vscode.host import uri
from editors.vscode.waiting import until
from editors.vscode.window import Window

STEM = "module_0000.jit_step.cl_1003875606.after_optimizations"
LIMIT_LINES = 300_000
"""VS Code turns features off in files of more lines."""


@dataclass(frozen=True)
class Train:
    """The train step of 106,000 instructions: 21 MiB of module, 201 MiB of values."""

    folder: Path

    def path(self, suffix: str) -> Path:
        return self.folder / f"{STEM}{suffix}.txt"

    def copied(self, suffixes: Iterable[str], folder: Path) -> "Train":
        """Copy some files into another folder."""
        for suffix in suffixes:
            shutil.copy(self.path(suffix), folder)
        return Train(folder)


async def open_confirmed(window: Window, path: Path) -> None:
    """Open a file as a click does, and confirm its size."""
    await window.host.command("vscode.open", uri(path), {"preview": False})
    await until(
        lambda: window.host.ask("tabs"),
        lambda tabs: [tab["file"] for tab in tabs if tab["isActive"]] == [str(path)],
    )
    anyway = window.page.locator(".monaco-editor-pane-placeholder .monaco-button").first
    editor = window.page.locator(".editor-instance .view-line").first

    async def is_shown() -> bool:
        if await anyway.count():
            await anyway.click()
        return bool(await editor.count())

    await until(is_shown)


async def notice(window: Window, text: str) -> tuple[str, Locator]:
    """Wait for a notification with one button, and return its label and the button."""
    button = (await window.notification(text)).locator(".monaco-button")
    return (await button.inner_text()).strip(), button
