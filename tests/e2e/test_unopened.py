"""Files that the client never opened: windows on them, and what is known of places in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.compiles import Compile
from e2e.wire import Wire, message, opened

Compiled = Callable[[str], Compile]


def ask(wire: Wire, method: str, params: Any) -> Any:
    """Return the result of a request."""
    wire.send(message(method, params, method))
    return wire.reply(method)["result"]


def test_window_is_the_text_on_disk(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    wire.initialize()
    text = path.read_text("utf-8")
    lines = len(text.split("\n"))
    window = {"text": text, "firstLine": 0, "lineCount": lines}
    assert ask(wire, "hlo/window", {"uri": path.as_uri(), "line": 3}) == window
    assert ask(wire, "hlo/window", {"uri": path.as_uri(), "line": lines}) is None


@pytest.mark.parametrize(
    "params",
    [{}, {"uri": "untitled:1", "line": 0}, {"uri": 1, "line": 0}, {"uri": "file:///none.txt"},
     {"uri": "file:///none.txt", "line": 0}, {"uri": "file:///none.txt", "line": "0"}],
)  # fmt: skip
def test_no_window_on_nothing(wire: Wire, params: Any) -> None:
    wire.initialize()
    assert ask(wire, "hlo/window", params) is None
    assert wire.log == ""


def test_other_file_has_no_window(wire: Wire, tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("int main() {}\n")
    wire.initialize()
    assert ask(wire, "hlo/window", {"uri": path.as_uri(), "line": 0}) is None


def test_places_in_closed_files_are_known(wire: Wire, compiled: Compiled) -> None:
    path = compiled("tpu").assignment
    lines = path.read_text("utf-8").split("\n")
    line = next(number for number, text in enumerate(lines) if text.startswith(" value: <"))
    wire.initialize()
    place = {
        "textDocument": {"uri": path.as_uri()},
        "position": {"line": line, "character": lines[line].index("<") + 1},
        "context": {"includeDeclaration": False},
    }
    methods = ["hover", "definition", "declaration", "typeDefinition", "references"]
    closed = {method: ask(wire, f"textDocument/{method}", place) for method in methods}
    assert all(closed.values())
    wire.send(opened(path.as_uri(), path.read_text("utf-8")))
    assert closed == {method: ask(wire, f"textDocument/{method}", place) for method in methods}


def test_closed_files_are_no_dumps(wire: Wire, tmp_path: Path) -> None:
    wire.initialize()
    path = tmp_path / "other.txt"
    path.write_text("int main() {}\n")
    for uri in (path.as_uri(), tmp_path.as_uri(), (tmp_path / "none.txt").as_uri(), "file:"):
        place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}
        assert ask(wire, "textDocument/hover", place) is None
        assert ask(wire, "textDocument/definition", place) is None
    assert wire.log == ""
