"""Folders, files on disk and settings that change while the server runs: what a user sees."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.compiles import Compile, copy_dump
from e2e.vscode_window import VscodeWindow
from e2e.wire import Json, did_open, message
from lsp.protocol.local_wire import LocalWire
from lsp.protocol.replies import Conversation

PULLS: Json = {
    "textDocument": {"diagnostic": {}},
    "workspace": {
        "workspaceFolders": True, "diagnostics": {"refreshSupport": True},
        "semanticTokens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True},
        "codeLens": {"refreshSupport": True},
    },
}  # fmt: skip
REFRESH = "workspace/{}/refresh".format
DAMAGE = ("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")


@pytest.fixture
def wire() -> Iterator[LocalWire]:
    running = LocalWire()
    yield running
    running.close()
    assert running.log == ""


@pytest.fixture
def files(corpus_small: Path, tmp_path: Path) -> Compile:
    return copy_dump(corpus_small, "tpu", tmp_path / "tpu")


@pytest.fixture
def dump(corpus_small: Path, tmp_path: Path) -> str:
    """Return a damaged dump."""
    text = copy_dump(corpus_small, "one file", tmp_path / "one").assignment.read_text("utf-8")
    assert DAMAGE[0] in text
    return text.replace(*DAMAGE)


def folder(tmp_path: Path, name: str, text: str) -> Path:
    """Return a folder with a dump in it."""
    made = tmp_path / name
    made.mkdir()
    (made / f"{name}.txt").write_text(text, "utf-8")
    return made


def named(path: Path) -> Json:
    return {"uri": path.as_uri(), "name": path.name}


def folders_changed(wire: LocalWire, added: list[Path], removed: list[Path]) -> None:
    event = {"added": [named(one) for one in added], "removed": [named(one) for one in removed]}
    wire.send(message("workspace/didChangeWorkspaceFolders", {"event": event}))


def pulled(talk: Conversation, previous: list[Json]) -> tuple[dict[str, list[str]], list[Json]]:
    """Return the codes of each changed file, and the result ids for the next request."""
    report = talk.ask("workspace/diagnostic", {"previousResultIds": previous})
    found = {
        item["uri"].rpartition("/")[2]: [one["code"] for one in item["items"]]
        for item in report["items"]
        if item["kind"] == "full"
    }
    ids = [
        {"uri": item["uri"], "value": item["resultId"]}
        for item in report["items"]
        if "resultId" in item
    ]
    return found, ids


def test_folders_come_and_go_with_their_findings(
    wire: LocalWire, dump: str, tmp_path: Path
) -> None:
    first, second = folder(tmp_path, "first", dump), folder(tmp_path, "second", dump)
    talk = Conversation(wire, PULLS, first.as_uri())
    found, ids = pulled(talk, [])
    assert found == {"first.txt": ["size-mismatch"]}
    folders_changed(wire, [first, second], [])
    talk.until_asked(REFRESH("diagnostic"))
    found, more = pulled(talk, ids)
    assert found == {"second.txt": ["size-mismatch"]}
    talk.replies.asked.clear()
    folders_changed(wire, [], [second])
    talk.until_asked(REFRESH("diagnostic"))
    assert pulled(talk, more)[0] == {"second.txt": []}


def watched(wire: LocalWire, path: Path, kind: int) -> None:
    """Send a notification of a created (1), changed (2), or deleted (3) file."""
    changes = [{"uri": path.as_uri(), "type": kind}]
    wire.send(message("workspace/didChangeWatchedFiles", {"changes": changes}))


def hover(talk: Conversation, path: Path, place: tuple[int, int]) -> str:
    position = {"line": place[0], "character": place[1]}
    params = {"textDocument": {"uri": path.as_uri()}, "position": position}
    text: str = talk.ask("textDocument/hover", params)["contents"]["value"]
    return text


def test_companion_file_is_created_changed_and_deleted(wire: LocalWire, files: Compile) -> None:
    talk = Conversation(wire, PULLS, files.folder.as_uri())
    values, ranges = files.values.read_text("utf-8"), files.live_range
    text = ranges.read_text("utf-8")
    files.values.unlink()
    wire.send(did_open(ranges.as_uri(), text))
    place = text.split("\n").index("    fusion.9{}:25-27"), 6
    assert "tuple.12" not in hover(talk, ranges, place)
    for kind, change in (
        (1, lambda: files.values.write_text(values, "utf-8")),
        (2, lambda: files.values.write_text(values.replace("tuple.12", "tuple.99"), "utf-8")),
        (3, files.values.unlink),
    ):
        talk.replies.asked.clear()
        change()
        watched(wire, files.values, kind)
        talk.until_asked(REFRESH("diagnostic"))
        said = hover(talk, ranges, place)
        assert ("tuple.12" in said, "tuple.99" in said) == (kind == 1, kind == 2)


def test_deleted_companion_refreshes_what_depends_on_it(wire: LocalWire, files: Compile) -> None:
    window = VscodeWindow(wire, files.folder)
    window.open(files.values)
    window.rest()
    window.refreshes.clear()
    files.assignment.unlink()
    watched(wire, files.assignment, 3)
    window.rest()
    views = ("diagnostic", "semanticTokens", "inlayHint", "codeLens")
    assert window.refreshes == Counter({REFRESH(view): 1 for view in views})


def test_restart_publishes_diagnostics_again(wire: LocalWire, dump: str, tmp_path: Path) -> None:
    first = folder(tmp_path, "first", dump)
    talk = Conversation(wire, PULLS, first.as_uri())
    found, ids = pulled(talk, [])
    assert pulled(talk, ids)[0] == {}  # nothing is news
    talk.ask("workspace/executeCommand", {"command": "hlo.server.restartIndex", "arguments": []})
    assert pulled(talk, ids)[0] == found == {"first.txt": ["size-mismatch"]}


def set_to(wire: LocalWire, settings: Any) -> None:
    wire.send(message("workspace/didChangeConfiguration", {"settings": settings}))


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ({"inlayHints": {"paddedSize": False}}, "inlayHint"),
        ({"check": {"ignore": ["size-mismatch"]}}, "diagnostic"),
    ],
)
def test_settings_that_change_make_the_client_ask_again(
    wire: LocalWire, dump: str, tmp_path: Path, setting: Json, name: str
) -> None:
    damaged = folder(tmp_path, "first", dump)
    talk = Conversation(wire, PULLS, damaged.as_uri())
    document = {"textDocument": {"uri": (damaged / "first.txt").as_uri()}}
    wire.send(did_open(document["textDocument"]["uri"], dump))
    assert talk.ask("textDocument/diagnostic", document)["items"]
    end = {"line": dump.count("\n"), "character": 0}
    whole = {"start": {"line": 0, "character": 0}, "end": end}
    assert talk.ask("textDocument/inlayHint", {**document, "range": whole})
    talk.replies.asked.clear()
    set_to(wire, {"hlo": setting})
    talk.until_asked(REFRESH(name))
    assert {one["method"] for one in talk.replies.asked} == {REFRESH(name)}


class Answering(Conversation):
    """A client that is asked for its settings, and has some."""

    settings: Json | None = None

    def result(self, method: str) -> Any:
        return [self.settings] if method == "workspace/configuration" else super().result(method)


@pytest.mark.parametrize("payload", [None, {}, {"hlo": {"check": {"ignore": ["size-mismatch"]}}}])
def test_requested_configuration_overrides_pushed_settings(
    wire: LocalWire, dump: str, tmp_path: Path, payload: Any
) -> None:
    first = folder(tmp_path, "first", dump)
    able = {**PULLS, "workspace": {**PULLS["workspace"], "configuration": True}}
    talk = Answering(wire, able, first.as_uri())
    document = {"textDocument": {"uri": (first / "first.txt").as_uri()}}
    wire.send(did_open(document["textDocument"]["uri"], dump))

    def codes() -> list[str]:
        items = talk.ask("textDocument/diagnostic", document)["items"]
        return [one["code"] for one in items]

    assert codes() == ["size-mismatch"]
    for ignored, expected in ((["size-mismatch"], []), ([], ["size-mismatch"])):
        talk.settings = {"check": {"ignore": ignored}}
        talk.replies.asked.clear()
        set_to(wire, payload)
        talk.until_asked("workspace/configuration")
        assert codes() == expected


def test_relative_paths_start_at_the_first_folder(
    wire: LocalWire, files: Compile, tmp_path: Path
) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    talk = Conversation(wire, PULLS, None)
    module = files.module.read_text("utf-8")
    names = [line.split('"')[1] for line in module.split("\n") if line.startswith('1 "')]
    place = Path(names[0])
    (sources / place.name).write_text("\n" * 500, "utf-8")
    wire.send(did_open(files.module.as_uri(), module))
    set_to(wire, {"hlo": {"sourceMap": {str(place.parent): "${workspaceFolder}"}}})
    document = {"textDocument": {"uri": files.module.as_uri()}}
    assert not talk.ask("textDocument/documentLink", document)
    folders_changed(wire, [sources], [])
    links = talk.ask("textDocument/documentLink", document)
    assert links
    assert all(one["target"].startswith((sources / place.name).as_uri()) for one in links)
