"""Completion in shells, asked as the function of a shell does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.command import environment, run
from e2e.process import COMMAND


def _completed(line: str, folder: Path) -> set[str]:
    """Return the words that can end a command line."""
    output = folder / "words"
    subprocess.run(
        COMMAND,
        cwd=folder,
        env=environment(
            _ARGCOMPLETE="1",
            _ARGCOMPLETE_IFS="\n",
            _ARGCOMPLETE_STDOUT_FILENAME=str(output),
            COMP_LINE=line,
            COMP_POINT=str(len(line)),
        ),
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    return {word.strip() for word in output.read_text("utf-8").splitlines()}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hlo-lsp su", {"summary"}),
        ("hlo-lsp summary --do", {"--donation"}),
        ("hlo-lsp cost --chip v5", {"v5e", "v5p"}),
        ("hlo-lsp why", set()),
    ],
)
def test_words_are_completed(line: str, words: set[str], tmp_path: Path) -> None:
    assert _completed(line, tmp_path) == words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_names_the_program(shell: str) -> None:
    found = run("--completion", shell)
    assert (found.status, found.err) == (0, "")
    assert "hlo-lsp" in found.out


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="there is no bash")
def test_bash_reads_the_script(tmp_path: Path) -> None:
    script = tmp_path / "completion.sh"
    script.write_text(run("--completion", "bash").out, "utf-8")
    ended = subprocess.run(
        ["bash", "-c", f"source '{script}' && complete -p hlo-lsp"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "-F _python_argcomplete hlo-lsp" in ended.stdout
