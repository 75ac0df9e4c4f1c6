"""Fixtures for the end-to-end tests: connections and compiles."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.compiles import Compile, copy_dump
from e2e.wire import Wire


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Share one event loop, and run the tests of a module that share a server in one process."""
    one_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if "shared_wire" in getattr(item, "fixturenames", ()):
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
