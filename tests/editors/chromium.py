"""The browser of the tests of pages and of VS Code."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

from editors.absent import absent

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Start a browser, or skip the test if there is none."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        absent("Chromium", "apt-get install chromium")
    async with async_playwright() as playwright:
        # Without its sandbox, which wants rights that a container does not give.
        browser = await playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        await browser.close()
