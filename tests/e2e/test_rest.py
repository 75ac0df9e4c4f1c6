"""A window of Visual Studio Code with whole folders as XLA writes them comes to rest."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.vscode_window import VscodeWindow, processor_seconds, resident_bytes
from e2e.wire import Wire

_IDLE_SECONDS = 8.0
_MAX_IDLE_SHARE = 0.02  # of a processor
_PULL_COUNT = 200
_MAX_GROWTH_BYTES = 3_000_000  # of memory during these pulls; a leak was 4 MB with each
FOLDERS = {
    "v5e": "module_0152.jit_step.cl_1014260217.after_optimizations.txt",
    "tpu7x": "module_0504.jit_train_step.cl_1014260217.after_optimizations.txt",
    "cpu": "module_0067.jit_train_step.cpu_after_optimizations.txt",
    "gpu_h100": "module_0001.jit_mlp_train.sm_9.0a_gpu_after_optimizations.txt",
}


def whole_folder(name: str, whole: Path, small: Path, copy: Path) -> Path:
    """Return a copy of a whole folder; that of a GPU has the files of one compile."""
    if name in {"v5e", "cpu"}:
        return Path(shutil.copytree(whole / name, copy / name))
    folder = copy / name
    folder.mkdir()
    module = ".".join(FOLDERS[name].split(".")[:2])
    for path in (small / name).glob(f"{module}.*"):
        shutil.copyfile(path, folder / path.name)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="reads processor time and memory in /proc")
@pytest.mark.parametrize("name", ["v5e", "cpu", "gpu_h100"])  # tests/editors/vscode has a tpu7x
def test_window_with_a_whole_folder_rests(
    name: str, corpus_whole: Path, corpus_small: Path, tmp_path: Path, wire: Wire
) -> None:
    folder = whole_folder(name, corpus_whole, corpus_small, tmp_path)
    window = VscodeWindow(wire, folder)
    uri = window.open(folder / FOLDERS[name])
    window.rest()
    server = wire.process.pid
    shown = [title for title in window.shown["lenses", uri] if title != "None"]
    assert shown
    assert not any("no longer available" in title for seen in window.history for title in seen)

    window.refreshes.clear()
    before = processor_seconds(server)
    seconds = window.idle(_IDLE_SECONDS)
    share = (processor_seconds(server) - before) / seconds
    assert window.refreshes == {}
    assert share < _MAX_IDLE_SHARE

    memory = resident_bytes(server)
    for _ in range(_PULL_COUNT):
        assert window.pull() == []
    assert resident_bytes(server) - memory < _MAX_GROWTH_BYTES
    assert window.refreshes == {}
    assert window.history[-1] == window.shown["lenses", uri]


class OpenModule:
    """A window with the module text of a train step, and hovers of some of its instructions."""

    def __init__(self, wire: Wire, folder: Path) -> None:
        self.path = folder / FOLDERS["tpu7x"]
        self.lines = self.path.read_text("utf-8").split("\n")
        begin = next(row for row, line in enumerate(self.lines) if line.startswith("ENTRY"))
        fusions = (row for row in range(begin, len(self.lines)) if " fusion(" in self.lines[row])
        self.rows = list(fusions)[::20]
        self.window = VscodeWindow(wire, folder)
        self.uri = self.window.open(self.path)
        self.window.rest()

    def hover(self, row: int) -> str:
        return self.window.hover(self.uri, row, self.lines[row].index("%") + 2)

    def insert(self, row: int, column: int, text: str) -> None:
        self.window.edit(self.uri, row, column, column, text)

    def shown(self) -> tuple[list[str], object]:
        """Return hovers and lenses."""
        return [self.hover(row) for row in self.rows], self.window.shown["lenses", self.uri]


@pytest.fixture(scope="module")  # the tests with it run in one process: see `on_one_module`
def module(corpus_whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenModule]:
    """Yield a module in a server process that the tests share."""
    wire = Wire()
    copy = tmp_path_factory.mktemp("rest") / "tpu7x"
    yield OpenModule(wire, Path(shutil.copytree(corpus_whole / "tpu7x", copy)))
    wire.end()
    assert wire.stray_output == b""
    assert "Traceback" not in wire.log


on_one_module = pytest.mark.xdist_group("rest of one module")


@on_one_module
def test_edit_keeps_the_known_cost(module: OpenModule) -> None:
    assert module.rows
    for row in module.rows:
        module.insert(row, len(module.lines[row]), " ")
        assert "**cost**" in module.hover(row)


@on_one_module
def test_reopened_companion_keeps_the_known_cost(module: OpenModule) -> None:
    values = module.path.with_name(module.path.name.replace(".txt", "-live-range.txt"))
    before = module.shown()
    uri = module.window.open(values)
    module.window.rest()
    module.window.close(uri)
    assert module.shown() == before
    module.window.open(values)
    assert module.shown() == before
