"""What is wrong in a folder: asked for, told once, and told again when something has changed."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from hlo_lsp.checks.check_jobs import CheckJob
from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.lsp import compile_index, workspace_diagnostics
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.workspace_diagnostics import WorkspaceDiagnostics
from hlo_lsp.model.module_reader import ModuleReader
from lsp.opened import DUMP, item, split_dump
from lsp.test_session_edits import edit, whole_document
from lsp.test_workspace_symbols import Server, serve

DAMAGED = DUMP.replace("(size=512,offset=512)", "(size=512,offset=1000)")
CONVERTER = get_converter()
Reports = dict[str, tuple[str, list[str]]]


class WorkspaceDiagnosticsHarness:
    """Workspace diagnostics, pulled as a client pulls them: it hands back the ids that it has."""

    def __init__(self, folder: Path) -> None:
        self.server = Server()
        self.server.workspace = SimpleNamespace(folders={folder.as_uri(): None}, root_uri=None)
        self.session = Session()
        self.partial: list[Json] = []
        serve(self.session, self.server)
        self.workspace_diagnostics = WorkspaceDiagnostics(
            self.session, lambda _, said: self.partial.append(said)
        )
        self.ids: dict[str, str] = {}

    async def pull(self, token: str | None = None) -> Reports:
        """Kind and codes by file name."""
        ids = [types.PreviousResultId(uri, value) for uri, value in self.ids.items()]
        params = types.WorkspaceDiagnosticParams(ids, partial_result_token=token)
        answer = await self.workspace_diagnostics.pull(params)
        read = CONVERTER.structure(answer, types.WorkspaceDiagnosticReport)
        assert len(read.items) == len(answer["items"])
        return self.taken(answer["items"])

    def taken(self, items: list[Json]) -> Reports:
        for said in items:
            self.ids.pop(said["uri"], None)
            if "resultId" in said:
                self.ids[said["uri"]] = said["resultId"]
        return {
            said["uri"].rpartition("/")[2]: (
                said["kind"],
                [found["code"] for found in said.get("items", [])],
            )
            for said in items
        }


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with dumps of two compiles, one damaged, and other files."""
    write(tmp_path / "good.txt", DUMP)
    write(tmp_path / "deep" / "bad.txt", DAMAGED)
    write(tmp_path / "notes.txt", "no dump\n")
    write(tmp_path / ".hidden" / "bad.txt", DAMAGED)
    (tmp_path / "binary.txt").write_bytes(b"\0\1")
    return tmp_path


async def test_only_the_largest_closed_compile_has_advice(tmp_path: Path) -> None:
    row = "allocation 0: size 4194304, preallocated-temp:\n value: <1 x @0> (size=4194304,offset=0)"
    text = f"BufferAssignment:\n{row}: f32[8192,1]{{1,0:T(8,128)}}\n"
    for number in range(2):
        name = f"module_000{number}.jit_f.cl_1.after_optimizations-buffer-assignment.txt"
        write(tmp_path / name, text + "\n" * number)
    harness = WorkspaceDiagnosticsHarness(tmp_path)
    reports = await harness.pull()
    assert {name[:11]: found for name, found in reports.items()} == {
        "module_0001": ("full", ["padding-waste"])
    }
    unchanged = {name[:11]: kind for name, (kind, _) in (await harness.pull()).items()}
    assert unchanged == {"module_0001": "unchanged"}


async def test_only_files_with_findings_are_reported(folder: Path) -> None:
    assert await WorkspaceDiagnosticsHarness(folder).pull() == {
        "bad.txt": ("full", ["out-of-bounds"])
    }


async def test_second_pull_is_unchanged(folder: Path) -> None:
    harness = WorkspaceDiagnosticsHarness(folder)
    await harness.pull()
    assert await harness.pull() == {"bad.txt": ("unchanged", [])}


async def test_corrected_file_loses_its_findings(folder: Path) -> None:
    harness = WorkspaceDiagnosticsHarness(folder)
    await harness.pull()
    write(folder / "deep" / "bad.txt", DUMP + "\n")
    assert await harness.pull() == {"bad.txt": ("full", [])}
    assert await harness.pull() == {"bad.txt": ("unchanged", [])}


async def test_deleted_file_loses_its_findings_once(folder: Path) -> None:
    harness = WorkspaceDiagnosticsHarness(folder)
    await harness.pull()
    (folder / "deep" / "bad.txt").unlink()
    assert await harness.pull() == {"bad.txt": ("full", [])}
    assert await harness.pull() == {}


async def test_partial_results_come_compile_by_compile(folder: Path) -> None:
    write(folder / "worse.txt", DAMAGED)
    harness = WorkspaceDiagnosticsHarness(folder)
    assert await harness.pull(token="t") == {}
    assert [said["token"] for said in harness.partial] == ["t", "t"]
    assert [[*harness.taken(said["value"]["items"])] for said in harness.partial] == [
        ["worse.txt"],
        ["bad.txt"],
    ]
    for said in harness.partial:
        CONVERTER.structure(said["value"], types.WorkspaceDiagnosticReportPartialResult)


async def test_open_files_are_not_reported(folder: Path) -> None:
    harness = WorkspaceDiagnosticsHarness(folder)
    harness.session.open(item((folder / "deep" / "bad.txt").as_uri(), DAMAGED))
    assert await harness.pull() == {}


async def test_companion_file_is_compared_with_open_text(tmp_path: Path) -> None:
    paths = split_dump(tmp_path)
    paths.pop("-live-range").unlink()
    assigned, values = paths["-buffer-assignment"], paths["-buffer-assignment-values"]
    assignment = assigned.read_text("utf-8")
    harness = WorkspaceDiagnosticsHarness(tmp_path)
    write(tmp_path / CONFIG_FILE_NAME, 'ignore = ["sibling-missing"]')
    write(values, values.read_text("utf-8").replace("2048 (2.0KiB)", "2560 (2.5KiB)"))
    uri = assigned.as_uri()
    harness.session.open(item(uri, assignment))
    assert await harness.pull() == {values.name: ("full", ["total-mismatch"])}
    assert await harness.pull() == {values.name: ("unchanged", [])}
    edit(
        harness.session,
        whole_document(f"{assignment}allocation 3: size 512, thread-local:\n"),
        uri=uri,
    )
    assert await harness.pull() == {values.name: ("full", [])}


async def test_settings_file_counts_at_once(folder: Path) -> None:
    harness = WorkspaceDiagnosticsHarness(folder)
    await harness.pull()
    write(folder / CONFIG_FILE_NAME, 'ignore = ["out-of-bounds"]')
    assert await harness.pull() == {"bad.txt": ("full", [])}


async def test_only_changed_compiles_are_checked_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = WorkspaceDiagnosticsHarness(folder)
    await harness.pull()
    checked: list[str] = []
    read = workspace_diagnostics._read_reports

    def note(reader: ModuleReader, job: CheckJob, **others: Any) -> Any:
        checked.append(job.path.name)
        return read(reader, job, **others)

    monkeypatch.setattr(workspace_diagnostics, "_read_reports", note)
    os.utime(folder / "good.txt", (1, 1))
    await harness.pull()
    assert checked == ["good.txt"]


async def test_large_compiles_are_checked_in_a_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_index, "MAX_KEPT_BYTES", 0)
    assert await WorkspaceDiagnosticsHarness(folder).pull() == {
        "bad.txt": ("full", ["out-of-bounds"])
    }


async def test_check_stopped_by_the_user_stays_stopped(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_index, "_MIN_SHOWN_BYTES", 0)
    for number in range(20):
        write(folder / f"more{number}.txt", DAMAGED + f"{'x' * 2000}\n")
    harness = WorkspaceDiagnosticsHarness(folder)
    harness.server.cancels = True
    first = await harness.pull()
    assert len(first) < 21
    assert len(await harness.pull()) == len(first)
    harness.session.index.resume()
    harness.server.cancels = False
    assert len(await harness.pull()) == 21
