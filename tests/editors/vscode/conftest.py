"""Fixtures: a code-server, a browser, and a window for the tests of a worker; other windows."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ViewportSize

import hlo_lsp
from editors import client
from editors.absent import absent
from editors.chromium import chromium
from editors.code_server import ENTRY
from editors.conftest import Compile
from editors.node import MADE
from editors.vscode.serving import CodeServer
from editors.vscode.vsix import pack
from editors.vscode.window import Window

_PROBE = Path(__file__).with_name("probe")
_PYTHON_EXTENSION = Path(__file__).with_name("python_extension")
_NUMBERS = count()
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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def plain_server(
    extensions: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[CodeServer]:
    """Start a code-server for tests of the start of the language server.

    Its PATH names two folders, which do not exist; see `pythons`. Its Python extension is a test
    double.
    """
    folder = tmp_path_factory.mktemp("plain")
    path = os.pathsep.join(str(folder / name / "bin") for name in ("first", "second"))
    server = CodeServer(folder / "code-server", path)
    try:
        await server.start([*extensions, pack(_PYTHON_EXTENSION, folder / "python.vsix")])
        yield server
    finally:
        server.stop()


@pytest.fixture
def pythons(plain_server: CodeServer) -> Iterator[tuple[Path, Path]]:
    """Return the folders of the first and second Python on PATH; neither has one yet."""
    first, second = (Path(each).parent for each in plain_server.path.split(os.pathsep))
    yield first, second
    for folder in (first, second):
        shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@dataclass
class SharedWindow:
    """The window of a worker, opened when a test needs it and again after a failed test."""

    server: CodeServer
    browser: Browser
    folder: Path
    _window: Window | None = None
    _closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def show(self) -> Window:
        if self._window is None:
            shown = _shown(self.server, self.browser, self.folder)
            self._window = await self._closing.enter_async_context(shown)
        return self._window

    async def close(self) -> None:
        self._window = None
        await self._closing.aclose()


@pytest.fixture(scope="session")
def _shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dumps")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _shared_window(
    code_server: CodeServer, browser: Browser, _shared_folder: Path
) -> AsyncIterator[SharedWindow]:
    shared = SharedWindow(code_server, browser, _shared_folder)
    yield shared
    await shared.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _shared_plain_window(
    plain_server: CodeServer, browser: Browser, _shared_folder: Path
) -> AsyncIterator[SharedWindow]:
    shared = SharedWindow(plain_server, browser, _shared_folder)
    yield shared
    await shared.close()


@pytest.fixture
def folder(request: pytest.FixtureRequest, _shared_folder: Path, tmp_path: Path) -> Iterator[Path]:
    """Return an empty folder for the files of the test, which is in the folder of its window."""
    is_shared = not {"window", "plain_window"}.isdisjoint(request.fixturenames)
    folder = (_shared_folder if is_shared else tmp_path) / f"dumps-{next(_NUMBERS)}"
    folder.mkdir()
    yield folder
    for path in folder.rglob("*"):
        if not path.is_dir():
            path.unlink()  # VS Code would report a deleted folder to the server without its files


@pytest_asyncio.fixture(loop_scope="session")
async def window(
    _shared_window: SharedWindow, folder: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Window]:
    """Return the window of the worker, without editors and with default settings."""
    async with _used(_shared_window, request) as window:
        yield window


@pytest_asyncio.fixture(loop_scope="session")
async def plain_window(
    _shared_plain_window: SharedWindow, folder: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Window]:
    """Return the window of the worker on `plain_server`, with default settings.

    A test runs *HLO: Restart Server* to start the language server with its settings.
    """
    async with _used(_shared_plain_window, request) as window:
        yield window


@asynccontextmanager
async def _used(shared: SharedWindow, request: pytest.FixtureRequest) -> AsyncIterator[Window]:
    """Yield a shared window, restore it after the test, and close it after a failed one."""
    window = await shared.show()
    yield window
    has_failed = request.node.stash.get(_FAILED, False)
    try:
        if has_failed:
            await _keep_screen(window, request)
        await window.reset()  # the settings of a folder stay when its window is closed
    except Exception:
        await shared.close()
        if not has_failed:
            raise
    else:
        if has_failed:
            await shared.close()


Show = Callable[[CodeServer, Path], Awaitable[Window]]


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
def dump(folder: Path, compile_v5e: Compile) -> Compile:
    """Return the files of a real compile in `folder`, which the test may edit."""
    return copied(compile_v5e, folder)


def copied(compile_: Compile, folder: Path) -> Compile:
    """Return a copy of a compile in another folder."""
    stem = compile_.path("").name.partition(".after")[0]
    for path in compile_.folder.glob(f"{stem}*"):
        shutil.copy(path, folder)
    return Compile(folder)


async def _keep_screen(window: Window, request: pytest.FixtureRequest) -> None:
    """Save the screen of a failed test in .editors/screens."""
    if request.node.stash.get(_FAILED, False):
        kept = MADE / "screens" / f"{request.node.name}.png"
        kept.parent.mkdir(parents=True, exist_ok=True)
        await window.page.screenshot(path=kept)


@asynccontextmanager
async def _shown(server: CodeServer, browser: Browser, folder: Path) -> AsyncIterator[Window]:
    context = await browser.new_context(viewport=_SIZE, reduced_motion="reduce")
    try:
        window = await Window.show(server, context, folder)
        yield window
        await window.close()
    finally:
        await context.close()
