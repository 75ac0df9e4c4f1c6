"""What only the command as a process shows: exit status, encodings, and blocked reads."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command import run_process
from e2e.compiles import Compile
from hlo_lsp import __version__

Compiled = Callable[[str], Compile]


def test_version_is_printed() -> None:
    result = run_process("--version")
    assert (result.status, result.out, result.err) == (0, f"hlo-lsp {__version__}\n", "")


def test_exit_status_and_streams(damaged: Path, tmp_path: Path) -> None:
    found = run_process("check", damaged)
    assert (found.status, found.err) == (1, "2 problems in 1 of 1 file\n")
    assert found.out.startswith(f"{damaged}:6:39: error: ")
    missing = run_process("check", tmp_path / "missing.txt")
    assert (missing.status, missing.out) == (2, "")
    assert "No such file" in missing.err


def test_unencodable_characters_are_no_error(compiled: Compiled) -> None:
    report = compiled("tpu").report
    lines = report.read_text("utf-8").split("\n")
    line = next(number for number, text in enumerate(lines, 1) if "5×f32" in text)
    column = lines[line - 1].index("×") + 2
    result = run_process("inspect", report, "--at", f"{line}:{column}", PYTHONIOENCODING="ascii")
    assert result.status == 0
    assert result.out.startswith("f32[256,256]")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_named_like_dumps_are_not_opened(compiled: Compiled) -> None:
    files = compiled("tpu")
    for path in (files.values, files.report, files.module):
        path.unlink()
        os.mkfifo(path)  # opening it would wait for a writer
    run_process("check", files.folder)


@pytest.mark.parametrize(("options", "shown"), [([], False), (["-v"], True)])
def test_commands_show_logs_of_packages_only_if_asked(options: list[str], shown: bool) -> None:
    code = (
        "import logging, sys; from hlo_lsp.cli.main import main; main(sys.argv[1:]);"
        "logging.getLogger('paramiko').error('lost'); logging.getLogger('hlo_lsp').error('own')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *options, "check", "--explain", "size-mismatch"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert ("ERROR paramiko: lost" in ended.stderr) is shown
    assert "ERROR hlo_lsp: own" in ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="a current folder cannot be removed")
def test_removed_current_folder_is_no_error(compiled: Compiled, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"rmdir {gone}; exec {sys.executable} -m hlo_lsp summary {compiled('tpu').folder}"
    ended = subprocess.run(
        ["sh", "-c", script], cwd=gone, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "peak of HBM" in ended.stdout


def test_server_without_a_request_says_how_to_read_input() -> None:
    found = run_process(text="HloModule m\n")
    assert "`hlo-lsp -` reads a dump from standard input" in found.err
