"""Tests for workspace folders with unreadable files, circular links, and named pipes."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.compiles import Compile
from e2e.wire import Json, Wire, did_open, message

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes and links")


@pytest.fixture
def special_files(compiled: Callable[[str], Compile]) -> Compile:
    """Return a compile in a folder that also has pipes, circular links, and unreadable files."""
    files = compiled("tpu")
    folder = files.folder
    os.mkfifo(folder / "module_0013.pipe.after_optimizations.txt")
    os.mkfifo(folder / "log.txt")
    (folder / "circle").symlink_to(folder)
    (folder / "a.txt").symlink_to(folder / "b.txt")
    (folder / "b.txt").symlink_to(folder / "a.txt")
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    (folder / "module_0014.folder.after_optimizations.txt").mkdir()
    (folder / "binary.txt").write_bytes(b"HloModule \0\xff")
    (folder / "empty.hlo").write_bytes(b"")
    forbidden = folder / "module_0015.forbidden.after_optimizations.txt"
    shutil.copy(files.module, forbidden)
    forbidden.chmod(0)
    return files


@pytest.fixture
def wires(special_files: Compile) -> Iterator[list[Wire]]:
    """Yield two servers with the folder as workspace."""
    wires = [Wire(), Wire()]
    folders = [{"uri": special_files.folder.as_uri(), "name": "dumps"}]
    params = {
        "processId": None, "rootUri": None, "workspaceFolders": folders,
        "capabilities": {"workspace": {"workspaceFolders": True}},
    }  # fmt: skip
    for wire in wires:
        wire.send(message("initialize", params, "init") + message("initialized", {}))
        wire.reply("init")
    yield wires
    for wire in wires:
        wire.end()


def request(wire: Wire, method: str, params: Any) -> Json:
    """Return the reply to a request."""
    wire.send(message(method, params, method))
    return wire.reply(method)


def test_two_servers_give_equal_results_for_folder(
    special_files: Compile, wires: list[Wire]
) -> None:
    found = []
    for wire in wires:
        uri = special_files.assignment.as_uri()
        wire.send(did_open(uri, special_files.assignment.read_text("utf-8")))
        modules = request(wire, "hlo/modules", {})["result"]["modules"]
        reports = request(wire, "workspace/diagnostic", {"previousResultIds": []})["result"]
        found.append((modules, reports["items"]))
        assert "jit_while_fn" in {module["name"] for module in modules}
        assert wire.log == ""
    assert found[0] == found[1]
