"""One code-server and one browser for all tests; for each test a window and a folder of its own."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, async_playwright

from editors import client
from editors.absent import absent
from editors.code_server import ENTRY
from editors.conftest import Compile
from editors.node import MADE
from editors.vscode.serving import CodeServer
from editors.vscode.vsix import pack
from editors.vscode.window import Window

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_PROBE = Path(__file__).with_name("probe")
_SIZE = {"width": 1400, "height": 900}
_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether the test failed, for what ends its fixtures."""
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def extensions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Our client as it is packaged, and the test extension."""
    if not ENTRY.is_file():
        absent("code-server", "python3 tests/run.py installs it")
    if not client.VSIX.is_file():
        absent("package of the client", "python3 tests/run.py makes it")
    return [client.VSIX, pack(_PROBE, tmp_path_factory.mktemp("probe") / "probe.vsix")]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def code_server(
    extensions: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[CodeServer]:
    """Where `python3` is one that has hlo-lsp, as in a Python environment that is active."""
    environment = Path(sys.executable).parent
    path = os.pathsep.join((str(environment), os.environ["PATH"]))
    # The server that is tested is the one that these tests would import.
    variables = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    server = CodeServer(tmp_path_factory.mktemp("code-server"), path, variables=variables)
    try:
        await server.start(extensions)
        yield server
    finally:
        server.stop()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    program = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if program is None:
        absent("Chromium", "apt-get install chromium")
    async with async_playwright() as playwright:
        # Without its sandbox, which wants rights that a container does not give.
        browser = await playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A browser that remembers nothing of other tests."""
    context = await browser.new_context(viewport=_SIZE, device_scale_factor=1)
    yield context
    await context.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that is opened. Tests put into it what they are about, before `window`."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    return folder


@pytest.fixture
def dump(folder: Path, compile_v5e: Compile) -> Compile:
    """The files of one real compile, in the folder that is opened."""
    for path in compile_v5e.folder.glob(f"{compile_v5e.path('').name.partition('.after')[0]}*"):
        shutil.copy(path, folder)
    return Compile(folder)


@pytest_asyncio.fixture(loop_scope="session")
async def window(
    code_server: CodeServer, context: BrowserContext, folder: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Window]:
    """A window on `folder`. If the test fails its screen is kept in .editors/screens."""
    window = await Window.show(code_server, context, folder)
    yield window
    if request.node.stash.get(_FAILED, False):
        kept = MADE / "screens" / f"{request.node.name}.png"
        kept.parent.mkdir(parents=True, exist_ok=True)
        await window.page.screenshot(path=kept)
    await window.close()
