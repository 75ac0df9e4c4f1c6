"""Names in a workspace: read in the background, answered from what is there by then."""

import asyncio
import os
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lsprotocol import types
from pygls.progress import Progress as Tokens

from hlo_lsp.lsp import compile_index, workspace_symbols
from hlo_lsp.lsp import scheduling as running
from hlo_lsp.lsp.client import workspace_folders
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.progress import BackgroundProgress
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.workspace_symbols import WorkspaceSymbols
from lsp.opened import item
from lsp.test_session_edits import edit, whole_document

MODULE = "HloModule jit_f\n\nENTRY %main {\n  ROOT %one = f32[] constant(1)\n}\n"


class Server:
    """The server's part: folders of the workspace, and a client that shows progress."""

    def __init__(self) -> None:
        self.workspace = SimpleNamespace(folders={}, root_uri=None)
        window = types.WindowClientCapabilities(work_done_progress=True)
        self.client_capabilities = types.ClientCapabilities(window=window)
        self.work_done_progress = Tokens(cast("Any", self))
        self.sent: list[Any] = []
        self.cancels = False

    async def send_request_async(self, _: str, __: object) -> None:
        pass

    def notify(self, _: str, params: types.ProgressParams) -> None:
        self.sent.append(params.value)
        if self.cancels:
            self.work_done_progress.tokens[params.token].cancel()


class ProgressListener(SessionListener):
    """A listener that shows long tasks on a client."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def progress(self, title: str, *, is_indefinite: bool = False) -> BackgroundProgress:
        return BackgroundProgress(self._server, title, is_indefinite=is_indefinite)


def serve(session: Session, server: Any) -> None:
    """Give the index of a session the folders and the progress of a server."""
    session.index.workspace_folders = partial(workspace_folders, server)
    session.listener = ProgressListener(server)


class WorkspaceSymbolsHarness:
    """Workspace symbols, driven as the server drives them."""

    def __init__(self, *folders: Path) -> None:
        self.server = Server()
        self.session = Session()
        serve(self.session, self.server)
        self.names = WorkspaceSymbols(self.session)
        self.show(*folders)

    def show(self, *folders: Path) -> None:
        self.server.workspace.folders = {folder.as_uri(): None for folder in folders}
        self.session.index.resume()
        self.names.folders_changed()

    def open(self, uri: str, text: str) -> None:
        self.session.index.files_changed()
        self.names.opened(self.session.open(item(uri, text)))

    def close(self, uri: str) -> None:
        file = self.session.close(uri)
        assert file is not None
        self.session.index.files_changed()
        self.names.closed(file)

    async def find(self, typed: str) -> list[types.SymbolInformation]:
        return await self.names.find(types.WorkspaceSymbolParams(typed))

    async def uris(self, typed: str) -> list[str]:
        """Which files the symbols are in that are found once all is read."""
        await self.settled()
        return [found.location.uri for found in await self.find(typed)]

    async def settled(self) -> None:
        """Wait until all names are read."""
        while self.names._refresh.task is not None or self.names._open_reads:
            await asyncio.sleep(0.01)

    def change(self) -> None:
        """Tell that files on disk have changed."""
        self.session.index.files_changed()
        self.names.files_changed()


def write(path: Path, text: str = MODULE) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path.as_uri()


async def test_symbol_of_the_workspace(tmp_path: Path) -> None:
    uri = write(tmp_path / "deep/a.txt")
    harness = WorkspaceSymbolsHarness(tmp_path)
    await harness.settled()
    (found,) = await harness.find("one")
    span = types.Range(types.Position(3, 8), types.Position(3, 11))
    assert found == types.SymbolInformation(
        types.Location(uri, span), "one", types.SymbolKind.Variable,
        container_name="main · deep/a.txt",
    )  # fmt: skip
    kinds = {found.name: found.kind for found in await harness.find("")}
    assert kinds == {"jit_f": types.SymbolKind.Module}


async def test_first_answer_waits_for_the_names(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    harness = WorkspaceSymbolsHarness(tmp_path)
    assert len(await harness.find("one")) == 1


async def test_first_query_waits_for_a_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        write(tmp_path / f"{number}/a.txt")
    harness = WorkspaceSymbolsHarness(tmp_path)
    monkeypatch.setattr(workspace_symbols, "_FIRST_WAIT_SECONDS", 0)
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)
    assert await harness.find("one") != []
    assert len(await harness.uris("one")) == 100


async def test_order_does_not_depend_on_times_of_files(tmp_path: Path) -> None:
    uris = [write(tmp_path / f"{name}.txt") for name in "abc"]
    for time, name in enumerate("bac", 1):
        os.utime(tmp_path / f"{name}.txt", (time, time))
    assert await WorkspaceSymbolsHarness(tmp_path).uris("one") == uris


async def test_folders_come_and_go(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1/a.txt"), write(tmp_path / "2/b.txt")
    harness = WorkspaceSymbolsHarness(tmp_path / "1")
    assert await harness.uris("one") == [one]
    harness.show(tmp_path / "1", tmp_path / "2")
    assert await harness.uris("one") == [one, two]
    harness.show(tmp_path / "2")
    assert await harness.uris("one") == [two]


async def test_folder_of_an_open_file_is_searched(tmp_path: Path) -> None:
    own, beside = write(tmp_path / "a.txt"), write(tmp_path / "b.txt")
    write(tmp_path / "deep/c.txt")
    harness = WorkspaceSymbolsHarness()
    assert await harness.uris("one") == []
    harness.open(own, MODULE)
    assert await harness.uris("one") == [own, beside]
    harness.close(own)
    assert await harness.uris("one") == []


async def test_open_text_hides_the_one_on_disk(tmp_path: Path) -> None:
    uri = write(tmp_path / "a.txt")
    harness = WorkspaceSymbolsHarness(tmp_path)
    harness.open(uri, MODULE.replace("one", "typed"))
    assert await harness.uris("typed") == [uri]
    assert await harness.uris("one") == []
    edit(harness.session, whole_document(MODULE.replace("one", "\n\nlater")), uri=uri)
    (found,) = await harness.find("later")
    assert found.location.range.start.line == 5
    assert await harness.uris("typed") == []
    harness.close(uri)
    assert await harness.uris("one") == [uri]
    assert await harness.uris("later") == []


async def test_reopened_file_of_same_version_is_read_again() -> None:
    harness = WorkspaceSymbolsHarness()
    harness.open("untitled:1", MODULE)
    assert await harness.uris("one") == ["untitled:1"]
    harness.open("untitled:1", MODULE.replace("one", "other"))
    assert await harness.uris("one") == []
    assert await harness.uris("other") == ["untitled:1"]


async def test_search_notices_changes_on_disk_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_symbols._SymbolsOnDisk, "max_scan_age_seconds", 0)
    path = tmp_path / "a.txt"
    write(path)
    harness = WorkspaceSymbolsHarness(tmp_path)
    assert len(await harness.uris("one")) == 1
    write(path, MODULE.replace("one", "other"))
    os.utime(path, ns=(1, 1))
    await harness.uris("one")
    assert await harness.uris("one") == []
    assert len(await harness.uris("other")) == 1


async def test_long_reading_shows_its_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_index, "_MIN_SHOWN_BYTES", 2 * len(MODULE))
    write(tmp_path / "a.txt")
    harness = WorkspaceSymbolsHarness(tmp_path)
    await harness.settled()
    assert harness.server.sent == []
    write(tmp_path / "b.txt")
    write(tmp_path / "c.txt")
    harness.change()
    await harness.settled()
    assert harness.server.sent[0].kind == "begin"
    assert harness.server.sent[-1].kind == "end"


async def test_stopped_reading_resumes_with_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_index, "_MIN_SHOWN_BYTES", 1)
    monkeypatch.setattr(running, "_SLICE_SECONDS", 0)
    for number in range(20):
        write(tmp_path / f"{number:02}.txt")
    harness = WorkspaceSymbolsHarness()
    harness.server.cancels = True
    harness.show(tmp_path)
    assert 0 < len(await harness.uris("one")) < 20
    harness.change()
    assert len(await harness.uris("one")) < 20
    harness.server.cancels = False
    harness.show(tmp_path)
    assert len(await harness.uris("one")) == 20


async def test_root_without_folders(tmp_path: Path) -> None:
    uri = write(tmp_path / "a.txt")
    harness = WorkspaceSymbolsHarness()
    harness.server.workspace.root_uri = tmp_path.as_uri()
    harness.change()
    assert await harness.uris("one") == [uri]


async def test_labels_of_a_python_line_sort_by_size(tmp_path: Path) -> None:
    place = 'metadata={source_file="/a/train.py" source_line=38}'
    rows = "".join(
        f"  %n{n} = f32[{n}]{{0}} iota(), iota_dimension=0, {place}\n" for n in range(1, 12)
    )
    values = "".join(
        f" value: <{n} n{n} @0> (size={4 * n},offset={100 * n}): f32[{n}]{{0}}\n"
        for n in range(1, 12)
    )
    module = f"HloModule jit_f\n\nENTRY %main {{\n{rows}  ROOT %r = f32[] constant(1)\n}}\n"
    stem = "module_0001.jit_f.cpu_after_optimizations"
    write(tmp_path / f"{stem}.txt", module)
    assignment = f"BufferAssignment:\nallocation 0: size 2000, preallocated-temp:\n{values}"
    write(tmp_path / f"{stem}-buffer-assignment.txt", assignment)
    harness = WorkspaceSymbolsHarness(tmp_path)
    await harness.settled()
    labels = [found.name for found in await harness.find("train.py:38")]
    assert labels[:2] == ["train.py:38 01. n11", "train.py:38 02. n10"]
    assert labels == sorted(labels)
