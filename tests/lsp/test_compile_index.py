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

from hlo_lsp.lsp.custom_requests import ModulesParams, SourceLinesParams
from hlo_lsp.lsp.module_list import ModuleList
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.source_lines import SourceLines
from hlo_lsp.lsp.workspace_diagnostics import WorkspaceDiagnostics
from hlo_lsp.lsp.workspace_symbols import WorkspaceSymbols
from hlo_lsp.text import disk
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
