"""Tests for the ``hlo.server`` commands."""

from collections.abc import Callable
from typing import Any

import pytest

from cli.command import run as run_command_line
from e2e.compiles import Compile
from e2e.wire import Json, Wire, did_open, hover, message

Compiled = Callable[[str], Compile]


@pytest.fixture
def wire(shared_wire: Wire) -> Wire:
    """Return the server that the tests share."""
    return shared_wire


def run(wire: Wire, name: str, *arguments: Any) -> Json:
    """Return the reply to a command."""
    params = {"command": f"hlo.server.{name}", "arguments": list(arguments)}
    wire.send(message("workspace/executeCommand", params, "run"))
    return wire.reply("run")


def did_change(uri: str, text: str) -> bytes:
    """Return a ``didChange`` notification with a new text."""
    document = {"uri": uri, "version": 2}
    params = {"textDocument": document, "contentChanges": [{"text": text}]}
    return message("textDocument/didChange", params)


def cli_output(*arguments: str) -> str:
    """Return the output of ``hlo-lsp`` on a pipe."""
    return run_command_line(*arguments).out


def test_inspect_command_matches_the_command_line(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    reply = run(wire, "inspect", path.as_uri(), {"line": 1, "character": 12})
    assert reply["result"] == cli_output("inspect", str(path), "--at", "2:13") != ""


def test_memory_of_a_compile_is_summarized(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    found = run(wire, "summary", path.as_uri(), 0)["result"]
    assert found.startswith("# Memory of `jit_")
    assert "| Owner | Bytes | Buffers |" in found
    as_text = run(wire, "summary", path.as_uri(), 0, 60)["result"]
    assert as_text.startswith("Memory of jit_")
    assert max(map(len, as_text.splitlines())) <= 60
    widths: tuple[object, ...] = ("", [], 0, 1e300, 10**30)
    for width in widths:
        refused = run(wire, "summary", path.as_uri(), 0, width)
        assert "width of a page" in refused["error"]["message"]
    missing = run(wire, "summary", path.with_name("none.txt").as_uri(), 0)
    assert "not an HLO module" in missing["error"]["message"]


def test_timeline_command_matches_the_command_line(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    at_peak = run(wire, "timeline", path.as_uri(), 0, 80, None)["result"]
    assert at_peak == cli_output("timeline", str(path))
    buffers = run(wire, "timeline", path.as_uri(), 0, 80, 5)["result"]
    assert buffers == cli_output("timeline", str(path), "--at", "5", "--top", "50")


def test_check_command_matches_the_command_line(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    path.write_text(path.read_text().replace("size ", "size 1", 1))
    for place in (path, path.parent):
        assert run(wire, "check", place.as_uri())["result"] == cli_output("check", str(place)) != ""


def test_inspect_reads_unsaved_text(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    uri, text = path.as_uri(), path.read_text("utf-8")
    saved = cli_output("inspect", str(path), "--at", "2:13")
    wire.send(did_open(uri, text))
    assert run(wire, "inspect", uri, {"line": 1, "character": 12})["result"] == saved
    wire.send(did_change(uri, text.replace("size ", "size 1", 1)))
    unsaved = run(wire, "inspect", uri, {"line": 1, "character": 12})["result"]
    assert unsaved != saved
    path.write_text(text.replace("size ", "size 1", 1), "utf-8")
    assert unsaved == cli_output("inspect", str(path), "--at", "2:13")


def test_check_reads_unsaved_text(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    uri, text = path.as_uri(), path.read_text("utf-8")
    wrong = text.replace("size ", "size 1", 1)
    wire.send(did_open(uri, text))
    before = [run(wire, "check", place.as_uri())["result"] for place in (path, path.parent)]
    assert before == [cli_output("check", str(place)) for place in (path, path.parent)]
    wire.send(did_change(uri, wrong))
    after = [run(wire, "check", place.as_uri())["result"] for place in (path, path.parent)]
    assert after != before
    path.write_text(wrong, "utf-8")
    assert after == [cli_output("check", str(place)) for place in (path, path.parent)]


def test_inspection_of_a_stdout_dump_uses_the_section(wire: Wire, compiled: Compiled) -> None:
    folder = compiled("cpu").folder
    text = "".join(
        f"*** Begin {path.name} ***\n{path.read_text('utf-8')}*** End {path.name} ***\n"
        for path in compiled("cpu").files
    )
    path = folder.parent / "printed.txt"
    path.write_text(text.replace("size ", "size 1", 1), "utf-8")
    line = text.split("\n").index("BufferAssignment:") + 1
    reply = run(wire, "inspect", path.as_uri(), {"line": line, "character": 12})
    assert reply["result"] == cli_output("inspect", str(path), "--at", f"{line + 1}:13") != ""
    assert run(wire, "check", path.as_uri())["result"] == cli_output("check", str(path)) != ""


def test_invalid_arguments_are_refused_with_a_reason(wire: Wire) -> None:
    start = {"line": 0, "character": 0}
    for reply in (
        run(wire, "inspect", "untitled:1", start),
        run(wire, "check", "untitled:1"),
        run(wire, "check", "file:///none.txt"),
    ):
        assert reply["error"]["code"] == -32803
        assert reply["error"]["message"]
    assert wire.log == ""


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="none"),
        pytest.param(("untitled:1",), id="too few"),
        pytest.param(("untitled:1", {"line": 0, "character": 0}, 3), id="too many"),
        pytest.param(("untitled:1", "here"), id="no position"),
    ],
)
def test_malformed_arguments_are_invalid_params(wire: Wire, arguments: tuple[Any, ...]) -> None:
    assert run(wire, "inspect", *arguments)["error"]["code"] == -32602
    assert wire.log == ""


def test_restart_reads_files_again(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    uri = path.as_uri()
    wire.send(did_open(uri, path.read_text("utf-8")) + hover(uri, 1, 12, 1))
    before = wire.reply(1)
    assert before["result"]
    assert run(wire, "restartIndex")["result"] is None
    wire.send(hover(uri, 1, 12, 1))
    assert wire.reply(1) == before
    assert wire.log == ""
