"""Tests for workspace folders with unreadable files, circular links, and named pipes."""

import os
import shutil
from collections.abc import Callable
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


def request(wire: Wire, method: str, params: Any) -> Json:
    """Return the reply to a request."""
    wire.send(message(method, params, method))
    return wire.reply(method)


def test_special_files_are_skipped(special_files: Compile, wire: Wire) -> None:
    folders = [{"uri": special_files.folder.as_uri(), "name": "dumps"}]
    params = {
        "processId": None, "rootUri": None, "workspaceFolders": folders,
        "capabilities": {"workspace": {"workspaceFolders": True}},
    }  # fmt: skip
    wire.send(message("initialize", params, "init") + message("initialized", {}))
    wire.reply("init")
    uri = special_files.assignment.as_uri()
    wire.send(did_open(uri, special_files.assignment.read_text("utf-8")))
    modules = request(wire, "hlo/modules", {})["result"]["modules"]
    assert "jit_while_fn" in {module["name"] for module in modules}
    assert "items" in request(wire, "workspace/diagnostic", {"previousResultIds": []})["result"]
    assert wire.log == ""
