"""Which Python compiles: the chosen one, or the first with jax."""

import os
import sys
from pathlib import Path

import pytest

from compiling.stand_in import python_with_jax
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.pythons import find_python


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Let no Python be on the path, and no package be on that of Python."""
    for name in ("VIRTUAL_ENV", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return monkeypatch


def test_chosen_python_without_jax_names_command(variables: pytest.MonkeyPatch) -> None:
    with pytest.raises(CompileFailedError) as failed:
        find_python(sys.executable)
    command = f"`{os.path.abspath(sys.executable)} -m pip install jax libtpu`"
    assert str(failed.value).endswith(f"has no jax; install it with {command}")


def test_chosen_python_with_jax_is_used(variables: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in python_with_jax(tmp_path).items():
        variables.setenv(name, value)
    assert find_python(sys.executable) == os.path.abspath(sys.executable)


def test_unknown_python_is_an_error(variables: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(CompileFailedError, match="no such Python"):
        find_python(str(tmp_path / "absent"))


def test_without_jax_the_command_is_named(variables: pytest.MonkeyPatch) -> None:
    with pytest.raises(CompileFailedError, match="-m pip install jax libtpu"):
        find_python(None)


@pytest.mark.skipif(sys.platform == "win32", reason="a program of a shell")
@pytest.mark.parametrize("entry", [".", "", "bin"])
def test_relative_path_runs_nothing(
    variables: pytest.MonkeyPatch, tmp_path: Path, entry: str
) -> None:
    folder = tmp_path / entry
    folder.mkdir(exist_ok=True)
    program = folder / "python3"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n", "utf-8")
    program.chmod(0o755)
    variables.chdir(tmp_path)
    variables.setenv("PATH", os.pathsep.join((entry, "/absent")))
    variables.setenv("VIRTUAL_ENV", entry)
    with pytest.raises(CompileFailedError):
        find_python(None)
    assert not (tmp_path / "ran").exists()


def test_packages_beside_a_dump_are_not_found(
    variables: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python_with_jax(tmp_path)
    variables.chdir(tmp_path / "packages")
    with pytest.raises(CompileFailedError):
        find_python(sys.executable)
