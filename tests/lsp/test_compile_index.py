"""Facts about compiles on disk: one walk of the workspace, and one reading of each file."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.lsp import compile_index, module_list
from hlo_lsp.lsp.custom_requests import ModulesParams, SourceLinesParams
from hlo_lsp.lsp.module_list import ModuleList
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.source_lines import SourceLines
from hlo_lsp.lsp.workspace_diagnostics import WorkspaceDiagnostics
from hlo_lsp.lsp.workspace_symbols import WorkspaceSymbols
from hlo_lsp.reports.modules import compiled_module
from hlo_lsp.text import disk
from hostile.large_folders import write_compiles
from lsp.test_source_lines import SourceLinesHarness
from lsp.test_workspace_symbols import serve


class Services:
    """The services that need facts about a workspace with one folder."""

    def __init__(self, folder: Path) -> None:
        self.session = Session()
        workspace = SimpleNamespace(folders={folder.as_uri(): None}, root_uri=None)
        serve(self.session, SimpleNamespace(workspace=workspace))
        self.notified: list[str] = []
        self.modules = ModuleList(self.session, self._notify)
        self.diagnostics = WorkspaceDiagnostics(self.session, self._notify)
        self.lines = SourceLines(self.session, self._notify)
        self.symbols = WorkspaceSymbols(self.session)

    def _notify(self, method: str, _: object) -> None:
        self.notified.append(method)

    async def start(self, python: Path) -> tuple[Any, Any]:
        """Do what a client with all views asks for when it starts."""
        self.symbols.initialized()
        pull = types.WorkspaceDiagnosticParams([])
        modules, reports, _, _ = await asyncio.gather(
            self.modules.answer(ModulesParams()),
            self.diagnostics.pull(pull),
            self.lines.answer(SourceLinesParams(python.as_uri())),
            self.symbols.find(types.WorkspaceSymbolParams("jit_f")),
        )
        while self.lines._refresh.task or self.symbols._refresh.task:
            await asyncio.sleep(0.01)
        return modules, reports


class Accesses:
    """The folders that are walked, and the files that are opened."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.walks: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        walk, open_file = os.walk, disk.open_regular_file

        def noted_walk(top: Any) -> Iterator[Any]:
            self.walks[os.fspath(top)] += 1
            return walk(top)

        def noted_open(path: Path) -> Any:
            self.reads[path.name] += 1
            return open_file(path)

        patch.setattr(os, "walk", noted_walk)
        patch.setattr(disk, "open_regular_file", noted_open)


@pytest.fixture
def accesses(monkeypatch: pytest.MonkeyPatch) -> Accesses:
    return Accesses(monkeypatch)


async def test_workspace_is_walked_and_read_once(tmp_path: Path, accesses: Accesses) -> None:
    with pytest.MonkeyPatch.context() as patch:  # it has no pause between two walks
        dumps = SourceLinesHarness(tmp_path, patch)
    for name in ("jit_f", "jit_g"):
        text = dumps.dump("dump", name).with_name(f"module_0001.{name}.before_optimizations.txt")
        text.write_text(f"HloModule {name}\n", "utf-8")
    (tmp_path / "notes.txt").write_text("to do\n", "utf-8")
    services = Services(tmp_path)
    modules, _ = await services.start(dumps.python)
    assert len(modules["modules"]) == 2
    assert len(services.lines._lines(dumps.python)) == 4
    files = [path.name for path in tmp_path.rglob("*.txt")]
    assert accesses.walks == {str(tmp_path): 1}
    assert {name: accesses.reads[name] for name in files} == dict.fromkeys(files, 1)


async def test_former_folder_of_a_request_causes_no_walk(
    tmp_path: Path, accesses: Accesses
) -> None:
    index = Session().index
    for number in range(3):
        index.search_also([tmp_path])
        await index.scan(1000)
        index.search_also(())
        await index.scan(1000)
        assert accesses.walks.total() == 1, number


async def test_urgent_facts_are_read_first(tmp_path: Path) -> None:
    write_compiles(tmp_path / "dumps", 20)
    services = Services(tmp_path)
    pull = asyncio.ensure_future(services.diagnostics.pull(types.WorkspaceDiagnosticParams([])))
    while not services.diagnostics._on_disk.values():
        await asyncio.sleep(0)
    modules = await services.modules.answer(ModulesParams())
    assert len(modules["modules"]) == 20
    checked = len(services.diagnostics._on_disk.values())
    await pull
    assert checked < len(services.diagnostics._on_disk.values())


async def test_failed_process_is_a_problem_and_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_compiles(tmp_path / "dumps", 1)
    calls: list[object] = []

    async def fail(work: object) -> object:
        calls.append(work)
        raise RequestFailedError("the process ended early")

    monkeypatch.setattr(compile_index, "run_in_process", fail)
    monkeypatch.setattr(compile_index, "MAX_KEPT_BYTES", 0)
    services = Services(tmp_path)
    problems: list[str] = []
    monkeypatch.setattr(services.session.listener, "problem_found", problems.append)
    for _ in range(2):
        assert (await services.modules.answer(ModulesParams()))["modules"] == []
    assert len(calls) == 1
    assert problems == ["module_0000.jit_f0.before_optimizations.txt: the process ended early"]


async def test_internal_error_hides_no_other_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_compiles(tmp_path / "dumps", 2)

    def fail(dump: Any) -> Any:
        if dump.module_name == "jit_f0":
            raise ValueError("a bug")
        return compiled_module(dump)

    monkeypatch.setattr(module_list, "compiled_module", fail)
    modules = await Services(tmp_path).modules.answer(ModulesParams())
    assert [module["name"] for module in modules["modules"]] == ["jit_f1"]


async def test_walk_that_runs_includes_later_changes(tmp_path: Path) -> None:
    session = Session()
    tops = [tmp_path / "one"]
    session.index.workspace_folders = lambda: tops
    write_compiles(tmp_path / "one", 1)
    write_compiles(tmp_path / "two", 1)
    first = asyncio.ensure_future(session.index.scan())
    await asyncio.sleep(0)
    tops.append(tmp_path / "two")
    session.index.files_changed()
    assert [folder.path.name for folder in await first] == ["one", "two"]
