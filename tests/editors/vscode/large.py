"""A real compile beyond the limits of VS Code."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from editors.vscode.waiting import NotYet, until
from editors.vscode.window import Window

STEM = "module_0000.jit_step.cl_1003875606.after_optimizations"
TOASTS = ".notifications-toasts .notification-list-item"


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


async def open_by_click(window: Window, path: Path) -> None:
    """Open a file as a user does, and confirm its size."""
    name = f".explorer-folders-view .monaco-list-row[aria-label^='{path.name}']"
    await window.page.locator(name).dblclick()
    tab = f".tab.active [aria-label*='{path.name}']"
    await window.page.locator(tab).first.wait_for()
    anyway = window.page.locator(".monaco-editor-pane-placeholder .monaco-button").first
    editor = window.page.locator(".editor-instance .view-line").first

    async def is_shown() -> bool:
        if await anyway.count():
            await anyway.click()
        return bool(await editor.count())

    await until(is_shown)


async def notice(window: Window, text: str) -> list[str]:
    """Wait for a notification, which stays for 20 seconds, and return its buttons."""
    toast = window.page.locator(TOASTS, has_text=text).first
    await toast.wait_for()
    buttons = await toast.locator(".monaco-button").all_inner_texts()
    if not buttons:
        raise NotYet(await toast.inner_text())
    return [each.strip() for each in buttons]
