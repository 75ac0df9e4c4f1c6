"""The help of the program, and the examples of commands."""

import shlex
import shutil
import tarfile
from pathlib import Path

import pytest

from cli.command import run
from cli.test_options import list_commands
from hlo_lsp.cli.help_text import EXAMPLES, SHORT_HELP

SAMPLE = Path(__file__).parents[2] / "vscode-client" / "sample" / "dump.tar.xz"
_NEED_OTHERS = {"run", "compile", "oom", "text", "profile", "serve"}  # programs, logs, protos, ...


@pytest.fixture(scope="module")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample dump, named as in the examples."""
    folder = tmp_path_factory.mktemp("sample")
    with tarfile.open(SAMPLE) as archive:
        archive.extractall(folder, filter="data")
    for name in ("DUMPS", "BEFORE", "AFTER"):
        (folder / name).symlink_to(folder / "dump")
    for name in ("host_0", "host_1"):
        shutil.copytree(folder / "dump", folder / "PODS" / name)
    (text,) = (folder / "dump").glob("*after_optimizations.txt")
    (folder / "DUMP.txt").symlink_to(text)
    return folder


def test_help_fits_a_terminal() -> None:
    lines = SHORT_HELP.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_help_names_every_command() -> None:
    found = run("--help")
    assert (found.status, found.out, found.err) == (0, SHORT_HELP, "")
    words = SHORT_HELP.split()
    assert [name for name in list_commands() if name not in words] == []


def test_whole_help_has_the_options_of_all_commands() -> None:
    found = run("help", "--all")
    assert found.status == 0
    for command in list_commands():
        assert f"usage: hlo-lsp {command} " in found.out
    assert "--tcp" in found.out


def test_help_of_a_command_is_that_of_its_option() -> None:
    assert run("help", "cost") == run("cost", "--help")


def test_every_command_has_two_examples() -> None:
    assert set(EXAMPLES) == {*list_commands()}
    assert all(len(examples) == 2 for examples in EXAMPLES.values())
    assert "examples:\n  $ hlo-lsp cost DUMPS" in run("cost", "--help").out


@pytest.mark.parametrize("command", [one for one in EXAMPLES if one not in _NEED_OTHERS])
def test_examples_show_real_output(command: str, sample_folder: Path) -> None:
    for line, shown in EXAMPLES[command]:
        if line.endswith("mcp"):
            continue  # it would wait for a client
        folder = sample_folder / "dump" if command == "mcp" else sample_folder
        found = run(*shlex.split(line)[1:], cwd=folder)
        assert shown in found.out + found.err, line
