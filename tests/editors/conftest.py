"""Neovim, and a real compile to open in it."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from editors.neovim import Neovim, find_neovim
from editors.provision import END_OF_INSTALLATION

# The quick tests run without the dependency group `vscode`.
collect_ignore = [] if find_spec("playwright") else ["browser", "vscode"]

_STEM = "module_0000.jit_mlp_train.cl_1003875606.after_optimizations"


@dataclass(frozen=True)
class Compile:
    """The files of one compile in a dump folder."""

    folder: Path

    def path(self, suffix: str) -> Path:
        return self.folder / f"{_STEM}{suffix}.txt"

    def line(self, suffix: str, number: int) -> str:
        """Return a line, counted from 1."""
        return self.path(suffix).read_text("utf-8").splitlines()[number - 1]

    def number(self, suffix: str, line: str) -> int:
        """Return the number of a line that occurs once, from 1."""
        lines = self.path(suffix).read_text("utf-8").splitlines()
        assert lines.count(line) == 1
        return lines.index(line) + 1

    def starting(self, suffix: str, beginning: str) -> int:
        """Return the number of the only line with this beginning, from 1."""
        (number,) = self.holding(suffix, "^" + re.escape(beginning))
        return number

    def holding(self, suffix: str, expression: str) -> list[int]:
        """Return the numbers of the lines that match an expression, from 1."""
        lines = self.path(suffix).read_text("utf-8").splitlines()
        return [number for number, line in enumerate(lines, 1) if re.search(expression, line)]


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that share a Neovim in one process: each process would start its own."""
    for item in items:
        if "shared_neovim" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("shared Neovim"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Wait for the editors, which `tests/run.py` installs while other tests run."""
    end = os.environ.get(END_OF_INSTALLATION)
    if end is not None and item.get_closest_marker("editors") is not None:
        while not Path(end).exists():
            time.sleep(1)


@pytest.fixture(scope="session")
def compile_v5e(corpus_small: Path) -> Compile:
    return Compile(corpus_small / "tpu_v5e")


@pytest.fixture
def own(compile_v5e: Compile, tmp_path: Path) -> Compile:
    """Return a copy of the compile that the test may edit."""
    folder = tmp_path / "dump"
    folder.mkdir()
    for path in compile_v5e.folder.glob(f"{_STEM}*"):
        shutil.copy(path, folder)
    return Compile(folder)


@pytest.fixture
def neovim(tmp_path: Path) -> Neovim:
    """Return a Neovim that each script of the test starts again, for its settings."""
    return Neovim(find_neovim(), tmp_path)


@pytest.fixture(scope="session")
def shared_neovim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    """Yield a Neovim whose process and server tests share; do not configure it."""
    neovim = Neovim(find_neovim(), tmp_path_factory.mktemp("neovim"), is_shared=True)
    yield neovim
    neovim.end()
