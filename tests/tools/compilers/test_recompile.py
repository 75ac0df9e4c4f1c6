"""How the programs of a folder differ when they are compiled again."""

import sys
from pathlib import Path

import pytest

from compilers.recompile import main, recompile_folder
from compilers.records import Record, is_reproduced
from compilers.tables import problem_lines, release_line
from compiling.stand_in import StandIn, copy_of, write_dump
from hlo_lsp.compiling.compiler_process import CompilerProcess

_NAME = "module_0001.jit_f.cl_12.before_optimizations.txt"


def _results(
    monkeypatch: pytest.MonkeyPatch, folder: Path, stand_in: StandIn
) -> list[tuple[str, str]]:
    monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
    return list(recompile_folder(sys.executable, folder))


def test_equal_program_has_no_difference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(folder,))
    assert _results(monkeypatch, folder, stand_in) == [(_NAME, "")]


def test_first_difference_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    other = copy_of(folder, tmp_path / "other", "sine", "negate")
    ((_, difference),) = _results(monkeypatch, folder, StandIn(tmp_path, dumps=(other,)))
    assert difference == "a: sine -> negate"


def test_next_program_follows_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_dump(tmp_path / "dump" / name)
    stand_in = StandIn(tmp_path, then="sys.exit(3)")
    found = _results(monkeypatch, tmp_path / "dump", stand_in)
    failure = "fails: the compiler ended early, with status 3"
    assert found == [(_NAME, failure), (_NAME, failure)]


def test_status_is_that_of_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_dump(tmp_path / "dump")
    monkeypatch.setattr(CompilerProcess, "script", StandIn(tmp_path, dumps=(folder,)).script)
    assert main([sys.executable, str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}: 1 of 1 without differences\n"


def test_release_that_reproduces_too_few_differs() -> None:
    record = Record("0.12.0", "cpu", programs={"f": ""}, recompiled={"a": "", "b": "flags: x"})
    assert record.is_different
    assert release_line([record]).endswith("; 1 of 2 reproduced")
    assert problem_lines([record]) == ["cpu: compiled again: b: flags: x"]
    assert is_reproduced({})
