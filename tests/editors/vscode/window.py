"""A window of VS Code: its screen and its extension host.

    async def test_shared_window(dump: Compile, window: Window) -> None:
        at = spot(dump.path(MODULE), "  %^fusion.40 = ")
        await window.open(at)
        text = await until(lambda: hover(window.host, at))  # from the API
        assert "65,536 B" in text
        await window.hovered("fusion.40 fusion")  # on the screen

A worker opens `window` once, which takes 15 s of processor time; each test has a folder of its own
in the folder of the window, for `dump` and other files, and `reset` ends it. Only a test of the
start of the client opens another one with `show`.

`host.ask` and `host.command` use the API of extensions. `page` is Playwright's, for keys and the
screen. `until` waits for conditions.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlencode

from playwright.async_api import BrowserContext, Locator, Page
from playwright.async_api import TimeoutError as TookTooLong

from editors.vscode.host import Host, Spot, uri
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import NotYet, until

LENS = ".editor-instance .codelens-decoration"
HOVER = ".monaco-hover:not(.hidden) .hover-contents"
_MILLISECONDS = 90_000
IDLE = (700, 890)  # the middle of the status bar, where the mouse has no effect
_PEEK = ".reference-zone-widget"
_LOOK = 5.0  # seconds in which a hover comes, or the mouse is not where it was
_AGAIN = 10_000  # until a key is pressed or a click is made once more
_AGAIN_MENU = 2_000  # until an item of a menu that stays open is clicked once more
_CLICK = 5_000  # for a click on an item, whose menu can close meanwhile
_IS_REPLACED = """(text) => {
  const box = document.querySelector(".quick-input-widget input.input");
  return box === null || box.offsetParent === null || box.value !== text;
}"""


@dataclass(frozen=True)
class Window:
    """A window on a folder."""

    page: Page
    host: Host
    folder: Path

    @classmethod
    async def show(cls, server: CodeServer, context: BrowserContext, folder: Path) -> "Window":
        """Open a folder, and wait for the client."""
        page = await context.new_page()
        page.set_default_timeout(_MILLISECONDS)
        window = cls(page, Host(server.ports, folder), folder)
        await page.goto(f"{server.address}/?{urlencode({'folder': str(folder)})}")
        await window._wait_for_client()
        return window

    async def reload(self) -> None:
        """Close the window and open it again, as *Reload Window* does."""
        address = self.page.url
        await self._leave()
        await self.page.goto(address)
        await self._wait_for_client()

    async def close(self) -> None:
        """Close the window, and wait for the end of its extension host and server."""
        await self._leave()
        await self.page.close()

    async def _wait_for_client(self) -> None:
        await self.page.locator(".monaco-workbench .part.editor").wait_for()
        await until(lambda: self.host.ask("extension", "hlo-lsp.hlo-lsp"))

    async def _leave(self) -> None:
        process = self.host.process
        await self.page.goto("about:blank")
        if process is not None:
            await until(lambda: _has_ended(process))
        self.host.forget()

    async def reset(self) -> None:
        """Restore settings, and close editors and panels without saving."""
        await self.page.keyboard.press("Escape")
        await self.page.mouse.move(*IDLE)
        await self.host.ask("reset")
        await until(self.page.locator(".editor-instance").count, lambda count: count == 0)

    async def open(self, at: Spot | Path) -> str:
        """Show a file with the cursor at a place, and return its first language."""
        if isinstance(at, Path):
            at = Spot(at, 0, 0)
        place = [at.line, at.column] * 2
        language: str = await self.host.ask("open", uri(at.path), {"$range": place})
        await self.page.locator(f".tab.active [aria-label*='{at.path.name}']").first.wait_for()
        return language

    async def run(self, title: str) -> None:
        """Run a command by its title in the command palette.

        An open palette does not list commands that become available later.
        """
        box = self.page.locator(".quick-input-widget input.input")
        entry = self.page.locator(".quick-input-list .monaco-list-row").first

        async def listed() -> bool:
            await self.page.keyboard.press("F1")
            await box.fill(f">{title}")
            try:
                await entry.filter(has_text=title).wait_for(timeout=_AGAIN)
            except TookTooLong as problem:
                await self.page.keyboard.press("Escape")
                raise NotYet(f"{title} is not listed") from problem
            return True

        await until(listed)
        await self.accept()

    async def choose(self, title: str) -> None:
        """Run a command of the context menu at the cursor."""
        await self.choose_item(title, lambda: self.host.command("editor.action.showContextMenu"))

    async def choose_item(self, title: str, show: Callable[[], Awaitable[object]]) -> None:
        """Show a context menu, and run one of its commands by its title, once.

        VS Code ignores a click that comes right after the menu, and closes the menu for others,
        but on a busy machine only some time later. A menu that closes after a click has run the
        command, and showing it again would run the command twice.
        """
        item = self.page.locator(".context-view .action-label", has_text=title)
        clicks = 0

        async def chosen() -> bool:
            nonlocal clicks
            try:
                if not await item.count():
                    if clicks:
                        return True
                    await show()
                await item.click(timeout=_CLICK)
                clicks += 1
                await item.wait_for(state="detached", timeout=_AGAIN_MENU)
            except TookTooLong:
                return False
            return True

        await until(chosen)

    async def accept(self) -> None:
        """Press Enter in the box of a list or of a question until it closes.

        The box can be on the screen before it has the focus, and then the key goes elsewhere. The
        box of the next question, which has another text, may replace it.
        """
        box = self.page.locator(".quick-input-widget input.input")
        text = await box.input_value()

        async def closed() -> bool:
            try:
                await box.press("Enter", timeout=_AGAIN)
                await self.page.wait_for_function(_IS_REPLACED, arg=text, timeout=_AGAIN)
            except TookTooLong as problem:
                if await box.is_visible() and await box.input_value() == text:
                    raise NotYet("the box is open") from problem
            return True

        await until(closed)

    async def press(self, key: str, selector: str) -> Locator:
        """Press a key until its result is visible, since moving editors close it again."""
        found = self.page.locator(selector).first
        return await self._repeat(lambda: self.page.keyboard.press(key), found)

    async def click(self, lens: Locator, selector: str) -> Locator:
        """Click a code lens until the result is visible.

        If lenses are refreshed while the former ones are resolved, VS Code gives the commands of
        the former to the new ones, and then forgets these commands ("Actual command not found").
        A lens above the first line may be above the top of the editor.
        """
        attempts = count()

        async def click() -> None:
            attempt = next(attempts)
            if attempt % 2:
                await self.host.command("editorScroll", {"to": "up", "by": "line", "value": 2})
            elif attempt:
                for is_on in (False, True):
                    await self.host.configure({"editor.codeLens": is_on})
            await lens.first.click(timeout=_AGAIN)

        return await self._repeat(click, self.page.locator(selector).first)

    async def _repeat(self, act: Callable[[], Awaitable[object]], found: Locator) -> Locator:
        """Act until a result is visible.

        A peek view opens before it has its rows, and acting again at its place closes it.
        """
        peek = self.page.locator(_PEEK).first

        async def shown() -> bool:
            try:
                if not await peek.is_visible():
                    await act()
                await found.wait_for(timeout=_AGAIN)
            except TookTooLong as problem:
                raise NotYet(f"{found} is not shown") from problem
            return True

        await until(shown)
        return found

    async def texts(self, selector: str) -> list[str]:
        """Return the texts on the screen that a selector finds, with ordinary blanks."""
        texts = await self.page.locator(selector).all_inner_texts()
        return [plain(text) for text in texts if text]

    def shown(self, selector: str) -> Callable[[], Awaitable[list[str]]]:
        """Return `texts` as a function for `until`."""
        return lambda: self.texts(selector)

    async def line(self, text: str) -> Locator:
        """Wait for a line on the screen that contains a text, and return it."""
        # VS Code writes blanks of the text as U+00A0.
        expression = re.compile(r"[\s\u00a0]".join(map(re.escape, text.split(" "))))
        line = self.page.locator(".editor-instance .view-line", has_text=expression).first
        await line.wait_for()
        return line

    async def point(self) -> None:
        """Move the mouse to the character after the cursor."""
        cursor = self.page.locator(".editor-instance .cursors-layer .cursor").first
        await until(cursor.count)
        box = await cursor.bounding_box()
        if box is None:
            raise NotYet("the cursor is not on the screen")
        # A mouse that comes from afar, as one that has always been there is not noticed.
        await self.page.mouse.move(box["x"] + 40, box["y"] + 200)
        await self.page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2, steps=4)

    async def hovered(self, title: str) -> str:
        """Move the mouse to the cursor until a hover has this line, and return its text.

        The mouse follows the cursor if new lenses move the lines.
        """

        async def rested() -> str:
            await self.point()
            with suppress(AssertionError):
                (text,) = await until(self.shown(HOVER), seconds=_LOOK)
                if title in text.split("\n"):
                    return text
            await self.page.keyboard.press("Escape")
            return ""

        return await until(rested)

    async def notification(self, text: str) -> Locator:
        """Return a notification in the notification center; a toast disappears after 10 seconds.

        The center closes when an earlier notification, its only one, ends.
        """
        shown = ".notifications-center .notification-list-item:visible"
        found = self.page.locator(shown, has_text=text).first
        return await self._repeat(lambda: self.host.command("notifications.showList"), found)

    async def no_notification(self) -> None:
        """Wait until there is no notification."""

        async def titles() -> list[str]:
            # The center closes when the last notification ends. Below the title, VS Code may show
            # notifications that it has cleared.
            await self.host.command("notifications.showList")
            return await self.texts(".notifications-center-header-title:visible")

        await until(titles, ["No New Notifications"].__eq__)

    async def clear_notifications(self) -> None:
        """Remove all notifications, so that the next one is not an earlier one."""
        await self.host.command("notifications.clearAll")
        await self.no_notification()

    async def front(self) -> tuple[Path, str]:
        """Return the active file and the line with the cursor, from the API."""
        active = await self.host.ask("active")
        if active is None:
            raise NotYet("no editor is active")
        return Path(active["file"]), active["line"]

    async def cursor(self) -> tuple[int, int]:
        """Return the line and column of the cursor from the status bar, both from 1."""
        status = await self.page.locator("[id='status.editor.selection']").inner_text()
        found = re.search(r"Ln (\d+), Col (\d+)", status)
        if found is None:
            raise NotYet(status)
        return int(found[1]), int(found[2])


def plain(text: str) -> str:
    """Return text of the screen with ordinary blanks."""
    return text.replace("\u00a0", " ").replace("\u200b", "")


async def _has_ended(process: int) -> bool:
    await asyncio.sleep(0)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
