"""Workspace folders with files that cannot be read, links in circles, and pipes."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.compiles import Compile
from e2e.wire import Json, Wire, message, opened

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes and links")


@pytest.fixture
def strange(compiled: Callable[[str], Compile]) -> Compile:
    """Return a compile whose folder also has everything that is not a dump."""
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
def wires(strange: Compile) -> Iterator[list[Wire]]:
    """Return two servers on the folder."""
    running = [Wire(), Wire()]
    folders = [{"uri": strange.folder.as_uri(), "name": "dumps"}]
    params = {
        "processId": None, "rootUri": None, "workspaceFolders": folders,
        "capabilities": {"workspace": {"workspaceFolders": True}},
    }  # fmt: skip
    for wire in running:
        wire.send(message("initialize", params, "init") + message("initialized", {}))
        wire.reply("init")
    yield running
    for wire in running:
        wire.end()


def ask(wire: Wire, method: str, params: Any) -> Json:
    """Return the reply to a request."""
    wire.send(message(method, params, method))
    return wire.reply(method)


def test_two_servers_answer_about_a_strange_folder(strange: Compile, wires: list[Wire]) -> None:
    found = []
    for wire in wires:
        uri = strange.assignment.as_uri()
        wire.send(opened(uri, strange.assignment.read_text("utf-8")))
        modules = ask(wire, "hlo/modules", {})["result"]["modules"]
        reports = ask(wire, "workspace/diagnostic", {"previousResultIds": []})["result"]
        found.append((modules, reports["items"]))
        assert "jit_while_fn" in {module["name"] for module in modules}
        assert wire.log == ""
    assert found[0] == found[1]
