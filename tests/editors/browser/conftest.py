"""A browser for pages that need no editor."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser

from editors.chromium import chromium


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser
