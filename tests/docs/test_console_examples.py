"""Tests for the console examples of the pages.

A line that begins with ``$`` is a command, the lines below it are its output, in which ``...``
matches any text. A block with a caption is a file that the commands of its page read.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest

from cli.command import environment, run
from docs.pages import PAGES, Block, blocks
from e2e.process import COMMAND

SAMPLE = "module_0000.jit_mlp_train.cl_1003875606"
_EXAMPLE = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_PROGRAMS = {"hlo-lsp": COMMAND, "python3": [sys.executable]}
_WITH_EXAMPLES = [page for page in PAGES if any(blocks(page, "console"))]


@pytest.fixture
def folder(corpus_small: Path, corpus_profiles: Path, tmp_path: Path) -> Path:
    """Return a folder with the sample dump of the documentation as ``dump``, and a profile."""
    (tmp_path / "profile").mkdir()
    found = corpus_profiles / "jax_0_12" / "train" / "profile.xplane.pb"
    shutil.copy(found, tmp_path / "profile" / "host.xplane.pb")
    (tmp_path / "dump").mkdir()
    for path in (corpus_small / "tpu_v5e").glob(f"{SAMPLE}.*"):
        if path.is_file():
            shutil.copy(path, tmp_path / "dump")
    return tmp_path


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform == "win32", reason="the pages show paths with slashes")
@pytest.mark.parametrize("page", _WITH_EXAMPLES, ids=lambda page: page.stem)
def test_commands_print_the_text_of_the_page(page: Path, folder: Path) -> None:
    wrong = list(differences(page, folder))
    assert not wrong, "\n\n".join(wrong)


def test_pages_for_users_have_examples() -> None:
    names = {page.stem for page in _WITH_EXAMPLES}
    assert names >= {"getting_started", "command_line", "configuration", "json_schema"}


def differences(page: Path, folder: Path) -> Iterator[str]:
    """Yield each command of a page whose output differs, with both outputs."""
    status = 0
    for block in blocks(page):
        if block.caption is not None:
            (folder / block.caption).write_text(block.text, "utf-8")
        if block.language != "console":
            continue
        for command, expected in examples(block):
            if command == "echo $?":
                printed = f"{status}\n"
            else:
                status, printed = run_example(command, folder)
            options = ELLIPSIS | NORMALIZE_WHITESPACE
            if not OutputChecker().check_output(expected, printed, options):
                yield f"{block}: $ {command}\nexpected:\n{expected}printed:\n{printed}"


def examples(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output that the page shows."""
    found = [(one["command"], one["output"]) for one in _EXAMPLE.finditer(block.text)]
    shown = "".join(f"$ {command}\n{output}" for command, output in found)
    assert shown == block.text, f"{block}: the block begins without a command"
    return found


def run_example(command: str, folder: Path) -> tuple[int, str]:
    """Run a command, or two with a pipe between them; return the status and all output."""
    stages = [
        [path for one in shlex.split(stage) for path in expand_pattern(one, folder)]
        for stage in command.split(" | ")
    ]
    if len(stages) == 1 and stages[0][0] == "hlo-lsp":
        found = run(*stages[0][1:], cwd=folder)
        return found.status, found.out + found.err
    status, printed = 0, ""
    for name, *arguments in stages:
        ended = subprocess.run(
            [*_PROGRAMS[name], *arguments],
            input=printed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            cwd=folder,
            env=environment(),
            check=False,
            timeout=120,
        )
        status, printed = ended.returncode, ended.stdout
    return status, printed


def expand_pattern(argument: str, folder: Path) -> list[str]:
    """Return the paths that a pattern matches, or the argument itself."""
    if "*" not in argument:
        return [argument]
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob(argument))
