"""The progress bar on a terminal."""

import os
import subprocess
from pathlib import Path

import pytest

from cli.command import environment
from e2e.process import COMMAND
from hlo_lsp.text.amounts import format_short_bytes

pty = pytest.importorskip("pty", reason="there are no such terminals here")


def on_terminal(*arguments: str | Path) -> tuple[str, str]:
    """Return the piped standard output, and the standard error that a terminal received."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=end,
        env=environment(TERM="xterm"),
    )
    os.close(end)
    drawn = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux raises this when the writer has closed the terminal.
            break
        if not piece:
            break
        drawn += piece
    os.close(terminal)
    out, _ = process.communicate(timeout=60)
    return out.decode(), drawn.decode()


def test_progress_bar_appears_only_on_terminal(damaged: Path) -> None:
    out, drawn = on_terminal("check", damaged, "--select", "size-mismatch")
    size = format_short_bytes(damaged.stat().st_size)
    assert f"0 B of {size} " in drawn
    assert drawn.rstrip().endswith("\x1b[2K1 problem in 1 of 1 file")
    assert "\x1b" not in out
    assert out.startswith(f"{damaged}:6:39: error: ")


def test_no_progress_bar_without_jobs(tmp_path: Path) -> None:
    _, drawn = on_terminal("check", tmp_path)
    assert drawn.splitlines() == [
        f"hlo-lsp: {tmp_path}: no HLO module or XLA memory dump in this folder"
    ]
