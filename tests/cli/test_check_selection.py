"""The selection of findings by options and ``hlo-lsp.toml``."""

from pathlib import Path

import pytest

from cli.command import CommandResult, run
from hlo_lsp.checks.config_file import CONFIG_FILE_NAME

BOTH = ["size-mismatch", "out-of-bounds"]


def codes(result: CommandResult) -> list[str]:
    return [finding["code"] for finding in result.findings]


def check(path: Path, *arguments: str) -> CommandResult:
    return run("check", path, "--format", "json", *arguments)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--select", "size-mismatch"], ["size-mismatch"]),
        (["--select", "size,out"], BOTH),
        (["--select", "size", "--select", "out-of"], BOTH),
        (["--select", "all", "--ignore", "size", "--severity", "error"], ["out-of-bounds"]),
        (["--ignore", "size-mismatch, out-of-bounds,"], []),
        (["--select", "live-range"], []),
        (["--select", ""], []),
    ],
)
def test_rules_are_selected(damaged: Path, arguments: list[str], found: list[str]) -> None:
    result = check(damaged, *arguments)
    assert (result.status, codes(result), result.err) == (1 if found else 0, found, "")


def test_unknown_rule_is_a_usage_error(damaged: Path) -> None:
    result = check(damaged, "--select", "size-mismach,syntax", "--ignore", "qqq")
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        "hlo-lsp: --select: unknown rule `size-mismach`; did you mean `size-mismatch`?\n"
        "hlo-lsp: --ignore: unknown rule `qqq`; `hlo-lsp check --explain` lists all rules\n"
    )


def test_selected_budget_must_be_set(damaged: Path) -> None:
    found = check(damaged, "--select", "budget-peak")
    assert found.status == 2
    assert "no budget is set: there is no hlo-lsp.toml" in found.err


def test_exit_zero_ignores_findings(damaged: Path, tmp_path: Path) -> None:
    result = check(damaged, "--exit-zero")
    assert (result.status, codes(result)) == (0, BOTH)
    assert run("check", damaged, tmp_path / "gone", "--exit-zero").status == 2


@pytest.fixture
def wasteful(tmp_path: Path) -> Path:
    """Return an intact dump with one array that is padded from 64 KiB to 8 MiB."""
    path = tmp_path / "wasteful" / "dump.txt"
    path.parent.mkdir()
    path.write_text(
        "BufferAssignment:\n"
        "allocation 0: size 8388608, maybe-live-out:\n"
        " value: <0 a @0> (size=8388608,offset=0): f32[16384,1]{1,0:T(8,128)}\n",
        "utf-8",
    )
    return path


def test_severity_option_makes_advice_count(wasteful: Path) -> None:
    only = ["--select", "padding-waste"]
    for lowest, status, found in (
        ([], 0, ["padding-waste"]),
        (["--severity", "information"], 1, ["padding-waste"]),
        (["--severity", "hint"], 1, ["padding-waste"]),
        (["--severity", "warning"], 0, []),
    ):
        result = check(wasteful, *only, *lowest)
        assert (result.status, codes(result)) == (status, found)


def test_summary_counts_problems_and_advice(wasteful: Path, damaged: Path) -> None:
    only = ["--select", "padding-waste,size-mismatch"]
    assert run("check", wasteful, *only).err == "1 piece of advice in 1 of 1 file\n"
    assert run("check", wasteful, damaged, *only).err == (
        "1 problem and 1 piece of advice in 2 of 2 files\n"
    )


def test_command_line_overrides_config_file(wasteful: Path) -> None:
    settings = wasteful.with_name(CONFIG_FILE_NAME)
    settings.write_text('select = ["padding-waste", "size-mismatch"]\n', "utf-8")
    assert codes(check(wasteful)) == ["padding-waste"]
    assert codes(check(wasteful, "--ignore", "padding-waste")) == []
    settings.write_text('ignore = ["padding-waste"]\nseverity = "information"\n', "utf-8")
    assert codes(check(wasteful)) == []
    result = check(wasteful, "--select", "padding-waste")
    assert (codes(result), result.status) == (["padding-waste"], 1)
    settings.write_text("thresholds.size = 8388609\n", "utf-8")
    assert codes(check(wasteful, "--select", "padding-waste")) == []


def test_former_threshold_works_with_a_message(wasteful: Path) -> None:
    settings = wasteful.with_name(CONFIG_FILE_NAME)
    settings.write_text("thresholds.padding_bytes = 8388609\n", "utf-8")
    result = check(wasteful, "--select", "padding-waste")
    assert (codes(result), result.status) == ([], 0)
    message = "thresholds.padding_bytes: is now `size`, for all advice"
    assert result.err == f"hlo-lsp: {settings}:1: {message}\n"


def test_invalid_config_file_is_reported_with_line(wasteful: Path) -> None:
    settings = wasteful.with_name(CONFIG_FILE_NAME)
    settings.write_text('# wishes\nignore = ["padding"]\nselect = ["padding-wast"]\n', "utf-8")
    result = check(wasteful)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        f"hlo-lsp: {settings}:3: select: unknown rule `padding-wast`;"
        " did you mean `padding-waste`?\n"
    )
