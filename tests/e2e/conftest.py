"""Editors and compiles for the tests of the whole server."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.compiles import Compile, copied
from e2e.editor import PROFILES, Editor, editor
from e2e.wire import Wire


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Treat replies beyond the capabilities of the client as errors, and share one event loop."""
    strict = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")
    one_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(strict)
            if pytest_asyncio.is_async_test(item):
                item.add_marker(one_loop, append=False)


@pytest.fixture
def compiled(corpus_small: Path, tmp_path: Path) -> Callable[[str], Compile]:
    """Return a function that copies real compiles by name: one file, tpu, cpu, gpu."""
    return lambda name: copied(corpus_small, name, tmp_path / name.replace(" ", "_"))


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Return a connection to a server as a process, which writes only messages."""
    running = Wire()
    yield running
    running.end()
    assert running.stray == b""
    assert "Traceback" not in running.log


class EditorPool:
    """Servers that run for many tests, one for each editor; a new one where one has failed."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, tuple[Editor, AsyncExitStack]] = {}

    async def acquire(self, profile: str) -> Editor:
        """Return the editor of a profile, without open files."""
        if profile not in self._running:
            stack = AsyncExitStack()
            log = self._logs / f"{profile}.log"
            running = await stack.enter_async_context(editor(profile, log))
            self._running[profile] = running, stack
        return self._running[profile][0]

    async def release(self, profile: str) -> None:
        """Close what a test has left open, and look whether anything was wrong."""
        running, stack = self._running.pop(profile)
        try:
            await running.tidy()
        except BaseException:
            await stack.aclose()
            raise
        self._running[profile] = running, stack

    async def close(self) -> None:
        """Shut all servers down."""
        for _, stack in self._running.values():
            await stack.aclose()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def editor_pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EditorPool]:
    """Return the servers of this run."""
    running = EditorPool(tmp_path_factory.mktemp("logs"))
    yield running
    await running.close()


@pytest_asyncio.fixture(params=PROFILES, loop_scope="session")
async def any_editor(
    request: pytest.FixtureRequest, editor_pool: EditorPool
) -> AsyncIterator[Editor]:
    """Each of the three editors in turn."""
    yield await editor_pool.acquire(request.param)
    await editor_pool.release(request.param)


@pytest_asyncio.fixture(loop_scope="session")
async def neovim(editor_pool: EditorPool) -> AsyncIterator[Editor]:
    """Neovim: it counts columns in bytes and pulls diagnostics."""
    yield await editor_pool.acquire("neovim@v0.11")
    await editor_pool.release("neovim@v0.11")


@pytest_asyncio.fixture(loop_scope="session")
async def vscode(editor_pool: EditorPool) -> AsyncIterator[Editor]:
    """VS Code: it counts columns in units of 16 bits and is pushed diagnostics."""
    yield await editor_pool.acquire("visual_studio_code")
    await editor_pool.release("visual_studio_code")
