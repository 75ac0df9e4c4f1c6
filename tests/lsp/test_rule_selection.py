"""Which rules run on a file, from the next look on."""

import os
from pathlib import Path

import pytest

from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp.settings import Selections

NOTHING = CheckOptions()


def test_config_file_overrides_settings(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text('select = ["overlap"]')
    options = CheckOptions(select=frozenset({"syntax"}))
    selections = Selections()
    assert selections.of(tmp_path / "runs" / "dump.txt", options).codes == {"overlap"}
    assert selections.of(None, options).codes == {"syntax"}


def test_unsaved_file_has_no_config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text('select = ["overlap"]')
    monkeypatch.chdir(tmp_path)
    assert Selections().of(Path("part.txt"), NOTHING) == Selections().of(None, NOTHING)


def test_a_changed_file_applies_at_once(tmp_path: Path) -> None:
    path = tmp_path / CONFIG_FILE_NAME
    path.write_text('select = ["overlap"]')
    selections, dump = Selections(), tmp_path / "dump.txt"
    first = selections.of(dump, NOTHING)
    path.write_text('select = ["syntax"]')
    os.utime(path, ns=(1, 1))
    assert selections.of(dump, NOTHING).codes == {"syntax"} != first.codes
    path.unlink()
    assert selections.of(dump, NOTHING) == selections.of(None, NOTHING)


def test_config_file_error_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text('select = ["nonsense"]')
    selections = Selections()
    said: list[str] = []
    selections.report_problem = said.append
    for _ in range(3):
        selections.of(tmp_path / "dump.txt", NOTHING)
    (problem,) = said
    assert "nonsense" in problem
