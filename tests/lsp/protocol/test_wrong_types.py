"""Parameters with a value of the wrong type are invalid, and log no error."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

import marked_dump
from hlo_lsp.lsp.server import create_server
from hostile.editor import Editor, all_requests

INVALID_PARAMS, REFUSED = -32602, -32803
URI = "untitled:types"
TEXT = marked_dump.MODULE.text
TOKENS = {"workDoneToken": "t", "partialResultToken": "p"}
Path = tuple[Any, ...]


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    running = Editor()
    document = {"uri": URI, "languageId": "hlo", "version": 1, "text": TEXT}
    running.notify("textDocument/didOpen", {"textDocument": document})
    yield running
    running.close()


def strings(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all strings in parameters, other than data of the server itself."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if key != "data":
                yield from strings(inner, (*path, key))


def replaced(params: Any, path: Path, value: Any) -> Any:
    """Return parameters with another value at a path."""
    found = part = copy.deepcopy(params)
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return found


@pytest.mark.parametrize("wrong", [{}, [], {"a": [{}]}, 1.5])
def test_wrong_types_are_invalid_parameters(
    editor: Editor, wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    requests = {method: params for method, params in all_requests(URI, TEXT) if method[:3] != "hlo"}
    for method, params in requests.items():
        for path in strings({**params, **TOKENS}):
            reply = editor.request(method, replaced({**params, **TOKENS}, path, wrong))
            assert reply.get("error", {}).get("code") == INVALID_PARAMS, (method, path)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def nodes(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all values in parameters, other than data of the server itself."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if key != "data":
                yield from nodes(inner, (*path, key))


@pytest.mark.parametrize("wrong", [{}, [], "x", 1.5, True, [{"a": []}]])
def test_wrong_types_anywhere_fail_nothing_inside(
    editor: Editor, wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    requests = dict(all_requests(URI, TEXT))
    for method, params in requests.items():
        for path in nodes(params):
            error = editor.request(method, replaced(params, path, wrong)).get("error", {})
            assert error.get("code", INVALID_PARAMS) in {INVALID_PARAMS, REFUSED}, (method, path)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("wrong", [{}, [], 1.5])
def test_notifications_of_wrong_types_are_ignored(
    editor: Editor, wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    document = {"uri": wrong, "languageId": wrong, "version": 1, "text": wrong}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    editor.notify("textDocument/didClose", {"textDocument": {"uri": wrong}})
    editor.notify("$/cancelRequest", {"id": wrong})
    editor.notify("window/workDoneProgress/cancel", {"token": wrong})
    here = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
    assert editor.request("textDocument/hover", here)["result"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


class Counted(list[str]):
    """A list that counts how many of its items were read."""

    read = 0

    def __iter__(self) -> Iterator[str]:
        for item in super().__iter__():
            self.read += 1
            yield item


def test_conversion_stops_at_the_first_wrong_item() -> None:
    characters = Counted("x" * 1000)  # a text in place of a list is one of its characters
    params = {"previousResultIds": characters}
    data = {"jsonrpc": "2.0", "id": 1, "method": "workspace/diagnostic", "params": params}
    with pytest.raises(JsonRpcException):
        create_server().protocol.structure_message(data)
    assert characters.read == 1
