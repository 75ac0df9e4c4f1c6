"""Tests for the instruction of every thunk, compared with thunk metadata and module text."""

import re
from functools import lru_cache
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.schedule import thunk_instruction
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.scanners import ThunkRow

pytestmark = pytest.mark.corpus

_BLOCK = re.compile(
    r'profile_annotation: "([^"]+)"\s+(?:thunk_id: (\d+)\s+)?\}\s+thunk_kind: "(\w+)"'
)


def test_thunks_match_their_metadata(folder: Path) -> None:
    for path in files_of(folder, FileKind.THUNKS):
        metadata = path.with_name(re.sub(r"thunk_sequence\w*", "thunk_metadata", path.name))
        if metadata.is_file():
            blocks = {
                int(number): (name, kind)
                for name, number, kind in _BLOCK.findall(metadata.read_text())
                if number
            }
            assert blocks
            for row, name in _thunks(path):
                expected = blocks.get(row.id or 0, (None, row.kind))
                assert (name, row.kind) == expected, row


def test_thunk_instructions_exist_in_module(folder: Path) -> None:
    for path in files_of(folder, FileKind.THUNKS):
        dump = _read(path)[0]
        assert any(len(file.module.instructions) for file in dump.files), path
        for row, name in _thunks(path):
            assert name is None or dump.instruction(name) is not None, row


def _thunks(path: Path) -> list[tuple[ThunkRow, str | None]]:
    dump, rows = _read(path)
    return [(row, thunk_instruction(dump, row)) for row in rows]


@lru_cache(maxsize=100)  # The tests of one folder read the same files.
def _read(path: Path) -> tuple[Compile, list[ThunkRow]]:
    workspace = DumpWorkspace()
    file = workspace.file(path)
    rows = [record for record in file.records if isinstance(record, ThunkRow)]
    return workspace.compile_of(file), rows


def test_thunks_without_metadata_are_consistent(folder: Path, tmp_path: Path) -> None:
    """Kernels can share a name. A thunk has no instruction if it is ambiguous."""
    wrong = []
    for path in files_of(folder, FileKind.THUNKS):
        metadata = path.with_name(re.sub(r"thunk_sequence\w*", "thunk_metadata", path.name))
        if metadata.is_file():
            module = next(
                file
                for file in files_of(folder, FileKind.MODULE)
                if file.name.startswith(path.name.split(".thunk")[0] + ".sm_")
            )
            for file in (path, module):
                (tmp_path / file.name).write_bytes(file.read_bytes())
            named = {
                int(number): name
                for name, number, _ in _BLOCK.findall(metadata.read_text())
                if number
            }
            rows = _thunks(tmp_path / path.name)
            wrong += [
                (path.name, row.id, name)
                for row, name in rows
                if name not in {None, named.get(row.id or 0)}
            ]
    assert wrong == []
