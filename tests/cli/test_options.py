"""Help and usage errors."""

from pathlib import Path

import pytest

from cli.command import run
from hlo_lsp.cli.options import argument_parser


def list_commands() -> list[str]:
    """Return the names of the commands."""
    actions = argument_parser()._subparsers
    assert actions is not None
    return [name for action in actions._group_actions for name in action.choices or ()]


def test_every_answer_has_three_formats() -> None:
    others = {"serve", "mcp", "run", "text", "report"}
    for command in {*list_commands()} - others:
        assert "{text,markdown,json" in run(command, "--help").out, command


@pytest.mark.parametrize("command", ["serve", "inspect", "check"])
def test_every_command_has_help(command: str) -> None:
    result = run(command, "--help")
    assert result.status == 0
    assert result.out.startswith(f"usage: hlo-lsp {command} ")


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", list_commands())
def test_help_fits_a_narrow_terminal(command: str, columns: int) -> None:
    lines = run(command, "--help", COLUMNS=str(columns)).out.splitlines()
    assert [line for line in lines if len(line) > columns] == []


@pytest.mark.parametrize(
    ("command", "arguments"), [("report", "PATH [PATH ...]"), ("diff", "BEFORE AFTER")]
)
def test_usage_is_one_line_without_single_options(command: str, arguments: str) -> None:
    lines = run(command, "--help", COLUMNS="60").out.splitlines()
    assert lines[:2] == [f"usage: hlo-lsp {command} [options] {arguments}", ""]


def test_names_of_files_stay_on_one_line() -> None:
    assert "memory-map.html" in run("report", "--help", COLUMNS="60").out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["inspect"], "PATH"),
        (["--versoin"], "--versoin"),
        (["inspect", "x.txt", "--format", "yaml"], "yaml"),
        (["inspect", "x.txt", "--value", "abc"], "abc"),
        (["inspect", "x.txt", "--value", "1", "--at", "3"], "--at"),
        (["inspect", "x.txt", "a", "b"], "b"),
        (["--port", "many"], "invalid int value: 'many'"),
        (["check", "-j", "many", "."], "invalid int value: 'many'"),
        (["check", "--format", "xml", "."], "xml"),
    ],
)
def test_usage_errors_go_to_standard_error(arguments: list[str], named: str) -> None:
    result = run(*arguments)
    assert (result.status, result.out) == (2, "")
    assert "usage: hlo-lsp" in result.err
    assert named in result.err


@pytest.mark.parametrize("name", ["missing.txt", "missing.hlo.pb"])
def test_history_of_a_missing_file_names_it(name: str) -> None:
    result = run("history", name)
    assert (result.status, result.out) == (2, "")
    assert result.err == f"hlo-lsp: {name}: No such file or directory\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "no dumps in this folder"), ("note.txt", "not an HLO module or XLA memory dump")],
)
def test_history_without_a_dump_says_so(name: str, message: str, tmp_path: Path) -> None:
    if name:
        (tmp_path / name).write_text("A note.\n", "utf-8")
    found = run("history", tmp_path / name)
    assert (found.status, found.err) == (2, f"hlo-lsp: {tmp_path / name}: {message}\n")


@pytest.mark.parametrize("command", ["summary", "cost", "diff", "profile"])
def test_number_of_rows_has_a_short_option(command: str) -> None:
    assert "-n N, --top N" in run(command, "--help").out


def test_usage_of_the_command_follows_an_unknown_option() -> None:
    result = run("summary", "--nonsense", "x.txt")
    assert result.status == 2
    assert result.err.startswith("usage: hlo-lsp summary ")


def test_optional_arguments_are_not_required() -> None:
    assert "the following arguments are required: LOG\n" in run("oom").err


def test_options_can_stand_between_operands(dump: Path) -> None:
    expected = run("inspect", dump, "c", "--format", "json")
    assert expected.status == 0
    assert run("inspect", dump, "--format", "json", "c") == expected
    assert run("find", "c", "-n", "1", dump) == run("find", "c", dump, "-n", "1")


def test_name_excludes_a_position(dump: Path) -> None:
    found = run("inspect", dump, "c", "--at", "3")
    assert (found.status, found.out) == (2, "")
    assert "NAME excludes --at" in found.err


@pytest.mark.parametrize("command", ["summary", "find", "inspect", "diff", "oom", "check"])
def test_nothing_is_an_option_after_two_hyphens(command: str) -> None:
    hostile = "--executor=json:dumps"
    found = run(command, "--", *[hostile] * (1 if command in {"summary", "oom", "check"} else 2))
    assert found.status == 2
    assert "required" not in found.err
    assert hostile in found.err
