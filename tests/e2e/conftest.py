"""Editors and compiles for the tests of the whole server."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.compiles import Compile, copied
from e2e.editor import PROFILES, Editor, editor


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests; a reply that breaks what the client can do is an error."""
    strict = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(strict)
            item.add_marker("e2e")


@pytest.fixture
def compiled(corpus_small: Path, tmp_path: Path) -> Callable[[str], Compile]:
    """Copies of real compiles by name: one file, tpu, cpu, gpu."""
    return lambda name: copied(corpus_small, name, tmp_path / name.replace(" ", "_"))


@pytest_asyncio.fixture(params=PROFILES)
async def any_editor(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Editor]:
    """Each of the three editors in turn."""
    async with editor(request.param, tmp_path / "server.log") as running:
        yield running


@pytest_asyncio.fixture
async def neovim(tmp_path: Path) -> AsyncIterator[Editor]:
    """Neovim: it counts columns in bytes and pulls diagnostics."""
    async with editor("neovim@v0.11", tmp_path / "server.log") as running:
        yield running


@pytest_asyncio.fixture
async def vscode(tmp_path: Path) -> AsyncIterator[Editor]:
    """VS Code: it counts columns in units of 16 bits and is pushed diagnostics."""
    async with editor("visual_studio_code", tmp_path / "server.log") as running:
        yield running
