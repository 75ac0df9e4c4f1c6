"""The progress bar on a terminal."""

import os
import subprocess
import threading
from io import StringIO
from pathlib import Path

import pytest

from cli.command import environment
from e2e.process import COMMAND
from hlo_lsp.cli.progress_note import progress_note
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
    with damaged.open("a", encoding="utf-8") as file:
        file.write("\n" * (1 << 20))
    out, drawn = on_terminal("check", damaged, "--select", "size-mismatch")
    size = format_short_bytes(damaged.stat().st_size)
    assert f"0 B of {size} " in drawn
    assert drawn.rstrip().endswith("\x1b[2K1 problem in 1 of 1 file")
    assert "\x1b" not in out
    assert out.startswith(f"{damaged}:6:39: error: ")


def test_no_progress_bar_for_little_work(damaged: Path) -> None:
    _, drawn = on_terminal("check", damaged, "--select", "size-mismatch")
    assert drawn.strip() == "1 problem in 1 of 1 file"


def test_no_progress_bar_without_jobs(tmp_path: Path) -> None:
    _, drawn = on_terminal("check", tmp_path)
    assert drawn.splitlines() == [
        f"hlo-lsp: {tmp_path}: no HLO module or XLA memory dump in this folder"
    ]


class _Terminal(StringIO):
    """A terminal that keeps what it received, and says when it received a text."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self._awaited = awaited
        self.has_it = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._awaited in text:
            self.has_it.set()
        return super().write(text)


def _with_terminal(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    """Return a terminal as standard error, on which notes appear at once.

    This is no fixture, because pytest replaces the stream again before the test.
    """
    found = _Terminal("Reading m.txt")
    monkeypatch.setattr("sys.stderr", found)
    monkeypatch.setattr("hlo_lsp.cli.progress_note._NOTE_DELAY_SECONDS", 0)
    return found


def test_long_work_is_named_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _with_terminal(monkeypatch)
    with progress_note() as note:
        note("Reading m.txt")
        assert terminal.has_it.wait(30)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _with_terminal(monkeypatch)
    monkeypatch.setattr("hlo_lsp.cli.progress_note._NOTE_DELAY_SECONDS", 1_000)
    with progress_note() as note:
        note("Reading m.txt")
    assert terminal.getvalue() == ""


def test_output_during_a_note_goes_where_it_would_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = _with_terminal(monkeypatch)
    with progress_note() as note:
        note("Reading m.txt")
        assert terminal.has_it.wait(30)
        print("the answer")
    assert capsys.readouterr().out == "the answer\n"
    assert "the answer" not in terminal.getvalue()
