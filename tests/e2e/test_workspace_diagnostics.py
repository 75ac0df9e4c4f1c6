"""Tests for workspace diagnostics of the dumps in a folder."""

import shutil
from collections.abc import AsyncIterator, Callable
from itertools import chain
from pathlib import Path

import pytest_asyncio
from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, editor

Compiled = Callable[[str], Compile]
SIZE = ("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
OFFSET = ("offset=4096", "offset=4608")
CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities()
    ),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
    window=types.WindowClientCapabilities(work_done_progress=True),
)


class WorkspacePuller:
    """An editor with an open folder, which sends the previous result ids with each request."""

    def __init__(self, at: Editor, folder: Path) -> None:
        self.at = at
        self.folder = folder
        self.ids: dict[str, str] = {}

    async def pull(self, token: str | None = None) -> dict[str, list[str] | str]:
        """Return the codes of each reported file, or that it is unchanged."""
        previous = [types.PreviousResultId(uri, value) for uri, value in self.ids.items()]
        params = types.WorkspaceDiagnosticParams(previous, partial_result_token=token)
        report = await self.at.reply(self.at.client.workspace_diagnostic_async(params))
        return dict(map(self.read, report.items))

    def read(self, item: types.WorkspaceDocumentDiagnosticReport) -> tuple[str, list[str] | str]:
        """Store the result id of a report, and return the file name with its codes."""
        name = item.uri.rpartition("/")[2]
        if item.result_id is None:
            self.ids.pop(item.uri, None)
        else:
            self.ids[item.uri] = item.result_id
        if isinstance(item, types.WorkspaceUnchangedDocumentDiagnosticReport):
            return name, "unchanged"
        return name, [str(found.code) for found in item.items]

    def write(self, name: str, *damages: tuple[str, str]) -> None:
        """Write a damaged dump into the folder."""
        text = (self.folder / "good.txt").read_text("utf-8")
        for old, new in damages:
            assert old in text
            text = text.replace(old, new)
        (self.folder / name).write_text(text, "utf-8")


@pytest_asyncio.fixture(loop_scope="session")
async def harness(tmp_path: Path, compiled: Compiled) -> AsyncIterator[WorkspacePuller]:
    folder = tmp_path / "dumps"
    folder.mkdir()
    shutil.copyfile(compiled("one file").assignment, folder / "good.txt")
    async with editor(CAPABILITIES, tmp_path / "log", folder=folder) as at:
        puller = WorkspacePuller(at, folder)
        puller.write("size.txt", SIZE)
        puller.write("both.txt", SIZE, OFFSET)
        yield puller


async def test_files_with_findings_are_reported_once(harness: WorkspacePuller) -> None:
    assert await harness.pull() == {
        "size.txt": ["size-mismatch"],
        "both.txt": ["size-mismatch", "out-of-bounds"],
    }
    assert await harness.pull() == {"size.txt": "unchanged", "both.txt": "unchanged"}


async def test_changed_closed_file_refreshes_workspace_diagnostics(
    harness: WorkspacePuller,
) -> None:
    client = harness.at.client
    refresh_count = client.diagnostic_refresh_count
    event = types.FileEvent((harness.folder / "size.txt").as_uri(), types.FileChangeType.Changed)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await harness.at.wait_until(lambda: client.diagnostic_refresh_count > refresh_count)


async def test_long_check_reports_progress(harness: WorkspacePuller) -> None:
    for number in range(3):
        filling = "// a long line that nobody reads\n" * 60_000
        module = "HloModule m\n\nENTRY %main {\n  ROOT %a = f32[] negate(%b)\n}\n"
        (harness.folder / f"module_{number:04}.jit_f.txt").write_text(module + filling, "utf-8")
    found = await harness.pull()
    assert sorted(found) == [
        "both.txt", *(f"module_{number:04}.jit_f.txt" for number in range(3)), "size.txt",
    ]  # fmt: skip
    reports: list[object] = [*chain(*harness.at.client.progress_reports.values())]
    begins = [each for each in reports if isinstance(each, types.WorkDoneProgressBegin)]
    assert "Checking HLO dumps" in [each.title for each in begins]
