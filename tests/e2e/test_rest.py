"""A window of Visual Studio Code with whole folders as XLA writes them comes to rest."""

import shutil
import sys
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
    if name in {"v5e", "tpu7x", "cpu"}:
        return Path(shutil.copytree(whole / name, copy / name))
    folder = copy / name
    folder.mkdir()
    module = ".".join(FOLDERS[name].split(".")[:2])
    for path in (small / name).glob(f"{module}.*"):
        shutil.copyfile(path, folder / path.name)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="reads processor time and memory in /proc")
@pytest.mark.parametrize("name", FOLDERS)
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


@pytest.mark.parametrize("close", [False, True])
def test_hover_does_not_depend_on_earlier_edits(
    corpus_whole: Path, tmp_path: Path, wire: Wire, *, close: bool
) -> None:
    folder = Path(shutil.copytree(corpus_whole / "tpu7x", tmp_path / "tpu7x"))
    path = folder / FOLDERS["tpu7x"]
    lines = path.read_text("utf-8").split("\n")
    rows = [row for row, line in enumerate(lines) if " fusion(" in line][:200:25]
    columns = {row: lines[row].index("%") + 2 for row in rows}
    window = VscodeWindow(wire, folder)
    uri = window.open(path)
    window.rest()
    fresh = {row: window.hover(uri, row, columns[row]) for row in rows}
    lenses = window.shown["lenses", uri]
    assert all("**cost**" in text for text in fresh.values())
    for row in rows:  # each hover has a cost while the costs are computed again
        window.edit(uri, row, len(lines[row]), len(lines[row]), " ")
        assert "**cost**" in window.hover(uri, row, columns[row])
        window.edit(uri, row, len(lines[row]), len(lines[row]) + 1, "")
        assert "**cost**" in window.hover(uri, row, columns[row])
    if close:
        window.close(uri)
        window.pull()
        window.open(path)
    window.rest()
    assert {row: window.hover(uri, row, columns[row]) for row in rows} == fresh
    assert window.shown["lenses", uri] == lenses
