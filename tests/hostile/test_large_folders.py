"""Tests for the work on the names in a folder: it grows as the folder does.

Folders of the tests have just been written, as those of a program that was just compiled.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command import run
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.document import Document
from hostile.large_folders import count_names, write_compiles
from lsp.test_module_list import Listing
from lsp.test_source_lines import SourceLinesHarness
from lsp.test_workspace_diagnostics import WorkspaceDiagnosticsHarness

_SIZES = (4, 12)
_MAX_GROWTH = 1.25  # relative to the growth of the folder; that of quadratic work is 3


def _require_linear(work: Callable[[int], Counter[str]]) -> None:
    small, large = map(work, _SIZES)
    growth = _MAX_GROWTH * _SIZES[1] / _SIZES[0]
    assert all(large[kind] <= growth * count for kind, count in small.items()), (small, large)


@pytest.mark.parametrize(
    "command",
    [
        *("check", "modules", "summary", "cost", "cost --collectives", "summary --donation"),
        *("summary --padding", "summary --timeline", "summary --values"),
        *("history", "modules --hosts", "find jit_f", "diff"),
    ],
)
def test_command_parses_each_name_a_few_times(tmp_path: Path, command: str) -> None:
    def work(count: int) -> Counter[str]:
        folder = tmp_path / str(count)
        write_compiles(folder / "host_0", count)
        write_compiles(folder / "host_1", count)
        paths = [folder / "host_0", folder / "host_1"] if command == "diff" else [folder]
        with count_names() as names:
            assert run(*command.split(), *paths).status in {0, 1}
        return names

    _require_linear(work)


@pytest.mark.parametrize("command", ["check", "modules", "summary", "cost"])
def test_named_files_of_a_folder_share_its_listing(tmp_path: Path, command: str) -> None:
    def work(count: int) -> Counter[str]:
        paths = write_compiles(tmp_path / str(count), count)
        with count_names() as names:
            assert run(command, *paths).status in {0, 1}
        return names

    _require_linear(work)


async def test_workspace_diagnostics_list_each_folder_once(tmp_path: Path) -> None:
    found = []
    for count in _SIZES:
        write_compiles(tmp_path / str(count), count)
        with count_names() as names:
            await WorkspaceDiagnosticsHarness(tmp_path / str(count)).pull()
        found.append(names)
    _require_linear(dict(zip(_SIZES, found, strict=True)).__getitem__)


async def test_module_list_lists_each_folder_once(tmp_path: Path) -> None:
    found = []
    for count in _SIZES:
        write_compiles(tmp_path / str(count), count)
        with count_names() as names:
            assert len(await Listing(tmp_path / str(count)).ask()) == count
        found.append(names)
    _require_linear(dict(zip(_SIZES, found, strict=True)).__getitem__)


async def test_python_notes_list_each_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for count in _SIZES:
        write_compiles(tmp_path / str(count), count)
        with count_names() as names:
            harness = SourceLinesHarness(tmp_path / str(count), monkeypatch)
            await harness.read()
            await harness.settled()
        found.append(names)
    _require_linear(dict(zip(_SIZES, found, strict=True)).__getitem__)


def test_deleted_files_are_grouped_together(tmp_path: Path) -> None:
    def work(count: int) -> Counter[str]:
        _, first, *others = write_compiles(tmp_path / str(count), count)
        workspace = DumpWorkspace()
        workspace.open(first.as_uri(), first, Document(first.read_text("utf-8")))
        for path in others:
            path.unlink()
        with count_names() as names:
            assert workspace.is_compile_of_any(first, others)
            assert not workspace.is_compile_of_any(first, others[2:])
        return names

    _require_linear(work)
