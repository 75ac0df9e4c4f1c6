"""Tests for the installation of the extension into VS Code."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

CLIENT = Path(__file__).resolve().parents[2] / "vscode-client"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return the script, with a packaged extension."""
    spec = importlib.util.spec_from_file_location("install_vscode", CLIENT / "install.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    monkeypatch.setattr(found, "FOLDER", tmp_path / "made")
    monkeypatch.setattr(found, "packaged", lambda: tmp_path / "hlo-lsp.vsix")
    return found


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the log of a VS Code on the PATH, with the arguments of each call."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "codium"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {tmp_path}/calls\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return tmp_path / "calls"


def test_installation_opens_sample_dump(script: ModuleType, code: Path, tmp_path: Path) -> None:
    assert script.main([]) == 0
    installing, opening = code.read_text("utf-8").splitlines()
    assert installing == f"--install-extension {tmp_path}/hlo-lsp.vsix --force"
    folder, dump = map(Path, opening.split(" "))
    assert dump.parent == folder == tmp_path / "made" / "dump"
    assert dump.read_text("utf-8").startswith("BufferAssignment:")
    assert len(list(folder.glob("*.txt"))) > 4


def test_given_dump_is_opened_instead(script: ModuleType, code: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("HloModule m\n", "utf-8")
    assert script.main(["--file", str(mine)]) == 0
    assert code.read_text("utf-8").splitlines()[1] == f"{tmp_path} {mine}"


def test_missing_vs_code_prints_extension_path(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert script.main([]) == 1
    printed = capsys.readouterr().out
    assert "hlo-lsp.vsix" in printed
    assert "Install from VSIX" in printed


def test_failed_installation_opens_nothing(script: ModuleType, code: Path, tmp_path: Path) -> None:
    refusing = tmp_path / "refusing"
    refusing.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    refusing.chmod(0o755)
    assert script.main(["--code", str(refusing)]) == 1
    assert not code.exists()
