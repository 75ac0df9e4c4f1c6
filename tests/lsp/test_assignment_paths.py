"""Tests for the search for buffer assignments of a module."""

import os
from pathlib import Path

from hlo_lsp.lsp.assignment_paths import AssignmentPaths

_NAME = "module_{}.{}.after_optimizations-buffer-assignment.txt"


def _write_assignment(folder: Path, number: str, module: str, age: int = 0) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / _NAME.format(number, module)
    path.write_text("BufferAssignment:\n", "utf-8")
    os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return path


def test_newest_assignment_of_module_is_first(tmp_path: Path) -> None:
    old = _write_assignment(tmp_path / "a", "0001", "jit_f", age=60)
    new = _write_assignment(tmp_path / "b", "0001", "jit_f")
    _write_assignment(tmp_path / "b", "0002", "jit_f_and_more")
    (tmp_path / "b" / "module_0001.jit_f.before_optimizations.txt").write_text("HloModule f\n")
    assert AssignmentPaths(lambda: [tmp_path]).of_module("jit_f") == [new, old]


def test_module_name_is_sanitized_like_file_names(tmp_path: Path) -> None:
    path = _write_assignment(tmp_path, "0001", "a_b")
    assert AssignmentPaths(lambda: [tmp_path]).of_module("a/b") == [path]


def test_nothing_is_searched_without_folders() -> None:
    assert AssignmentPaths().of_module("jit_f") == []
