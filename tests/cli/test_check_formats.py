"""Machine-readable formats and statistics."""

import json
import re
from pathlib import Path

import pytest

from cli.command import run

COMMAND = re.compile(
    r"::(error|warning|notice) file=(.+),line=(\d+),endLine=(\d+),col=(\d+),endColumn=(\d+)"
    r",title=hlo-lsp ([a-z-]+)::(.+)"
)


def test_findings_as_workflow_commands(damaged: Path) -> None:
    result = run("check", damaged.name, "--format", "github", cwd=damaged.parent)
    assert (result.status, result.err) == (1, "")
    found = [COMMAND.fullmatch(line) for line in result.out.splitlines()]
    assert [match.groups()[:7] for match in found if match] == [
        ("error", damaged.name, "6", "6", "39", "43", "size-mismatch"),
        ("error", damaged.name, "11", "11", "53", "57", "out-of-bounds"),
    ]


def test_findings_as_sarif(damaged: Path) -> None:
    result = run("check", damaged.name, "--format", "sarif", cwd=damaged.parent)
    assert (result.status, result.err) == (1, "")
    (log,) = result.json["runs"]
    assert [result["ruleId"] for result in log["results"]] == ["size-mismatch", "out-of-bounds"]
    place = log["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "damaged%20dump.txt"}


def test_statistics_replace_findings(damaged: Path) -> None:
    result = run("check", damaged, "--statistics", COLUMNS="20")
    assert result.status == 1
    assert result.out == (
        "      1  error out-of-bounds in 1 file\n      1  error size-mismatch in 1 file\n"
    )
    assert result.err == "2 problems in 1 of 1 file\n"
    result = run("check", damaged, "--statistics", "--format", "json")
    assert result.json == [
        {"code": code, "severity": "error", "count": 1, "files": 1}
        for code in ("out-of-bounds", "size-mismatch")
    ]


def test_statistics_of_intact_dump_are_empty(sample: Path) -> None:
    assert run("check", sample, "--statistics", "--severity", "error").out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "sarif", "--statistics"], "--statistics requires --format text or json"),
        (["--format", "github", "--statistics"], "--statistics requires --format text or json"),
        (["--format", "json", "--watch"], "--watch requires --format text"),
    ],
)
def test_incompatible_options(sample: Path, arguments: list[str], message: str) -> None:
    result = run("check", sample, *arguments)
    assert (result.status, result.out, result.err) == (2, "", f"hlo-lsp: {message}\n")


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_intact_dump_is_empty_in_every_format(sample: Path, form: str) -> None:
    result = run("check", sample, "--format", form, "--severity", "error")
    assert (result.status, result.err) == (0, "")
    found = (
        json.loads(result.out)["runs"][0]["results"]
        if form == "sarif"
        else result.out.strip("[]\n")
    )
    assert not found
