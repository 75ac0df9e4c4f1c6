"""One code-server and one browser for all tests; windows on folders of their own."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

import hlo_lsp
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
_PYTHON_EXTENSION = Path(__file__).with_name("python_extension")
_SIZE = {"width": 1400, "height": 900}
_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--take-pictures", action="store_true", help="take those of the client again")


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


@pytest.fixture
def python_extension(tmp_path: Path) -> Path:
    """A package that stands for the Python extension."""
    return pack(_PYTHON_EXTENSION, tmp_path / "python.vsix")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def code_server(
    extensions: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[CodeServer]:
    """Where the setting names the Python of these tests.

    The server is the one that these tests would import, so that a change in it needs no new
    package. test_server_start.py is about the server in the package.
    """
    server = CodeServer(
        tmp_path_factory.mktemp("code-server"),
        os.environ["PATH"],
        {"hlo.server.path": sys.executable},
        {"PYTHONPATH": str(Path(hlo_lsp.__file__).parents[1])},
    )
    try:
        await server.start(extensions)
        yield server
    finally:
        server.stop()


class Serve(Protocol):
    """Starts a code-server with a PATH, settings, and extensions besides those of all tests."""

    def __call__(
        self, path: str, settings: Mapping[str, Any], others: Sequence[Path] = ()
    ) -> Awaitable[CodeServer]: ...


Show = Callable[[CodeServer, Path], Awaitable[Window]]


@pytest_asyncio.fixture(loop_scope="session")
async def serve(extensions: list[Path], tmp_path: Path) -> AsyncIterator[Serve]:
    """Starts a code-server of the test's own, with a PATH and settings."""
    servers: list[CodeServer] = []

    async def start(
        path: str, settings: Mapping[str, Any], others: Sequence[Path] = ()
    ) -> CodeServer:
        folder = tmp_path / f"code-server-{len(servers)}"
        servers.append(CodeServer(folder, path, settings))
        await servers[-1].start([*extensions, *others])
        return servers[-1]

    yield start
    for server in servers:
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
async def show(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Show]:
    """Opens a window on a folder, in a browser that remembers nothing of other tests."""
    async with AsyncExitStack() as windows:

        async def open_window(server: CodeServer, folder: Path) -> Window:
            window = await windows.enter_async_context(_shown(server, browser, folder))
            windows.push_async_callback(_keep_screen, window, request)
            return window

        yield open_window


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that is opened. Tests put into it what they are about, before `window`."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    return folder


@pytest.fixture
def dump(folder: Path, compile_v5e: Compile) -> Compile:
    """The files of one real compile, in the folder that is opened; the test may change them."""
    return copied(compile_v5e, folder)


@pytest_asyncio.fixture(loop_scope="session")
async def window(code_server: CodeServer, show: Show, folder: Path) -> Window:
    """A window on `folder`."""
    return await show(code_server, folder)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _reading(
    code_server: CodeServer,
    browser: Browser,
    compile_v5e: Compile,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Window]:
    folder = tmp_path_factory.mktemp("reading") / "dumps"
    folder.mkdir()
    copied(compile_v5e, folder)
    async with _shown(code_server, browser, folder) as window:
        yield window


@pytest_asyncio.fixture(loop_scope="session")
async def reading(_reading: Window, request: pytest.FixtureRequest) -> AsyncIterator[Window]:
    """A window on one real compile, without any editor: quicker than one of the test's own.

    It is for tests that change no file and no setting; `reading.dump` is what they look at.
    """
    await _reading.clear()
    yield _reading
    await _keep_screen(_reading, request)


async def _keep_screen(window: Window, request: pytest.FixtureRequest) -> None:
    """Keep what a test saw that failed, in .editors/screens."""
    if request.node.stash.get(_FAILED, False):
        kept = MADE / "screens" / f"{request.node.name}.png"
        kept.parent.mkdir(parents=True, exist_ok=True)
        await window.page.screenshot(path=kept)


@asynccontextmanager
async def _shown(server: CodeServer, browser: Browser, folder: Path) -> AsyncIterator[Window]:
    context = await browser.new_context(viewport=_SIZE)
    try:
        window = await Window.show(server, context, folder)
        yield window
        await window.close()
    finally:
        await context.close()


def copied(compile_: Compile, folder: Path) -> Compile:
    """The files of a compile in another folder."""
    stem = compile_.path("").name.partition(".after")[0]
    for path in compile_.folder.glob(f"{stem}*"):
        shutil.copy(path, folder)
    return Compile(folder)
