"""Fixtures: one code-server and one browser for all tests, and windows on folders."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ViewportSize, async_playwright

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
_SIZE = ViewportSize(width=1400, height=900)
_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--take-pictures", action="store_true", help="take those of the client again")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Store whether the test failed, for the teardown of its fixtures."""
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def extensions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the packaged client and the test extension."""
    if not ENTRY.is_file():
        absent("code-server", "python3 tests/run.py installs it")
    if not client.VSIX.is_file():
        absent("package of the client", "python3 tests/run.py makes it")
    return [client.VSIX, pack(_PROBE, tmp_path_factory.mktemp("probe") / "probe.vsix")]


@pytest.fixture
def python_extension(tmp_path: Path) -> Path:
    """Return a package that replaces the Python extension."""
    return pack(_PYTHON_EXTENSION, tmp_path / "python.vsix")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def code_server(
    extensions: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[CodeServer]:
    """Start a code-server whose setting names the Python of the tests.

    It runs the server of this checkout, so that a change needs no new package.
    test_server_start.py tests the server in the package.
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
    """A function that starts a code-server with a PATH, settings, and further extensions."""

    def __call__(
        self, path: str, settings: Mapping[str, Any], others: Sequence[Path] = ()
    ) -> Awaitable[CodeServer]: ...


Show = Callable[[CodeServer, Path], Awaitable[Window]]


@pytest_asyncio.fixture(loop_scope="session")
async def serve(extensions: list[Path], tmp_path: Path) -> AsyncIterator[Serve]:
    """Return a function that starts a code-server for one test."""
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
    """Return a function that opens a window on a folder, in a new browser context."""
    async with AsyncExitStack() as windows:

        async def open_window(server: CodeServer, folder: Path) -> Window:
            window = await windows.enter_async_context(_shown(server, browser, folder))
            windows.push_async_callback(_keep_screen, window, request)
            return window

        yield open_window


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder that `window` opens, for the files of the test."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    return folder


@pytest.fixture
def dump(folder: Path, compile_v5e: Compile) -> Compile:
    """Return the files of a real compile in `folder`, which the test may edit."""
    return copied(compile_v5e, folder)


@pytest_asyncio.fixture(loop_scope="session")
async def window(code_server: CodeServer, show: Show, folder: Path) -> Window:
    """Open a window on `folder`."""
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
    """Return a shared window on a real compile, `reading.dump`, without editors.

    It is faster than a window per test, for tests that change no file and no setting.
    """
    await _reading.clear()
    yield _reading
    await _keep_screen(_reading, request)


async def _keep_screen(window: Window, request: pytest.FixtureRequest) -> None:
    """Save the screen of a failed test in .editors/screens."""
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
    """Return a copy of a compile in another folder."""
    stem = compile_.path("").name.partition(".after")[0]
    for path in compile_.folder.glob(f"{stem}*"):
        shutil.copy(path, folder)
    return Compile(folder)
