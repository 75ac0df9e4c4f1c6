"""Tests for the rules that settings and config files select."""

import os
from pathlib import Path

import pytest

from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp.settings import Selections

NO_OPTIONS = CheckOptions()


def test_config_file_overrides_settings(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text('select = ["overlap"]')
    options = CheckOptions(select=frozenset({"syntax"}))
    selections = Selections()
    assert selections.of(tmp_path / "runs" / "dump.txt", options).codes == {"overlap"}
    assert selections.of(None, options).codes == {"syntax"}


def test_unsaved_file_has_no_config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text('select = ["overlap"]')
    monkeypatch.chdir(tmp_path)
    assert Selections().of(Path("part.txt"), NO_OPTIONS) == Selections().of(None, NO_OPTIONS)


def test_changed_config_file_applies_at_once(tmp_path: Path) -> None:
    path = tmp_path / CONFIG_FILE_NAME
    path.write_text('select = ["overlap"]')
    selections, dump = Selections(), tmp_path / "dump.txt"
    first = selections.of(dump, NO_OPTIONS)
    path.write_text('select = ["syntax"]')
    os.utime(path, ns=(1, 1))
    assert selections.of(dump, NO_OPTIONS).codes == {"syntax"} != first.codes
    path.unlink()
    assert selections.of(dump, NO_OPTIONS) == selections.of(None, NO_OPTIONS)


def test_config_file_error_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text('select = ["nonsense"]')
    problems: list[str] = []
    selections = Selections(problems.append)
    for _ in range(3):
        selections.of(tmp_path / "dump.txt", NO_OPTIONS)
    (problem,) = problems
    assert "nonsense" in problem
