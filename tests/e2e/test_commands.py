"""The commands of the server that are about no finding."""

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.compiles import Compile
from e2e.process import COMMAND
from e2e.wire import Json, Wire, hover, message, opened

Compiled = Callable[[str], Compile]


@pytest.fixture
def wire() -> Iterator[Wire]:
    running = Wire()
    running.initialize()
    yield running
    running.end()


def run(wire: Wire, name: str, *arguments: Any) -> Json:
    """The reply to a command."""
    params = {"command": f"hlo.server.{name}", "arguments": list(arguments)}
    wire.send(message("workspace/executeCommand", params, "run"))
    return wire.reply("run")


def printed(*arguments: str) -> str:
    """What the command prints on a pipe."""
    return subprocess.run(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, check=False
    ).stdout.decode()


def test_a_place_is_inspected_as_in_a_terminal(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    reply = run(wire, "inspect", path.as_uri(), {"line": 1, "character": 12})
    assert reply["result"] == printed("inspect", str(path), "--at", "2:13") != ""


def test_files_and_folders_are_checked_as_in_a_terminal(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    path.write_text(path.read_text().replace("size ", "size 1", 1))
    for place in (path, path.parent):
        assert run(wire, "check", place.as_uri())["result"] == printed("check", str(place)) != ""


def test_what_cannot_be_done_is_refused_with_a_reason(wire: Wire) -> None:
    start = {"line": 0, "character": 0}
    for reply in (
        run(wire, "inspect", "untitled:1", start),
        run(wire, "check", "untitled:1"),
        run(wire, "check", "file:///none.txt"),
    ):
        assert reply["error"]["code"] == -32803
        assert reply["error"]["message"]
    assert wire.log == ""


def test_what_was_read_is_read_again(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    uri = path.as_uri()
    wire.send(opened(uri, path.read_text("utf-8")) + hover(uri, 1, 12, 1))
    before = wire.reply(1)
    assert before["result"]
    assert run(wire, "restartIndex")["result"] is None
    wire.send(hover(uri, 1, 12, 1))
    assert wire.reply(1) == before
    assert wire.log == ""
