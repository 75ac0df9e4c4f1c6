"""A window of VS Code: what its screen shows, and what its extension host is told.

    async def test_something(window: Window) -> None:
        at = spot(window.folder / "a.hlo", "%add = ^f32[4]")
        await window.open(at)                          # shows the file, with the cursor there
        assert "4 elements" in await hover(window.host, at)  # as an extension sees it
        await until(window.texts(".codelens-decoration a"), lambda told: "live 2-3" in told)

`host.ask` and `host.command` reach whatever extensions can; `page` is Playwright's, with which
keys are typed and the screen is read. Whatever takes time is waited for by `until`.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.async_api import BrowserContext, Locator, Page

from editors.vscode.host import Host, Spot, uri
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import NotYet, until

_MILLISECONDS = 60_000


@dataclass(frozen=True)
class Window:
    """A window that shows a folder."""

    page: Page
    host: Host
    folder: Path

    @classmethod
    async def show(cls, server: CodeServer, context: BrowserContext, folder: Path) -> "Window":
        """Opens a folder; returns when extensions run and the client is among them."""
        page = await context.new_page()
        page.set_default_timeout(_MILLISECONDS)
        window = cls(page, Host(server.ports, folder), folder)
        await page.goto(f"{server.address}/?{urlencode({'folder': str(folder)})}")
        await page.locator(".monaco-workbench .part.editor").wait_for()
        await until(lambda: window.host.ask("extension", "hlo-lsp.hlo-lsp"))
        return window

    async def close(self) -> None:
        """Leaves it, and waits for the end of its extension host and of the server in it."""
        process = self.host.process
        await self.page.goto("about:blank")
        if process is not None:
            await until(lambda: _has_ended(process))
        self.host.forget()
        await self.page.close()

    async def open(self, at: Spot | Path) -> str:
        """Shows a file, with the cursor at a place; returns the language it has at first."""
        if isinstance(at, Path):
            at = Spot(at, 0, 0)
        place = [at.line, at.column] * 2
        language: str = await self.host.ask("open", uri(at.path), {"$range": place})
        await self.page.locator(f".tab.active [aria-label*='{at.path.name}']").first.wait_for()
        return language

    async def run(self, title: str) -> None:
        """Runs a command as a user does: by its title in the command palette."""
        await self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget input.input")
        await box.fill(f">{title}")
        entry = self.page.locator(".quick-input-list .monaco-list-row").first
        await until(entry.inner_text, lambda told: title in told)
        await self.page.keyboard.press("Enter")
        await box.wait_for(state="hidden")

    async def texts(self, selector: str) -> list[str]:
        """The texts of all parts of the screen that a selector finds, blanks made plain."""
        return [plain(text) for text in await self.page.locator(selector).all_inner_texts()]

    def shown(self, selector: str) -> Callable[[], Awaitable[list[str]]]:
        """`texts` as a question, for `until`."""
        return lambda: self.texts(selector)

    async def line(self, text: str) -> Locator:
        """The line on the screen that holds a text, once it is there."""
        # VS Code writes blanks of the text as U+00A0.
        expression = re.compile(r"[\s\u00a0]".join(map(re.escape, text.split(" "))))
        line = self.page.locator(".editor-instance .view-line", has_text=expression).first
        await line.wait_for()
        return line

    async def cursor(self) -> tuple[int, int]:
        """Where the cursor is, as the status bar shows it: line and column from 1."""
        told = await self.page.locator("[id='status.editor.selection']").inner_text()
        found = re.search(r"Ln (\d+), Col (\d+)", told)
        if found is None:
            raise NotYet(told)
        return int(found[1]), int(found[2])


def plain(text: str) -> str:
    """Text of the screen with ordinary blanks."""
    return text.replace("\u00a0", " ").replace("\u200b", "")


async def _has_ended(process: int) -> bool:
    await asyncio.sleep(0)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
