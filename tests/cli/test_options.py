"""Version, help, and arguments that make no sense."""

import pytest

from cli.running import run
from hlo_lsp import __version__


def test_the_version_is_printed() -> None:
    ran = run("--version")
    assert (ran.status, ran.out, ran.err) == (0, f"hlo-lsp {__version__}\n", "")


def test_help_shows_the_commands_and_examples() -> None:
    ran = run("--help")
    assert ran.status == 0
    assert ran.err == ""
    for word in ("serve", "inspect", "check", "examples:", "--stdio", "--tcp", "--log-file"):
        assert word in ran.out


@pytest.mark.parametrize("command", ["serve", "inspect", "check"])
def test_every_command_has_help(command: str) -> None:
    ran = run(command, "--help")
    assert ran.status == 0
    assert ran.out.startswith(f"usage: hlo-lsp {command} ")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["inspect"], "PATH"),
        (["check"], "PATH"),
        (["inspekt", "x.txt"], "inspekt"),
        (["--nonsense"], "--nonsense"),
        (["inspect", "x.txt", "--format", "yaml"], "yaml"),
        (["inspect", "x.txt", "--value", "abc"], "abc"),
        (["inspect", "x.txt", "--value", "1", "--at", "3"], "--at"),
        (["inspect", "x.txt", "y.txt"], "y.txt"),
        (["--port", "many"], "many"),
        (["check", "--format", "xml", "."], "xml"),
    ],
)
def test_wrong_usage_is_said_on_standard_error(arguments: list[str], named: str) -> None:
    ran = run(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert "usage: hlo-lsp" in ran.err
    assert named in ran.err
