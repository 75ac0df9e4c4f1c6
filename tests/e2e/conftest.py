"""Fixtures for the end-to-end tests: editors, connections, and compiles."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.compiles import Compile, copy_dump
from e2e.editor import PROFILES, Editor, editor
from e2e.wire import Wire


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Treat replies beyond the capabilities of the client as errors, and share one event loop.

    Tests that share servers run in one process: each process would start its own.
    """
    strict = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")
    one_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(strict)
            names = getattr(item, "fixturenames", ())
            if "editor_pool" in names:
                item.add_marker(pytest.mark.xdist_group("editors of e2e"))
            elif "shared_wire" in names:
                item.add_marker(pytest.mark.xdist_group(item.path.name))
            if pytest_asyncio.is_async_test(item):
                item.add_marker(one_loop, append=False)


@pytest.fixture
def compiled(corpus_small: Path, tmp_path: Path) -> Callable[[str], Compile]:
    """Return a function that copies real compiles by name: one file, tpu, cpu, gpu."""
    return lambda name: copy_dump(corpus_small, name, tmp_path / name.replace(" ", "_"))


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Yield a server process, and assert that its output has only messages."""
    wire = Wire()
    yield wire
    wire.end()
    assert wire.stray_output == b""
    assert "Traceback" not in wire.log


@pytest.fixture(scope="module")
def shared_wire() -> Iterator[Wire]:
    """Yield an initialized server process that the tests of a module share."""
    wire = Wire()
    wire.initialize()
    yield wire
    assert wire.end() == 0
    assert wire.stray_output == b""
    assert "Traceback" not in wire.log


class EditorPool:
    """Servers that several tests share, one for each profile, until a test fails."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._editors: dict[str, tuple[Editor, AsyncExitStack]] = {}

    async def acquire(self, profile: str) -> Editor:
        """Return the editor of a profile, without open files."""
        if profile not in self._editors:
            stack = AsyncExitStack()
            log = self._logs / f"{profile}.log"
            started = await stack.enter_async_context(editor(profile, log))
            self._editors[profile] = started, stack
        return self._editors[profile][0]

    async def release(self, profile: str) -> None:
        """Close the files of a test, and assert that the server reported no errors."""
        released, stack = self._editors.pop(profile)
        try:
            await released.close_files()
        except BaseException:
            await stack.aclose()
            raise
        self._editors[profile] = released, stack

    async def close(self) -> None:
        """Shut all servers down."""
        for _, stack in self._editors.values():
            await stack.aclose()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def editor_pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EditorPool]:
    """Yield the shared servers."""
    pool = EditorPool(tmp_path_factory.mktemp("logs"))
    yield pool
    await pool.close()


@pytest_asyncio.fixture(params=PROFILES, loop_scope="session")
async def any_editor(
    request: pytest.FixtureRequest, editor_pool: EditorPool
) -> AsyncIterator[Editor]:
    """Yield each of the three editors."""
    yield await editor_pool.acquire(request.param)
    await editor_pool.release(request.param)


@pytest_asyncio.fixture(loop_scope="session")
async def neovim(editor_pool: EditorPool) -> AsyncIterator[Editor]:
    """Yield Neovim, with UTF-8 positions and pulled diagnostics."""
    yield await editor_pool.acquire("neovim@v0.11")
    await editor_pool.release("neovim@v0.11")
