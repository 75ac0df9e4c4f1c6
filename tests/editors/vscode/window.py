"""A window of VS Code: what its screen shows, and what its extension host is told.

    async def test_something(reading: Window) -> None:  # on a real compile that is only read
        at = spot(reading.dump.path(MODULE), "  %^fusion.40 = ")
        await reading.open(at)                          # shows the file, with the cursor there
        told = await until(lambda: hover(reading.host, at))    # as an extension is told
        assert "65,536 B" in told
        await reading.hovered("fusion.40 fusion")       # as it is on the screen

    async def test_another(dump: Compile, window: Window) -> None:  # one's own, to be changed

`host.ask` and `host.command` reach whatever extensions can; `page` is Playwright's, with which
keys are typed and the screen is read. Whatever takes time is waited for by `until`.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.async_api import BrowserContext, Locator, Page
from playwright.async_api import TimeoutError as TookTooLong

from editors.conftest import Compile
from editors.vscode.host import Host, Spot, uri
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import NotYet, until

HOVER = ".monaco-hover:not(.hidden) .hover-contents"
_MILLISECONDS = 90_000
_LOOK = 5.0  # seconds in which a hover comes, or the mouse is not where it was
_AGAIN = 5_000  # until a key is pressed once more


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

    @property
    def dump(self) -> Compile:
        """The compile that lies in the folder, if there is one."""
        return Compile(self.folder)

    async def close(self) -> None:
        """Leaves it, and waits for the end of its extension host and of the server in it."""
        process = self.host.process
        await self.page.goto("about:blank")
        if process is not None:
            await until(lambda: _has_ended(process))
        self.host.forget()
        await self.page.close()

    async def clear(self) -> None:
        """Closes editors and panels, as if the folder had just been opened."""
        await self.page.keyboard.press("Escape")
        await self.page.mouse.move(0, 0)
        for command in (
            "notifications.clearAll",
            "workbench.action.closeAllEditors",
            "workbench.action.closePanel",
            "workbench.view.explorer",
        ):
            await self.host.command(command)
        await until(self.page.locator(".editor-instance").count, lambda count: count == 0)

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

    async def press(self, key: str, selector: str) -> Locator:
        """Presses a key until what it shows is there: editors that move close it again."""
        found = self.page.locator(selector).first

        async def pressed() -> bool:
            await self.page.keyboard.press(key)
            try:
                await found.wait_for(timeout=_AGAIN)
            except TookTooLong as problem:
                raise NotYet(f"{key} did not show {selector}") from problem
            return True

        await until(pressed)
        return found

    async def texts(self, selector: str) -> list[str]:
        """The texts on the screen in all that a selector finds, blanks made plain."""
        told = await self.page.locator(selector).all_inner_texts()
        return [plain(text) for text in told if text]

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

    async def point(self) -> None:
        """Rests the mouse on what is right of the cursor."""
        cursor = self.page.locator(".editor-instance .cursors-layer .cursor").first
        await until(cursor.count)
        box = await cursor.bounding_box()
        if box is None:
            raise NotYet("the cursor is not on the screen")
        # A mouse that comes from afar, as one that has always been there is not noticed.
        await self.page.mouse.move(box["x"] + 40, box["y"] + 200)
        await self.page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2, steps=4)

    async def hovered(self, title: str) -> str:
        """Rests the mouse at the cursor until a hover is there whose first line is so; its text.

        Lenses that come meanwhile move the lines below the mouse: then it goes where the cursor is.
        """

        async def rested() -> str:
            await self.point()
            with suppress(AssertionError):
                (text,) = await until(self.shown(HOVER), seconds=_LOOK)
                if text.startswith(f"{title}\n"):
                    return text
            await self.page.keyboard.press("Escape")
            return ""

        return await until(rested)

    async def front(self) -> tuple[Path, str]:
        """The file in front and the text of the line with the cursor, as an extension is told."""
        told = await self.host.ask("active")
        if told is None:
            raise NotYet("no editor is active")
        return Path(told["file"]), told["line"]

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
