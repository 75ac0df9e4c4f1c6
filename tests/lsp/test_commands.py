"""Tests for the ``hlo.server`` commands."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.command import run as run_command_line
from e2e.compiles import Compile, copy_dump
from hostile.editor import Editor, Json

Compiled = Callable[[str], Compile]


@pytest.fixture
def compiled(corpus_small: Path, tmp_path: Path) -> Compiled:
    """Return a function that copies real compiles by name: tpu, cpu, gpu."""
    return lambda name: copy_dump(corpus_small, name, tmp_path / name)


@pytest.fixture
def server() -> Iterator[Editor]:
    """Yield a server in this process."""
    editor = Editor()
    yield editor
    editor.close()


def run(server: Editor, name: str, *arguments: Any) -> Json:
    """Return the reply to a command."""
    params = {"command": f"hlo.server.{name}", "arguments": list(arguments)}
    return server.request("workspace/executeCommand", params)


def open_text(server: Editor, uri: str, text: str) -> None:
    document = {"uri": uri, "languageId": "hlo", "version": 1, "text": text}
    server.notify("textDocument/didOpen", {"textDocument": document})


def change(server: Editor, uri: str, text: str) -> None:
    """Replace the text of an open document."""
    document = {"uri": uri, "version": 2}
    params = {"textDocument": document, "contentChanges": [{"text": text}]}
    server.notify("textDocument/didChange", params)


def hover(server: Editor, uri: str, line: int, character: int) -> Any:
    position = {"line": line, "character": character}
    params = {"textDocument": {"uri": uri}, "position": position}
    return server.request("textDocument/hover", params)["result"]


def cli_output(*arguments: str) -> str:
    """Return the output of ``hlo-lsp`` on a pipe."""
    return run_command_line(*arguments).out


def test_inspect_command_matches_the_command_line(server: Editor, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    reply = run(server, "inspect", path.as_uri(), {"line": 1, "character": 12})
    assert reply["result"] == cli_output("inspect", str(path), "--at", "2:13") != ""


def test_memory_of_a_compile_is_summarized(server: Editor, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    found = run(server, "summary", path.as_uri(), 0)["result"]
    assert found.startswith("# Memory of `jit_")
    assert "| Owner | Bytes | Buffers |" in found
    as_text = run(server, "summary", path.as_uri(), 0, 60)["result"]
    assert as_text.startswith("Memory of jit_")
    assert max(map(len, as_text.splitlines())) <= 60
    widths: tuple[object, ...] = ("", [], 0, 1e300, 10**30)
    for width in widths:
        refused = run(server, "summary", path.as_uri(), 0, width)
        assert "width of a page" in refused["error"]["message"]
    missing = run(server, "summary", path.with_name("none.txt").as_uri(), 0)
    assert "not an HLO module" in missing["error"]["message"]


def test_timeline_command_matches_the_command_line(server: Editor, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    at_peak = run(server, "timeline", path.as_uri(), 0, 80, None)["result"]
    assert at_peak == cli_output("summary", "--timeline", str(path))
    buffers = run(server, "timeline", path.as_uri(), 0, 80, 5)["result"]
    assert buffers == cli_output("summary", "--timeline", str(path), "--at", "5", "--top", "50")


def test_check_command_matches_the_command_line(server: Editor, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    path.write_text(path.read_text().replace("size ", "size 1", 1))
    for place in (path, path.parent):
        assert (
            run(server, "check", place.as_uri())["result"] == cli_output("check", str(place)) != ""
        )


def test_inspect_reads_unsaved_text(server: Editor, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    uri, text = path.as_uri(), path.read_text("utf-8")
    saved = cli_output("inspect", str(path), "--at", "2:13")
    open_text(server, uri, text)
    assert run(server, "inspect", uri, {"line": 1, "character": 12})["result"] == saved
    change(server, uri, text.replace("size ", "size 1", 1))
    unsaved = run(server, "inspect", uri, {"line": 1, "character": 12})["result"]
    assert unsaved != saved
    path.write_text(text.replace("size ", "size 1", 1), "utf-8")
    assert unsaved == cli_output("inspect", str(path), "--at", "2:13")


def test_check_reads_unsaved_text(server: Editor, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    uri, text = path.as_uri(), path.read_text("utf-8")
    wrong = text.replace("size ", "size 1", 1)
    open_text(server, uri, text)
    before = [run(server, "check", place.as_uri())["result"] for place in (path, path.parent)]
    assert before == [cli_output("check", str(place)) for place in (path, path.parent)]
    change(server, uri, wrong)
    after = [run(server, "check", place.as_uri())["result"] for place in (path, path.parent)]
    assert after != before
    path.write_text(wrong, "utf-8")
    assert after == [cli_output("check", str(place)) for place in (path, path.parent)]


def test_inspection_of_a_stdout_dump_uses_the_section(server: Editor, compiled: Compiled) -> None:
    folder = compiled("cpu").folder
    text = "".join(
        f"*** Begin {path.name} ***\n{path.read_text('utf-8')}*** End {path.name} ***\n"
        for path in compiled("cpu").files
    )
    path = folder.parent / "printed.txt"
    path.write_text(text.replace("size ", "size 1", 1), "utf-8")
    line = text.split("\n").index("BufferAssignment:") + 1
    reply = run(server, "inspect", path.as_uri(), {"line": line, "character": 12})
    assert reply["result"] == cli_output("inspect", str(path), "--at", f"{line + 1}:13") != ""
    assert run(server, "check", path.as_uri())["result"] == cli_output("check", str(path)) != ""


def test_invalid_arguments_are_refused_with_a_reason(server: Editor) -> None:
    start = {"line": 0, "character": 0}
    for reply in (
        run(server, "inspect", "untitled:1", start),
        run(server, "check", "untitled:1"),
        run(server, "check", "file:///none.txt"),
    ):
        assert reply["error"]["code"] == -32803
        assert reply["error"]["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="none"),
        pytest.param(("untitled:1",), id="too few"),
        pytest.param(("untitled:1", {"line": 0, "character": 0}, 3), id="too many"),
        pytest.param(("untitled:1", "here"), id="no position"),
    ],
)
def test_malformed_arguments_are_invalid_params(server: Editor, arguments: tuple[Any, ...]) -> None:
    assert run(server, "inspect", *arguments)["error"]["code"] == -32602


def test_restart_reads_files_again(server: Editor, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    uri = path.as_uri()
    open_text(server, uri, path.read_text("utf-8"))
    before = hover(server, uri, 1, 12)
    assert before
    assert run(server, "restartIndex")["result"] is None
    assert hover(server, uri, 1, 12) == before


def test_edit_and_explanation_reach_a_client_with_commands_only(compiled: Compiled) -> None:
    server = Editor({"workspace": {"applyEdit": True}})
    path = compiled("one file").assignment
    uri, text = path.as_uri(), path.read_text("utf-8")
    right, wrong = "<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000"
    assert right in text
    open_text(server, uri, text.replace(right, wrong))
    document = {"textDocument": {"uri": uri}}
    (found,) = server.request("textDocument/diagnostic", document)["result"]["items"]
    params = {**document, "range": found["range"], "context": {"diagnostics": [found]}}
    command, *_ = server.request("textDocument/codeAction", params)["result"]
    assert command["title"] == "Change to 1024"
    server.request("workspace/executeCommand", command)
    (edit,) = [one for one in server.sent if one["method"] == "workspace/applyEdit"]
    assert "1024" in str(edit["params"]["edit"])

    params = {"command": "hlo.explainRule", "arguments": [found["code"]]}
    server.request("workspace/executeCommand", params)
    messages = [one["params"] for one in server.sent if one["method"] == "window/showMessage"]
    assert messages[-1]["message"].startswith("size-mismatch: ")
    server.close()
