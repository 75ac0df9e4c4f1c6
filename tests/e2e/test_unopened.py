"""Tests for requests about files that are not open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from e2e.compiles import Compile
from e2e.wire import Wire, did_open, message

Compiled = Callable[[str], Compile]


def request(wire: Wire, method: str, params: Any) -> Any:
    """Return the result of a request."""
    wire.send(message(method, params, method))
    return wire.reply(method)["result"]


def test_window_is_the_text_on_disk(shared_wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    text = path.read_text("utf-8")
    lines = len(text.split("\n"))
    window = {"text": text, "firstLine": 0, "lineCount": lines}
    assert request(shared_wire, "hlo/window", {"uri": path.as_uri(), "line": 3}) == window
    assert request(shared_wire, "hlo/window", {"uri": path.as_uri(), "line": lines}) is None


@pytest.mark.parametrize("uri", ["untitled:1", "file:///none.txt"])
def test_missing_file_has_no_window(shared_wire: Wire, uri: str) -> None:
    assert request(shared_wire, "hlo/window", {"uri": uri, "line": 0}) is None
    assert shared_wire.log == ""


@pytest.mark.parametrize(
    "params", [{}, {"uri": 1, "line": 0}, {"uri": "file:///a.txt"}, {"uri": "a", "line": "x"}]
)
def test_custom_request_with_wrong_parameters_is_refused(shared_wire: Wire, params: Any) -> None:
    shared_wire.send(message("hlo/window", params, 1))
    assert shared_wire.reply(1)["error"]["code"] == types.ErrorCodes.InvalidParams


def test_other_file_has_no_window(shared_wire: Wire, tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("int main() {}\n")
    assert request(shared_wire, "hlo/window", {"uri": path.as_uri(), "line": 0}) is None


def test_closed_and_open_files_have_equal_results(shared_wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    lines = path.read_text("utf-8").split("\n")
    line = next(number for number, text in enumerate(lines) if text.startswith(" value: <"))
    place = {
        "textDocument": {"uri": path.as_uri()},
        "position": {"line": line, "character": lines[line].index("<") + 1},
        "context": {"includeDeclaration": False},
    }
    methods = ["hover", "definition", "declaration", "typeDefinition", "references"]
    closed = {method: request(shared_wire, f"textDocument/{method}", place) for method in methods}
    assert all(closed.values())
    shared_wire.send(did_open(path.as_uri(), path.read_text("utf-8")))
    assert closed == {
        method: request(shared_wire, f"textDocument/{method}", place) for method in methods
    }


def test_other_closed_files_have_no_results(shared_wire: Wire, tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("int main() {}\n")
    for uri in (path.as_uri(), tmp_path.as_uri(), (tmp_path / "none.txt").as_uri(), "file:"):
        place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}
        assert request(shared_wire, "textDocument/hover", place) is None
        assert request(shared_wire, "textDocument/definition", place) is None
    assert shared_wire.log == ""
