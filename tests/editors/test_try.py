"""Tests for the README's first command, which opens a dump in Neovim."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from editors.neovim import CLIENT, find_neovim
from editors.terminal import running

pytestmark = pytest.mark.editors


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return the script, with the environment of the tests."""
    monkeypatch.syspath_prepend(str(CLIENT))
    script = importlib.import_module("try")
    monkeypatch.setattr(script, "FOLDER", tmp_path / "made")
    _use(script, Path(sys.prefix), monkeypatch)
    return script


def _use(script: ModuleType, environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "provide", lambda *_: script.Environment(environment))


def test_headless_prints_replies_of_server(
    script: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["--headless"]) == 0
    printed = capfd.readouterr().out
    assert "Server: hlo-lsp " in printed
    assert "--- hover on line 55:  value: <172 copy-start.10{} @0>" in printed
    assert ".after_optimizations.txt:349\n    %copy-start.10 = " in printed
    assert "--- code lenses: 18\n" in printed
    assert "line 5: 1.00 MiB in HBM · whole program, last read at step 50" in printed
    assert "--- diagnostics: 0\n" in printed


# The script as somebody types it, but for the environment that it would make first.
TYPED = """
import importlib, sys
from pathlib import Path
client, folder, environment = sys.argv[1:]
sys.path.insert(0, client)
script = importlib.import_module("try")
script.FOLDER = Path(folder)
script.provide = lambda *_: script.Environment(Path(environment))
sys.exit(script.main([]))
"""


def test_screen_shows_lenses_hints_and_hover(tmp_path: Path) -> None:
    made = str(tmp_path / "made")
    command = [sys.executable, "-c", TYPED, str(CLIENT), made, sys.prefix]
    with running(command, tmp_path, os.environ) as screen:
        assert screen.row_of("K hover | gd definition").endswith(":qa quit")
        assert screen.row_of("1.00 MiB in HBM").strip().startswith("1.00 MiB")
        screen.row_of("padded from 4 B")
        screen.type("5jwwK")
        screen.row_of("live range")
        screen.type("\x1b:qa\r")
        screen.ended()


def test_given_dump_is_opened(
    script: ModuleType, capfd: pytest.CaptureFixture[str], corpus_small: Path
) -> None:
    sample = corpus_small / "samples" / "sample_000.txt"
    assert script.main(["--headless", "--file", str(sample)]) == 0
    assert f"Dump: {sample}\n" in capfd.readouterr().out


def test_headless_fails_without_server(
    script: ModuleType, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("no dump\n", "utf-8")
    assert script.main(["--headless", "--file", str(other)]) == 1
    assert (
        'FAILED: this file is no dump of XLA; Neovim takes it for "text"' in capfd.readouterr().out
    )


def test_headless_fails_with_server(
    script: ModuleType,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    programs = tmp_path / "environment" / "bin"
    programs.mkdir(parents=True)
    (programs / "nvim").symlink_to(find_neovim())
    server = programs / "hlo-lsp"
    server.write_text("#!/bin/sh\nexit 3\n", "utf-8")
    server.chmod(0o755)
    _use(script, programs.parent, monkeypatch)
    assert script.main(["--headless"]) == 1
    assert "FAILED: the server ended with status 3" in capfd.readouterr().out


def test_missing_terminal_shows_advice() -> None:
    ended = subprocess.run(
        [sys.executable, str(CLIENT / "try.py")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "use --headless" in ended.stderr
