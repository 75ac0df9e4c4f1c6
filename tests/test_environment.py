"""Tests for the virtual environments of the commands in the README."""

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Recorder:
    """A recorder of commands; those that contain `failing` fail."""

    def __init__(self, failing: str = "") -> None:
        self.commands: list[list[str]] = []
        self._failing = failing

    def __call__(self, command: Sequence[str]) -> int:
        self.commands.append(list(command))
        if "venv" in command:
            Path(command[-1]).mkdir(exist_ok=True)
        return int(bool(self._failing) and self._failing in command)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "server"))
    return importlib.import_module("environment")


@pytest.fixture
def recorder(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(environment, "_run", recorder)
    return recorder


def test_environment_is_created_once(
    environment: ModuleType, recorder: Recorder, tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    made = environment.provide(folder)
    assert recorder.commands[0] == [sys.executable, "-m", "venv", "--clear", str(folder)]
    assert recorder.commands[1][:4] == [str(made.python), "-m", "pip", "install"]
    assert recorder.commands[1][-2:] == ["--editable", "."]
    environment.provide(folder)
    assert len(recorder.commands) == 2


def test_groups_are_installed_with_new_pip(
    environment: ModuleType, recorder: Recorder, tmp_path: Path
) -> None:
    environment.provide(tmp_path / "made", ["test", "lint"])
    assert recorder.commands[1][-2:] == ["--upgrade", "pip>=25.1"]
    assert recorder.commands[2][-6:] == ["--group", "test", "--group", "lint", "--editable", "."]


def test_missing_groups_recreate_the_environment(
    environment: ModuleType, recorder: Recorder, tmp_path: Path
) -> None:
    environment.provide(tmp_path / "made", ["test", "lint"])
    environment.provide(tmp_path / "made", ["lint"])
    assert len(recorder.commands) == 3
    environment.provide(tmp_path / "made", ["lint", "editors"])
    assert len(recorder.commands) == 6


@pytest.mark.parametrize("changed", ["checkout", "python", "pyproject"])
def test_changes_recreate_the_environment(
    environment: ModuleType,
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
) -> None:
    environment.provide(tmp_path / "made")
    described = environment._description()
    monkeypatch.setattr(environment, "_description", lambda: {**described, changed: "other"})
    environment.provide(tmp_path / "made")
    assert [command[2] for command in recorder.commands] == ["venv", "pip", "venv", "pip"]


def test_incomplete_environment_is_recreated(
    environment: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Recorder(failing="--editable")
    monkeypatch.setattr(environment, "_run", failing)
    for _ in range(2):
        with pytest.raises(environment.SetupError, match="pip could not install"):
            environment.provide(tmp_path / "made")
    assert len(failing.commands) == 4


def test_missing_ensurepip_names_the_package(
    environment: ModuleType, recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(environment.SetupError, match="apt install python3-venv"):
        environment.provide(tmp_path / "made")
    assert recorder.commands == []


def test_programs_are_first_on_the_path(environment: ModuleType, tmp_path: Path) -> None:
    made = environment.Environment(tmp_path)
    assert made.variables()["PATH"].startswith(str(made.programs))
    assert made.variables()["VIRTUAL_ENV"] == str(tmp_path)
